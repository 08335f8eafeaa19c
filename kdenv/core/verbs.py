"""The verbs of a game: the questions (compiler/question.py) that a game's rules answer. Searches call nothing else of a game.

A verb finds the kernel by the dtype of the state that it is given. Python calls the kernels `..._at`, which take an array of states and
an index: that takes 0.16 us, and passing a single state 0.9 us.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import Question, function_of, kernel_for, register, signature_error

CHANCE, DECIDE, OVER = 0, 1, 2  # the answers of phase()

# The verbs by name. The docstring of each says what a game must answer.
VERBS: dict[str, Callable[..., Any]] = {}
_games: dict[np.dtype[Any], str] = {}  # the dtype of a game's state -> the game


class _Verb(Question):
    """The kernels of all games that answer one verb."""

    def lacks(self, key: Any) -> str:
        """Return the sentence of the error for a state that belongs to no game."""
        fields = getattr(key, "fields", None)
        what = f"a record of {', '.join(fields)}" if fields else key
        return f"{what} is not the state of a registered game"


def verb(asked: Callable[..., Any]) -> Callable[..., Any]:
    """Make a verb of a function that has only a docstring."""
    VERBS[asked.__name__] = ask = function_of(_Verb(asked))
    return ask


def register_rules(game: str, *rooms: ModuleType, **given: Callable[..., Any]) -> np.dtype[Any]:
    """Let the verbs find the kernels in these modules when they are given a state of the game. Return the dtype of its states.

    One of the modules must hold STATE, the dtype of a position. A verb may be in any of them, or be given as a keyword.
    """
    where = rooms[0].__name__
    found = {name: getattr(room, name) for room in reversed(rooms) for name in VERBS if callable(getattr(room, name, None))}
    kernels = _DEFAULTS | found | given
    missing = [name for name in VERBS if name not in kernels]
    if missing:
        raise TypeError(f"{game} lacks the verb{'s' * (len(missing) > 1)} {', '.join(missing)}: a kernel of this name belongs in {where}")
    for name, answer in kernels.items():
        if wrong := signature_error(answer, VERBS[name]):
            raise TypeError(f"{name} of {game} {wrong}")
    state: np.dtype[Any] | None = next((room.STATE for room in rooms if isinstance(getattr(room, "STATE", None), np.dtype)), None)
    if state is None:
        raise TypeError(f"{game} lacks STATE, the dtype of a position: make it with state_dtype in {where}")
    other = _games.setdefault(state, game)
    if other != game:
        advice = "make the STATE of each game in a module of its own, or rename a field"
        raise TypeError(f"the states of {game} and {other} have the same dtype, so the verbs cannot tell them apart; {advice}")
    for name, answer in kernels.items():
        register(VERBS[name], answer, state, numba.from_dtype(state))
    return state


@verb
def begin(s, players, variant):
    """Set every field of s for the position before the first chance or decision.

    The array `variant` has the options of the game in their order. A number is itself, and a word is its place in `choices`.
    """


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
    """Replace all that the seat cannot know by a random draw that agrees with what it knows. The draw must not depend on the truth.

    It is called in every position: also while chance is dealing, and at the end of the game.
    """


@verb
def observe(states, k, seat, out):
    """Write what the seat sees of states[k] to out (float32)."""


@verb
def truncated(states, k):
    """Return whether a limit ended the game in states[k], and not its rules. A game without such a limit may leave this verb out."""


@verb
def progress(s):
    """Return how far the game is, by what all seats see: from 0 at its beginning to 1 at its end. A game may leave this verb out."""


@kernel
def _is_never_truncated(states, k):
    return False


@kernel
def _is_unknown(s):
    return 0.0


# The kernels of games that leave a verb out.
_DEFAULTS: dict[str, Callable[..., Any]] = {"truncated": _is_never_truncated, "progress": _is_unknown}


def tells_progress(state: np.dtype[Any]) -> bool:
    """Return whether the game with such states answers the verb `progress`."""
    return kernel_for(progress, state) is not _is_unknown


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


@kernel
def truncated_at(states, k):
    return truncated(states, k)


@kernel
def progress_at(states, k):
    return float(progress(states[k]))
