"""Three Shells: a whole game and a player, in one file outside the package.

python examples/three_shells.py

A pea is put under one of three shells with odds 1:2:3. Only seat 0 sees where. Seat 0 stakes 1 to `most` points. Seat 1 points
at a shell, or passes. A coin then doubles all points in one of four cases. Seat 1 wins the stake if the pea is where it points, and
loses the stake if not; for a pass it loses one point. Seat 0 gets the opposite.

Seat 1 does not see the pea. Its best play is to point at shell 2, whatever the stake: there it wins and loses equally often (0 on
average). A pass costs 1.25, and the other shells cost 5/12 and 5/6 of the stake on average.

The game needs no other file. STATE is the type of a position. The verbs are the rules; they are kernels, which are compiled when they are
first called, write into given buffers, and check nothing. A rule-based player, words and a drawing follow, and GAME holds all of this.
After `kdenv.add_game(GAME)` tables, matches and searches find the game by its name. Gymnasium and PettingZoo find it as
kdenv/ThreeShells-v0.

kdenv check-game examples.three_shells:GAME

This command plays random games and checks what the verbs promise. Run it whenever you have changed the rules of a game.
"""

import sys
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import (
    CHANCE,
    DECIDE,
    OVER,
    BadRecord,
    Encoding,
    Game,
    Knowledge,
    Option,
    Part,
    RulePlayer,
    below,
    kernel,
    packed,
    plays,
    state_dtype,
)

N_SHELLS = 3
ODDS = np.array([1, 2, 3], np.int64)  # the odds of the pea under shell 0, 1 and 2
COIN_ODDS = np.array([3, 1], np.int64)
FACTOR = np.array([1, 2], np.int64)  # the coin multiplies all points by this
PASS_COSTS = 1
for table in (ODDS, COIN_ODDS, FACTOR):
    table.flags.writeable = False

# The position

HIDING, STAKING, POINTING, TOSSING, FINISHED = range(5)
NOT_YET = -1
PASS = 3  # a guess that is no shell
FIRST_GUESS = 3  # actions below this are stake - 1; the others are FIRST_GUESS + guess
N_ACTIONS = FIRST_GUESS + PASS + 1

STATE = state_dtype(("stage", np.int8), ("pea", np.int8), ("stake", np.int8), ("guess", np.int8), ("coin", np.int8), ("most", np.int8))


# What may happen: the verbs (kdenv.author.VERBS says what each must answer)


@kernel
def begin(s, players, variant):
    """Set up the position before the pea is hidden. variant[0] is the most that may be staked."""
    s.stage = HIDING
    s.pea = s.guess = s.coin = NOT_YET
    s.stake = 0
    s.most = variant[0]


@kernel
def phase(s):
    """Return what happens next: chance, a decision, or nothing because the game is over."""
    if s.stage == FINISHED:
        return OVER
    return DECIDE if s.stage == STAKING or s.stage == POINTING else CHANCE


@kernel
def seat(s):
    """Return the seat that decides."""
    return 0 if s.stage == STAKING else 1


@kernel
def legal(s, out):
    """Write the legal actions to out, ascending. Return how many there are."""
    first, n = (0, int(s.most)) if s.stage == STAKING else (FIRST_GUESS, PASS + 1)
    for i in range(n):
        out[i] = first + i
    return n


@kernel
def apply(s, action):
    """Carry out a stake or a guess."""
    if s.stage == STAKING:
        s.stake = action + 1
        s.stage = POINTING
    else:
        s.guess = action - FIRST_GUESS
        s.stage = TOSSING


@kernel
def chances(s, out, weights):
    """Write the outcomes of chance to out, and their odds as integers to weights. Return how many outcomes there are."""
    n = N_SHELLS if s.stage == HIDING else 2
    for i in range(n):
        out[i] = i
        weights[i] = ODDS[i] if s.stage == HIDING else COIN_ODDS[i]
    return n


@kernel
def apply_chance(s, outcome):
    """Put the pea under a shell, or let the coin fall."""
    if s.stage == HIDING:
        s.pea = outcome
        s.stage = STAKING
    else:
        s.coin = outcome
        s.stage = FINISHED


@kernel
def sample_chance(s, rng):
    """Draw an outcome with the odds of `chances`, but faster."""
    if s.stage == HIDING:
        return _any_shell(rng)
    return 0 if below(rng, COIN_ODDS[0] + COIN_ODDS[1]) < COIN_ODDS[0] else 1


@kernel
def _any_shell(rng):
    drawn = below(rng, ODDS[0] + ODDS[1] + ODDS[2])
    if drawn < ODDS[0]:
        return 0
    return 1 if drawn < ODDS[0] + ODDS[1] else 2


@kernel
def witnesses(s):
    """Return the seats that see the next outcome, as bits: seat 0 sees the pea, and all seats see the coin."""
    return 1 if s.stage == HIDING else -1


@kernel
def scores(s, out):
    """Write the points of both seats to out."""
    out[0] = out[1] = 0
    if s.stage == FINISHED:
        won = -PASS_COSTS if s.guess == PASS else int(s.stake) if s.guess == s.pea else -int(s.stake)
        out[1] = won * FACTOR[int(s.coin)]
        out[0] = -out[1]


@kernel
def standings(s, out):
    """Write the numbers that rank the seats to out: their points."""
    scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    """Draw the pea anew for seat 1, as long as seat 1 has not pointed. After that the shell is lifted, and nothing is hidden."""
    if seat == 1 and (s.stage == STAKING or s.stage == POINTING):
        s.pea = _any_shell(rng)


