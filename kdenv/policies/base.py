"""What a policy is: its parameters, which are compared and written (text/value.py), and what it remembers while it plays, which is not."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game
from kdenv.core.questions import first_action, rest_of
from kdenv.core.view import View
from kdenv.policies.analysis import Analysis
from kdenv.policies.text.value import Value


class Memory:
    """What a policy remembers during a game. Reset makes a new one; only what is `kept` goes on to the next game."""

    def __init__(self, seed: int = 0, kept: dict[str, Any] | None = None) -> None:
        self.rng: Rng = make_rng(derive_seed("policy", seed))
        self.n_playouts = 0  # made in all decisions since reset, for those that make any
        self.planned: tuple[bytes, int] = (b"", 0)  # what has happened when the rest of a turn is due, the rest
        self.kept: dict[str, Any] = {} if kept is None else kept  # what took long to make and does not change what is played


class Policy(Value):
    """Chooses an action for the seat of a view.

    Two policies of the same parameters are equal, and each remembers only its own games. A class that derives from this one needs
    `act`; marked `@named("name")` its fields are parameters, and texts can name it.
    """

    called = "policy"
    is_oracle: ClassVar[bool] = False  # whether it must be given an OracleView

    @property
    def memory(self) -> Memory:
        """What it remembers of the game it plays."""
        memory: Memory | None = self.__dict__.get("_memory")
        if memory is None:
            memory = self.__dict__["_memory"] = Memory()  # not a field, and so it may be set in a frozen value
        return memory

    @property
    def rng(self) -> Rng:
        """The generator that it draws from; reset starts it anew."""
        return self.memory.rng

    @property
    def n_playouts(self) -> int:
        """The playouts made in all decisions since reset; of searches without playouts, the nodes."""
        return self.memory.n_playouts

    def reset(self, seed: int = 0) -> None:
        """Forget everything about games, and start the generator anew."""
        self.__dict__["_memory"] = Memory(seed, self.memory.kept)

    def act(self, view: View) -> int:
        """The action to take; the seat of the view is to move."""
        raise NotImplementedError(f"{type(self).__name__} has no method act(self, view), which every policy needs")

    def prepare(self, view: View) -> None:
        """Compile or load what deciding in such a view will need, so that it is not done on the clock."""

    def compiled(self, game: Game) -> Any:
        """The player that kernels can ask in place of this policy, as core.questions has it, or None if there is none."""
        return None

    def analyse(self, view: View) -> Analysis:
        """What the policy thinks of every turn open now; only searches can tell."""
        raise NotSupported(f"{self} does not search and has nothing to tell about its choices")

    def check(self, game: Game, players: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Raise one sentence if it cannot play this game with so many players and these options of the rules."""
        self.needs(game, *game.variant(players, **(options or {})))

    def __call__(self, view: View) -> int:
        """The same as act: a policy is a callable of a view, and any callable of a view can be one."""
        return self.act(view)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles have the parameters, and remember nothing."""
        return {name: value for name, value in self.__dict__.items() if name != "_memory"}

    @classmethod
    def which(cls) -> str:
        """Where policies are listed."""
        return "'kdenv policies <game>' lists them"


class TurnPolicy(Policy):
    """A policy that chooses whole turns, packed (core.questions), and carries them out action by action."""

    def choose_turn(self, view: View) -> int:
        """The turn to take, or as much of it as is decided at once."""
        raise NotImplementedError(f"{type(self).__name__} has no method choose_turn(self, view), which a TurnPolicy needs")

    def act(self, view: View) -> int:
        """Go on with the turn decided on, if the game has come to the point expected; else decide on one."""
        expected, turn = self.memory.planned
        if not turn or view.key() != expected:
            turn = self.choose_turn(view)
        action, rest = int(first_action(turn)), int(rest_of(turn))
        self.memory.planned = (view.key(action), rest) if rest else (b"", 0)
        return action


class Searcher(ABC):
    """What a search policy plays with: it keeps trees, tables and clocks. One is made for a policy, and stays over its games."""

    def __init__(self, text: str) -> None:
        """text: the policy, for what it says; its generator starts at seed 0."""
        self.text = text
        self.reset(0)

    def reset(self, seed: int = 0) -> None:
        """Forget the game, and start the generator anew."""
        self.rng: Rng = make_rng(derive_seed("policy", seed))
        self.playouts = 0  # made in all decisions since reset; of searches without playouts, nodes

    @abstractmethod
    def choose_turn(self, view: View) -> int:
        """The turn to take, or as much of it as is decided at once."""

    @abstractmethod
    def prepare(self, view: View) -> None:
        """Compile what deciding in such a view will need."""

    @abstractmethod
    def analyse(self, view: View) -> Analysis:
        """What the search finds out about every turn open now."""


class SearchPolicy(TurnPolicy):
    """A policy that searches: its parameters. The search itself is a Searcher, which it makes when it is first asked."""

    def start(self) -> Searcher:
        """A new searcher with these parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no method start(self), which a SearchPolicy needs")

    @property
    def searcher(self) -> Searcher:
        """What it plays with."""
        searcher: Searcher | None = self.memory.kept.get("searcher")
        if searcher is None:
            searcher = self.memory.kept["searcher"] = self.start()
        return searcher

    @property
    def rng(self) -> Rng:
        """The generator of the search."""
        return self.searcher.rng

    @property
    def n_playouts(self) -> int:
        """The playouts made in all decisions since reset; of searches without playouts, the nodes."""
        return self.searcher.playouts

    def reset(self, seed: int = 0) -> None:
        """Forget the game, and start the generator anew."""
        super().reset(seed)
        self.searcher.reset(seed)

    def prepare(self, view: View) -> None:
        """Check that the game can be played, and compile the search for it."""
        self._check_once(view)
        self.searcher.prepare(view)

    def choose_turn(self, view: View) -> int:
        """What the search finds best."""
        self._check_once(view)
        return self.searcher.choose_turn(view)

    def analyse(self, view: View) -> Analysis:
        """What the search finds out about every turn."""
        self._check_once(view)
        return self.searcher.analyse(view)

    def _check_once(self, view: View) -> None:
        """Refuse a game that it cannot play; a game with the same players and rules as before is not checked again."""
        table = view.game.name, view.players, view.variant.tobytes()
        if self.memory.kept.get("checked") != table:
            self.needs(view.game, view.players, view.variant)
            self.memory.kept["checked"] = table


