"""What to import to write a game, a card, a player, an evaluation, an encoding, a playout, a selection rule or a search.

- **A game:** `state_dtype`, kernels that answer the verbs (VERBS), `Option`, functions as in `Notation` and `Drawing`, an `Encoding`, and
  `Game`, which holds all of it; then `kdenv.add_game`. `examples/three_shells.py` is a game with a player.
- **A card of Dominion:** `Card` and `add_card` of `kdenv.games.dominion`.
- **A rule player or a playout:** a NamedTuple and a kernel marked `plays`; `packed` and `then` make its turns. `RulePlayer`
  lists it in the `Knowledge` of a game.
- **An evaluation, an order of turns:** a NamedTuple and kernels marked `answers(estimate, ...)` and `answers(reach, ...)`, or
  `answers(rank, ...)`.
- **An encoding:** a layout of `Part`s, a kernel that writes them, and `game.add_encoding(Encoding(...))`.
- **A selection rule:** a NamedTuple and a kernel marked `answers(urgency, ...)`.
- **A solver, a dealer, a belief:** NamedTuples and kernels that answer `solve`; `deal`; `believe`, `guesses`, `suppose` and `outlook`.
  `Hidden` lists them.
- **A search:** kernels over the verbs, `list_turns` and `play_out`, and a `Policy` whose `act(view)` calls them.

Kernels check nothing and cannot allocate memory; CONTRIBUTING.md says what else is true of them. The docstring of each name says more.
"""

from kdenv.compiler.bits import ONE, bit, has, lowest, nth, popcount
from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import Rng, below, make_rng, uniform
from kdenv.compiler.state import state_dtype
from kdenv.core.encoding import Encoding, Observer, Part
from kdenv.core.errors import BadOption, BadRecord, IllegalAction, KdenvError, NotSupported
from kdenv.core.game import Game, Option
from kdenv.core.interfaces import Drawing, Notation
from kdenv.core.questions import (
    N_RANKS,
    SOLVER_STATES,
    TO_THE_END,
    Hidden,
    Knowledge,
    RulePlayer,
    believe,
    choose,
    deal,
    estimate,
    first_action,
    guesses,
    outlook,
    packed,
    plays,
    rank,
    reach,
    rest_of,
    solve,
    suppose,
    then,
)
from kdenv.core.table import Table
from kdenv.core.verbs import (
    CHANCE,
    DECIDE,
    OVER,
    VERBS,
    apply,
    apply_chance,
    begin,
    chances,
    legal,
    observe,
    phase,
    resample_hidden,
    sample_chance,
    scores,
    seat,
    standings,
    witnesses,
)
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.search.playout import Uniform, play_games, play_out, play_turn
from kdenv.search.select import urgency
from kdenv.search.turns import MAX_DECISIONS, list_turns

__all__ = [
    "CHANCE",
    "DECIDE",
    "MAX_DECISIONS",
    "N_RANKS",
    "ONE",
    "OVER",
    "SOLVER_STATES",
    "TO_THE_END",
    "VERBS",
    "BadOption",
    "BadRecord",
    "Drawing",
    "Encoding",
    "Game",
    "Hidden",
    "IllegalAction",
    "KdenvError",
    "Knowledge",
    "NotSupported",
    "Notation",
    "Observer",
    "Option",
    "Part",
    "Policy",
    "Rng",
    "RulePlayer",
    "Table",
    "Uniform",
    "View",
    "allocating_kernel",
    "answers",
    "apply",
    "apply_chance",
    "begin",
    "believe",
    "below",
    "bit",
    "chances",
    "choose",
    "deal",
    "estimate",
    "first_action",
    "guesses",
    "has",
    "kernel",
    "legal",
    "list_turns",
    "lowest",
    "make_rng",
    "nth",
    "observe",
    "outlook",
    "packed",
    "phase",
    "play_games",
    "play_out",
    "play_turn",
    "plays",
    "popcount",
    "question",
    "rank",
    "reach",
    "resample_hidden",
    "rest_of",
    "sample_chance",
    "scores",
    "seat",
    "solve",
    "standings",
    "state_dtype",
    "suppose",
    "then",
    "uniform",
    "urgency",
    "witnesses",
]