def layout(players, options):
    """The parts of what a seat sees, in the order in which observe writes them."""
    return {
        "pea": Part((N_SHELLS,), "1 for the shell where the pea is known to be"),
        "stake": Part((1,), "the stake / 3"),
        "guess": Part((PASS + 1,), "1 for the shell pointed at, or for the pass"),
        "seat": Part((1,), "the seat that looks"),
    }


@kernel
def observe(states, k, seat, out):
    """Write what the seat sees: all the parts of the layout, one after the other."""
    s = states[k]
    for i in range(out.shape[0]):
        out[i] = 0.0
    if s.pea != NOT_YET and (seat == 0 or s.stage > POINTING):
        out[int(s.pea)] = 1.0
    out[3] = s.stake / 3.0
    if s.guess != NOT_YET:
        out[4 + int(s.guess)] = 1.0
    out[8] = seat


# A player, which can sit at a table, play in playouts inside searches, and be called by your own kernels


class Bold(NamedTuple):
    """A player that stakes the most, and always points at the same shell."""

    shell: int = 2


@plays(Bold)
@kernel
def _choose_boldly(player, states, k, out, rng):
    return packed(int(states[k].most) - 1 if states[k].stage == STAKING else FIRST_GUESS + player.shell)


# Words and a drawing


def action_text(states, k, action):
    """An action in words: stake 2, point 0, pass."""
    return f"stake {action + 1}" if action < FIRST_GUESS else "pass" if action == FIRST_GUESS + PASS else f"point {action - FIRST_GUESS}"


def action_from(states, k, text):
    """The action that these words mean."""
    for action in range(N_ACTIONS):
        if action_text(states, k, action) == text:
            return action
    raise BadRecord(f"{text!r} is no action; write 'stake 1', 'point 0' or 'pass'")


def chance_text(states, k, outcome):
    """An outcome of chance in words: pea 0, coin 1."""
    return f"pea {outcome}" if states[k]["stage"] == HIDING else f"coin {outcome}"


def chance_from(states, k, text):
    """The outcome that these words mean."""
    word, _, number = text.partition(" ")
    if word not in ("pea", "coin") or number not in ("0", "1", "2"):
        raise BadRecord(f"{text!r} is nothing that chance does; it is 'pea 0' or 'coin 1'")
    return int(number)


_FIELDS = {"stage": (HIDING, FINISHED), "pea": (NOT_YET, 2), "stake": (0, 3), "guess": (NOT_YET, PASS), "coin": (NOT_YET, 1)}


def position_text(states, k):
    """A position in a line, for records and error messages."""
    return " ".join(f"{name}={states[k][name]}" for name in _FIELDS)


def position_from(text, states, k):
    """Set states[k] up as the line says; `most` stays as it is."""
    words = dict(word.partition("=")[::2] for word in text.split())
    if words.keys() != _FIELDS.keys():
        raise BadRecord(f"a position has {', '.join(_FIELDS)}, each once")
    for name, (least, most) in _FIELDS.items():
        if words[name] not in map(str, range(least, most + 1)):
            raise BadRecord(f"{name}={words[name]} is not a number from {least} to {most}")
        states[k][name] = int(words[name])


def ansi(states, k, seat=None):
    """The position for a terminal, as a seat sees it."""
    hidden = seat not in (None, 0) and states[k]["stage"] <= POINTING
    return position_text(states, k).replace(f"pea={states[k]['pea']}", "pea=?") if hidden else position_text(states, k)


def svg(states, k, seat=None):
    """The position as an SVG drawing, as a seat sees it."""
    text = f"<text x='12' y='30' font-family='monospace' font-size='16' fill='black'>{ansi(states, k, seat)}</text>"
    return f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 540 48'><rect width='540' height='48' fill='white'/>{text}</svg>"


# All of it together

_THIS: Any = sys.modules[__name__]  # Any: type checkers do not know which functions this module has
GAME = Game(
    name="three_shells",
    title="ThreeShells",
    room=(_THIS,),
    players=(2,),
    options=(Option("most", 3, "the most that may be staked", (3, 2, 1)),),
    notation=_THIS,
    drawing=_THIS,
    n_actions=lambda players, variant: N_ACTIONS,
    encodings=(Encoding("shells", layout, observe),),
    max_legal=4,
    max_turns=4,
    max_chances=3,
    knowledge=Knowledge(players={"bold": RulePlayer(Bold, "stakes the most and always points at one shell")}, greedy="bold"),
)


def main() -> None:
    """Play the rule player against two searches, one of which knows it. Then play one seat as an environment."""
    kdenv.add_game(GAME)
    # 1. Two matches. The first search uses the bold player in its playouts. So it learns that this player always points at shell 2, and
    # stakes 1 if the pea is there and 3 if not. The second search grows a tree, in which all seats see what its own seat sees. So it
    # expects the worst, and always stakes 1.
    for search in ("mce(playout=bold, score=points, playouts=200)", "uct(chance=open, score=points, select=ucb1(c=5), playouts=1000)"):
        summary = Summary(Match("three_shells", [search, "bold"], games=200, seed=1))
        play(summary.match, on_result=summary.add, processes=1)  # other processes would import this file without add_game
        print(summary, end="\n\n")
    # 2. An environment for a learner in seat 1, with the bold player in seat 0.
    environment = gymnasium.make("kdenv/ThreeShells-v0", opponents="bold", seat=1, reward="score", record=True)
    observation, info = environment.reset(seed=1)
    print(f"seat 1 sees {observation} and may {np.flatnonzero(info['action_mask'])}")
    _, reward, *_, info = environment.step(FIRST_GUESS + 2)
    print(f"{info['record']}reward {reward:g}")


if __name__ == "__main__":
    main()