class Function(Policy):
    """A function of a view, as a policy."""

    def __init__(self, function: Callable[[View], int]) -> None:
        self.function = function

    def act(self, view: View) -> int:
        """What the function says."""
        return int(self.function(view))

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", None) or self.function)

    def __repr__(self) -> str:
        return f"Function({self.function!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def to_json(self) -> dict[str, Any]:
        """A function cannot be written."""
        raise BadOption(f"{self} is a function, which cannot be written as JSON; make it a class marked @named")


def policy(value: Any) -> Policy:
    """A policy that has not played yet, from its text, from a policy, from the dict that to_json gave, or from a function of a view.

    policy("mce(playout=full_greedy, seconds=0.5)") and Mce(playout=FullGreedy(), seconds=0.5) are the same. A policy given is
    copied, without what it remembers of its games.
    """
    if isinstance(value, Mapping):
        return Policy.from_json(value)
    if callable(value) and not isinstance(value, (Value, type)):
        return Function(value)
    if hasattr(value, "act") and not isinstance(value, (Value, type)):
        raise BadOption(f"{type(value).__name__} has act(view), but is no policy; derive it from kdenv.author.Policy")
    return fresh(Policy.as_value(value))


def fresh(value: Policy) -> Policy:
    """A copy of the policy that remembers nothing."""
    return copy.copy(value)
