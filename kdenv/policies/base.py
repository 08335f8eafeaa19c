"""The base classes of policies. A policy has parameters, which are compared and written (text/value.py), and a memory."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game
from kdenv.core.turns import first_action, rest_of
from kdenv.core.view import View
from kdenv.policies.policy_rng import PolicyRng
from kdenv.policies.result import SearchResult
from kdenv.policies.text.value import Value


def rng_of(seed: int) -> Rng:
    """The random generator of a policy that was reset with this seed."""
    return make_rng(derive_seed("policy", seed))


class Memory:
    """The memory of a policy during a game. reset() makes a new memory, which takes over only `kept`.

    A memory can be pickled, without `kept`. An equal policy in another process can continue with it (Policy.recall).
    """

    def __init__(self, seed: int = 0, kept: dict[str, Any] | None = None) -> None:
        self.rng: Rng = rng_of(seed)
        self.n_playouts = 0  # in all decisions since reset; nodes, if a search makes no playouts; 0 if the policy does not search
        self.seconds = 0.0  # of searching, in all decisions since reset
        self.turn = (-1, 0.0)  # the number of the turn in which it decided last, and `seconds` when that turn began
        self.planned: tuple[bytes, int] = (b"", 0)  # the key of the view in which the rest of a turn is played, and that rest
        self.within: Memory | None = None  # the memory of the policy that plays in place of this one, if any
        self.kept: dict[str, Any] = {} if kept is None else kept  # objects that are slow to make and do not affect decisions

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": {}}


class Policy(Value, ABC):
    """Chooses an action for the seat of a view.

    Two policies with the same parameters are equal, but each has its own memory. A subclass needs only `act`. If it is marked
    `@named("name")`, its fields are parameters, and it can be written as text.
    """

    family = "policy"
    remedy = "'kdenv policies <game>' lists them"
    is_oracle: ClassVar[bool] = False  # whether it must be given an OracleView

    def __init_subclass__(cls, **more: Any) -> None:
        """Give a class that overrides decisions no compiled form, unless it defines one: that of its base class decides differently."""
        super().__init_subclass__(**more)
        own = vars(cls)
        if "compiled" not in own and not own.keys().isdisjoint({"act", "choose_turn", "reset"}):
            cls.compiled = Policy.compiled  # type: ignore[method-assign]

    @cached_property  # not a field, so it may be set although the value is frozen
    def memory(self) -> Memory:
        """The memory of the game that the policy plays."""
        return Memory()

    @property
    def rng(self) -> PolicyRng:
        """The random generator of the policy: for kernels, and with random(), integers() and choice(). reset() seeds it."""
        return self.memory.rng.view(PolicyRng)

    @property
    def n_playouts(self) -> int:
        """The number of playouts in all decisions since reset; the number of nodes, if a search makes no playouts."""
        return self.memory.n_playouts

    def reset(self, seed: int = 0) -> None:
        """Forget the game, and seed the random generator."""
        self.__dict__["memory"] = Memory(seed, self.memory.kept)

    def recall(self, memory: Memory) -> None:
        """Continue with the memory of an equal policy. The objects that this one keeps from game to game stay."""
        memory.kept = self.memory.kept
        self.__dict__["memory"] = memory

    @abstractmethod
    def act(self, view: View) -> int:
        """Choose one of the legal actions. The seat of the view must be to move."""

    def prepare(self, view: View) -> None:
        """Compile or load everything that decisions in such a view need, so that no decision spends time on it."""

    def compiled(self, game: Game, players: int) -> Any:
        """The compiled player that decides as this policy does at a table with this many players; None if there is none.

        It answers `choose` (core/questions.py).
        """
        return None

    def search(self, view: View, *, thorough: bool = True) -> SearchResult:
        """Search the position and return the result for all turns. Policies that do not search raise NotSupported."""
        raise NotSupported(f"{self} does not search, so it has no search result")

    def check(self, game: Game, players: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Raise NotSupported or BadOption if the policy cannot play this game with this number of players and these options."""
        self.needs(game, *game.variant(players, **(options or {})))

    def __call__(self, view: View) -> int:
        """Do the same as act, so that a policy can be used wherever a function of a view can."""
        return self.act(view)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the parameters, but not the memory."""
        return {name: value for name, value in self.__dict__.items() if name != "memory"}


class TurnPolicy(Policy):
    """A policy that chooses packed turns (core/turns.py) and carries them out action by action."""

    @abstractmethod
    def choose_turn(self, view: View) -> int:
        """Choose a packed turn, or only its first actions. The policy is asked again for the rest of the turn."""

    def act(self, view: View) -> int:
        """The next action of the turn chosen before, if the view is as expected; else the first action of a new turn."""
        expected, turn = self.memory.planned
        if not turn or view.key() != expected:
            turn = self.choose_turn(view)
        action: int = first_action(turn)
        rest: int = rest_of(turn)
        self.memory.planned = (view.key(action), rest) if rest else (b"", 0)
        return action


class Function(Policy):
    """A policy that calls a function of a view."""

    def __init__(self, function: Callable[[View], int]) -> None:
        self.function = function

    def act(self, view: View) -> int:
        """The action that the function returns."""
        return self.function(view)

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", None) or self.function)

    def __repr__(self) -> str:
        return f"Function({self.function!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def to_json(self) -> dict[str, Any]:
        """Raise BadOption: a function cannot be written as JSON."""
        raise BadOption(f"{self} is a function, which cannot be written as JSON; make it a class marked @named")


def policy(value: Any) -> Policy:
    """Make a policy with an empty memory from a text, another policy, the dict that to_json returned, or a function of a view.

    A policy is copied without its memory.

    >>> from kdenv.policies import FullGreedy, Mce, policy
    >>> policy("mce(playout=full_greedy, seconds=0.5)") == Mce(playout=FullGreedy(), seconds=0.5)
    True
    >>> print(policy(Mce(playouts=50)))
    mce(playouts=50)
    """
    if isinstance(value, Mapping):
        return Policy.from_json(value)
    if callable(value) and not isinstance(value, (Value, type)):
        return Function(value)
    if hasattr(value, "act") and not isinstance(value, (Value, type)):
        raise BadOption(f"{type(value).__name__} has act(view), but is no policy; derive it from kdenv.author.Policy")
    made = Policy.as_value(value)
    return made if isinstance(value, str) else copy.copy(made)
