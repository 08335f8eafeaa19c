"""The verbs of a game: the questions that a game's rules answer. Searches call nothing else of a game.

A verb finds the rules by the dtype of the state that it is given: in compiled code while numba compiles the caller, so that a verb costs no
more than any call; in plain Python by a dictionary. Python calls the kernels `..._at`, which take an array of states and an index: that
takes 0.16 us, and passing a single state 0.9 us.
"""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.errors import TypingError

from kdenv.compiler.kernel import kernel, resolve_by_type
from kdenv.compiler.question import signature_error

CHANCE, DECIDE, OVER = 0, 1, 2  # what phase() answers

# The verbs by name. The docstring of each says what a game must answer.
VERBS: dict[str, Callable[..., Any]] = {}
_TAKES: dict[str, list[str]] = {}  # the names of the arguments of each verb
_rules: dict[Any, "Rules"] = {}  # the dtype of a game's state, and its numba type -> its rules


class Rules(NamedTuple):
    """The kernels of one game, by verb."""

    game: str
    verbs: dict[str, Callable[..., Any]]


def verb(question: Callable[..., Any]) -> Callable[..., Any]:
    """Make a verb: a function that calls the kernel of the game to which its first argument, a state or an array of states, belongs."""
    name = question.__name__

    def ask(state, *rest):
        return _rules_of(state.dtype).verbs[name](state, *rest)

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = question.__doc__
    resolve_by_type(ask, lambda state: _rules_of(getattr(state, "dtype", state)).verbs[name])
    VERBS[name] = ask
    _TAKES[name] = list(inspect.signature(question).parameters)
    return ask


def _rules_of(state_type: Any) -> Rules:
    try:
        return _rules[state_type]
    except KeyError:
        fields = getattr(state_type, "fields", None)
        what = f"a record of {', '.join(fields)}" if fields else state_type
        raise TypingError(f"{what} is not the state of a registered game") from None


def register_rules(game: str, *rooms: ModuleType, **given: Callable[..., Any]) -> np.dtype[Any]:
    """Let the verbs find the kernels in these modules when they are given a state of the game. Return the dtype of its states.

    One of the modules must hold STATE, the dtype of a position. A verb may be in any of them, or be given as a keyword.
    """
    where = rooms[0].__name__
    verbs = {name: getattr(room, name) for room in reversed(rooms) for name in VERBS if callable(getattr(room, name, None))} | given
    missing = [name for name in VERBS if name not in verbs]
    if missing:
        raise TypeError(f"{game} lacks the verb{'s' * (len(missing) > 1)} {', '.join(missing)}: a kernel of this name belongs in {where}")
    for name, answer in verbs.items():
        if wrong := signature_error(answer, _TAKES[name]):
            raise TypeError(f"{name} of {game} {wrong}")
    state: np.dtype[Any] | None = next((room.STATE for room in rooms if isinstance(getattr(room, "STATE", None), np.dtype)), None)
    if state is None:
        raise TypeError(f"{game} lacks STATE, the dtype of a position: make it with state_dtype in {where}")
    other = _rules.get(state)
    if other is not None and other.game != game:
        raise TypeError(f"the states of {game} and {other.game} have the same dtype, so the verbs cannot tell them apart; rename a field")
    _rules[state] = _rules[numba.from_dtype(state)] = Rules(game, verbs)
    return state


@verb
def begin(s, players, variant):
    """Set s to the position before the first chance or decision. variant holds the game's options as integers."""


@verb
def phase(s):
    """Return what happens next: CHANCE, DECIDE or OVER."""


@verb
def seat(s):
    """Return the seat that decides. Only meaningful while phase() is DECIDE."""


@verb
def legal(s, out):
    """Write the legal actions to out, ascending, one integer per distinct outcome. Return how many there are."""


@verb
def apply(s, action):
    """Carry out a decision. Does not check that it is legal."""


@verb
def chances(s, out, weights):
    """Write the outcomes that chance may bring to out, and their odds as integers to weights. Return how many there are."""


@verb
def apply_chance(s, outcome):
    """Carry out one outcome of chance. Does not check that it is possible."""


@verb
def sample_chance(s, rng):
    """Return a random outcome, drawn with the odds that chances() gives but faster. Does not carry it out."""


@verb
def witnesses(s):
    """Return the seats that see the next outcome of chance, as bits; -1 if all seats see it."""


@verb
def scores(s, out):
    """Write the points of each seat to out (int64); higher is better. When the game is over, they are the result."""


@verb
def standings(s, out):
    """Write an integer per seat to out (int64) that ranks the seats: higher is better, equal is a tie."""


@verb
def resample_hidden(s, seat, rng):
    """Replace all that the seat cannot know by a random draw that agrees with what it knows. The draw must not depend on the truth."""


@verb
def observe(states, k, seat, out):
    """Write what the seat sees of states[k] to out (float32)."""


@kernel
def begin_at(states, k, players, variant):
    begin(states[k], players, variant)


@kernel
def phase_at(states, k):
    return phase(states[k])


@kernel
def seat_at(states, k):
    return seat(states[k])


@kernel
def legal_at(states, k, out):
    return legal(states[k], out)


@kernel
def apply_at(states, k, action):
    apply(states[k], action)


@kernel
def chances_at(states, k, out, weights):
    return chances(states[k], out, weights)


@kernel
def apply_chance_at(states, k, outcome):
    apply_chance(states[k], outcome)


@kernel
def sample_chance_at(states, k, rng):
    return sample_chance(states[k], rng)


@kernel
def witnesses_at(states, k):
    return witnesses(states[k])


@kernel
def scores_at(states, k, out):
    scores(states[k], out)


@kernel
def standings_at(states, k, out):
    standings(states[k], out)


@kernel
def resample_hidden_at(states, k, seat, rng):
    resample_hidden(states[k], seat, rng)


@kernel
def observe_at(states, k, seat, out):
    observe(states, k, seat, out)
