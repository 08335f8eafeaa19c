"""The base classes of policies. A policy has parameters, which are compared and written (text/value.py), and a memory, which is not."""

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
    """What a policy remembers during a game. reset() makes a new memory, which takes over only `kept`.

    It can be pickled, without `kept`, and recalled by an equal policy in another process.
    """

    def __init__(self, seed: int = 0, kept: dict[str, Any] | None = None) -> None:
        self.rng: Rng = rng_of(seed)
        self.n_playouts = 0  # in all decisions since reset; of searches without playouts, the nodes; 0 for policies that do not search
        self.seconds = 0.0  # that searches have spent in all decisions since reset
        self.planned: tuple[bytes, int] = (b"", 0)  # the key of the view in which a turn goes on, and the rest of that turn
        self.within: Memory | None = None  # the memory of the policy that plays for this one, if one does
        self.kept: dict[str, Any] = {} if kept is None else kept  # what takes long to make and does not change what is played

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": {}}


class Policy(Value, ABC):
    """Chooses an action for the seat of a view.

    Two policies with the same parameters are equal, but each has a memory of its own. A subclass needs only `act`. If it is marked
    `@named("name")`, its fields are parameters, and texts can name it.
    """

    family = "policy"
    is_oracle: ClassVar[bool] = False  # whether it must be given an OracleView

    def __init_subclass__(cls, **more: Any) -> None:
        """A class that decides in its own way has no compiled form, unless it says which: that of its base decides in another way."""
        super().__init_subclass__(**more)
        own = vars(cls)
        if "compiled" not in own and not own.keys().isdisjoint({"act", "choose_turn", "reset"}):
            cls.compiled = Policy.compiled  # type: ignore[method-assign]

    @cached_property  # not a field, so it may be set although the value is frozen
    def memory(self) -> Memory:
        """What the policy remembers of the game that it plays."""
        return Memory()

    @property
    def rng(self) -> PolicyRng:
        """The random generator of the policy, for kernels, and with random(), integers() and choice(). reset starts it anew."""
        return self.memory.rng.view(PolicyRng)

    @property
    def n_playouts(self) -> int:
        """The playouts made in all decisions since reset; of searches without playouts, the nodes."""
        return self.memory.n_playouts

    def reset(self, seed: int = 0) -> None:
        """Forget the game, and start the random generator from this seed."""
        self.__dict__["memory"] = Memory(seed, self.memory.kept)

    def recall(self, memory: Memory) -> None:
        """Go on with a memory of an equal policy. What this one keeps from game to game stays."""
        memory.kept = self.memory.kept
        self.__dict__["memory"] = memory

    @abstractmethod
    def act(self, view: View) -> int:
        """Choose one of the legal actions. The seat of the view must be to move."""

    def prepare(self, view: View) -> None:
        """Compile or load what decisions in such a view need, so that a decision spends no time on it."""

    def compiled(self, game: Game, players: int) -> Any:
        """What answers `choose` (core/questions.py) as this policy does at a table with this many players; None if nothing does."""
        return None

    def search(self, view: View, *, thorough: bool = True) -> SearchResult:
        """What the policy finds out about every turn that is open now. Policies that do not search raise NotSupported."""
        raise NotSupported(f"{self} does not search and has nothing to tell about its choices")

    def check(self, game: Game, players: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Raise NotSupported or BadOption if the policy cannot play this game with this number of players and these options."""
        self.needs(game, *game.variant(players, **(options or {})))

    def __call__(self, view: View) -> int:
        """Do the same as act. So a policy can be used wherever a function of a view can."""
        return self.act(view)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the parameters, but not the memory."""
        return {name: value for name, value in self.__dict__.items() if name != "memory"}

    @classmethod
    def members(cls) -> str:
        """The end of an error about a name that is no policy; it says how to list them."""
        return "'kdenv policies <game>' lists them"


class TurnPolicy(Policy):
    """A policy that chooses packed turns (core/turns.py) and carries them out action by action."""

    @abstractmethod
    def choose_turn(self, view: View) -> int:
        """Choose a packed turn, or only its first actions; for the rest of the turn it is asked again."""

    def act(self, view: View) -> int:
        """The next action of the turn chosen before, if the view is the expected one; else the first action of a new turn."""
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
        """Raise BadOption, because a function cannot be written as JSON."""
        raise BadOption(f"{self} is a function, which cannot be written as JSON; make it a class marked @named")


def policy(value: Any) -> Policy:
    """A policy with an empty memory, made from a text, another policy, the dict that to_json returned, or a function of a view.

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
    return fresh(Policy.as_value(value))


def fresh(value: Policy) -> Policy:
    """A copy of the policy with an empty memory."""
    return copy.copy(value)
