"""What to import to write a game, a card, a policy, a player, an evaluation, an encoding, a playout, a selection rule or a search.

- **A game:** `state_dtype`, kernels that answer the verbs (VERBS), `Option`, functions as in `Notation` and `Drawing`, an `Encoding`, and
  `Game`, which holds all of it; then `kdenv.add_game`. `check_game` plays it at random and tells what is wrong with it.
  `examples/three_shells.py` is a game with a player.
- **A card of Dominion:** `Card` and `add_card` of `kdenv.games.dominion`.
- **A policy:** a class marked `named("name")` that derives from `Policy`, with a docstring, fields and `act(view)`. A field is a parameter;
  `param` says what it may be. `kdenv.add_policy("name", ...)` names a class without the mark, or a function of a view
  (`examples/own_policy.py`).
- **A rule player, which is a playout too:** a NamedTuple and a kernel marked `plays`; `packed` and `then` make its turns. A game of
  yours lists it in its `Knowledge` as a `RulePlayer`; `kdenv.add_player(game, "name", ...)` adds it to another game
  (`examples/own_player.py`).
- **Another playout:** the same NamedTuple and kernel, and a class marked `named("name")` that derives from `Playout`; its
  `player(view)` gives the NamedTuple.
- **An evaluation, an order of turns:** a NamedTuple and kernels marked `answers(estimate, ...)` and `answers(reach, ...)`, or
  `answers(rank, ...)`; then `kdenv.add_evaluator(game, "name", ...)` or `kdenv.add_order(...)` (`examples/own_evaluation.py`).
- **An encoding:** a layout of `Part`s, a kernel that writes them, and `kdenv.add_encoding(game, Encoding(...))`.
- **A selection rule:** a NamedTuple and a kernel marked `answers(urgency, ...)`, and a class marked `named("name")` that derives from
  `SelectionRule`; its `compiled()` gives the NamedTuple.
- **A solver, a dealer, a belief:** NamedTuples and kernels that answer `solve`; `deal`; `believe`, `guesses`, `suppose` and `outlook`.
  `Hidden` lists them.
- **A search:** kernels over the verbs, `list_turns` and `play_out`, and a `TurnPolicy` whose `choose_turn(view)` calls them
  (`examples/own_search.py`).

Add all this where the file is imported, not in a function: the processes of a match import the script again, and know only what that adds.
An installed package says by entry points what it adds (CONTRIBUTING.md, "Adding something").
Kernels check nothing and cannot allocate memory; CONTRIBUTING.md says what else is true of them. The docstring of each name says more.
"""

from kdenv.compiler.bits import ONE, bit, has, lowest, nth, popcount
from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import Rng, below, make_rng, uniform
from kdenv.compiler.state import state_dtype
from kdenv.core.check_game import check_game
from kdenv.core.encoding import Encoding, Observer, Part
from kdenv.core.errors import BadGame, BadOption, BadRecord, IllegalAction, KdenvError, NotSupported
from kdenv.core.game import Game, Option
from kdenv.core.protocols import Drawing, LastTurn, Notation
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
    guesses,
    outlook,
    plays,
    rank,
    reach,
    solve,
    suppose,
)
from kdenv.core.table import Table
from kdenv.core.turns import MAX_DECISIONS, first_action, list_turns, packed, play_turn, rest_of, then
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
    truncated,
    witnesses,
)
from kdenv.core.view import View
from kdenv.policies.base import Policy, TurnPolicy
from kdenv.policies.playouts import Playout
from kdenv.policies.selection import SelectionRule
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.search.playout import Uniform, play_games, play_out
from kdenv.search.select import urgency

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
    "BadGame",
    "BadOption",
    "BadRecord",
    "Drawing",
    "Encoding",
    "Game",
    "Hidden",
    "IllegalAction",
    "KdenvError",
    "Knowledge",
    "LastTurn",
    "NotSupported",
    "Notation",
    "Observer",
    "Option",
    "Part",
    "Playout",
    "Policy",
    "Rng",
    "RulePlayer",
    "SelectionRule",
    "Table",
    "TurnPolicy",
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
    "check_game",
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
    "named",
    "nth",
    "observe",
    "outlook",
    "packed",
    "param",
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
    "truncated",
    "uniform",
    "urgency",
    "witnesses",
]
