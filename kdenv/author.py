"""Everything to import to write a game, a card, a policy, a player, an evaluation, an encoding, a playout, a selection rule or a search.

* **A game:** `state_dtype`, kernels for the verbs (VERBS), `Option`, functions as in `Notation` and `Drawing`, and an `Encoding`.
  `Game` holds all of it, and `kdenv.add_game` adds it. `check_game` plays it at random and lists its faults.
  `examples/three_shells.py` is a game with a player.
* **A card of Dominion:** `Card` and `add_card` of `kdenv.games.dominion`.
* **A policy:** a class marked `named("name")` that derives from `Policy`, with a docstring, fields and `act(view)`. A field is a parameter;
  `param` gives its bounds and its meaning. `kdenv.add_policy("name", ...)` takes a class without the mark, or a function of a view.
  `examples/own_policy.py` is a policy.
* **A policy that asks a network of yours:** a class that derives from `NetworkPolicy`, with a method `evaluate(observations)`.
  `examples/search_with_your_network.py` is one.
* **A rule player, which is a playout too:** a NamedTuple and a kernel marked `plays`; `packed` and `then` make its turns. Your own
  game lists it in its `Knowledge` as a `RulePlayer`. `kdenv.add_player(game, "name", ...)` adds it to another game.
  `examples/own_player.py` is a rule player.
* **Another playout:** the same NamedTuple and kernel, and a class marked `named("name")` that derives from `Playout`. Its method
  `player(view)` returns the NamedTuple.
* **An evaluation:** a NamedTuple and kernels marked `answers(estimate, ...)` and `answers(reach, ...)`. Then
  `kdenv.add_evaluator(game, "name", ...)` adds it. `examples/own_evaluation.py` is an evaluation.
* **An order of turns:** a NamedTuple and a kernel marked `answers(rank, ...)`. Then `kdenv.add_order(game, "name", ...)` adds it.
* **An encoding:** a layout of `Part`s, a kernel that writes them, and `kdenv.add_encoding(game, Encoding(...))`. The docstring of
  `kdenv.add_encoding` has an example.
* **A selection rule:** a NamedTuple and a kernel marked `answers(urgency, ...)`, and a class marked `named("name")` that derives from
  `SelectionRule`. Its method `compiled()` returns the NamedTuple.
* **A solver, a dealer, a belief:** NamedTuples and kernels that answer `solve`; `deal`; `believe`, `guesses`, `suppose` and `outlook`.
  `Hidden` lists them.
* **A search:** kernels over the verbs, `list_turns` and `play_out`, and a `TurnPolicy` whose `choose_turn(view)` calls them.
  `examples/own_search.py` is a search.

Add all this at the top level of a file, not in a function: each process of a match imports the script again and has only these additions.
An installed package lists its additions as entry points (ARCHITECTURE.md, "Adding something").
Kernels check nothing and cannot allocate memory; ARCHITECTURE.md lists their other rules. The docstring of each name has the details.
A kernel draws from its `rng`, an `Rng`, with `below` and `uniform`; `make_rng` makes one.
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
    progress,
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
from kdenv.policies.network_policy import NetworkPolicy
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
    "NetworkPolicy",
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
    "progress",
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
