"""The rules of four-handed team dominoes as kernels: the state and the verbs. README.md beside this file has the rules in words.

The action 7 * c + e covers an open end showing c with the tile c-e. The opening tile i-j, i <= j, is the action 7 * i + j. Pass and
call come after these actions. Chance deals one tile at a time: seven to seat 0, then seven to seat 1, and so on. With lead="drawn"
it first draws the seat that leads (outcome 28 + seat). Nothing here checks legality; tables, environments and parsers do. Sets of
tiles are bits as in tables.py. The inferences of a seat are in belief.py.
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.games.dominoes.tables import (
    ALL_SUITS,
    ALL_TILES,
    BIT_OF_TILE,
    BLOCKED,
    BLOCKED_IN_THEIR_CODE,
    CALL,
    DOMINAI_CODE,
    DOUBLE_SIX,
    DOUBLES_WITH,
    FINE,
    HALVES_WITH,
    HAND,
    MIRRORED,
    MOST_ROUNDS,
    N_TILES,
    NO_TILES,
    OPENSPIEL,
    PASS,
    PUERTO_RICO,
    ROW,
    SUITS,
    TARGET,
    TARGET_TO_WIN,
    TILES_WITH,
    UNMIRRORED,
)

NOBODY = -1  # in place of a seat or a team
NO_END = -1  # in place of the suit of an open end, before the first tile

# The values of s.stage.
DRAWING, DEALING, PLAYING, FINISHED = range(4)

# The places in the variant that begin() receives.
V_RULES, V_MODE, V_LEAD, V_FORCE_66, V_CALLS = range(5)
MATCH, ROUND = 0, 1  # values of V_MODE
BY_RULES, DRAWN = 0, 1  # values of V_LEAD

MOST_TURNS = 112  # at most 25 tiles are laid, with three passes before each

STATE = state_dtype(
    ("hands", np.uint64, 4),  # mirrored
    ("played", np.uint64, 4),  # the tiles each seat has laid this round, not mirrored
    ("undealt", np.uint64),  # the tiles still to be dealt, as bits of tile numbers 0 to 27
    ("points", np.int32, 2),  # by team; fewer are better, except in puerto_rico
    ("before", np.int32, 2),  # the points when this round began
    ("n_rounds", np.int16),  # rounds finished in this match
    ("n_turns", np.int16),  # turns taken in this round, passes included
    ("turns", np.int8, MOST_TURNS),  # the actions of this round, the leader's first
    ("lacks", np.uint8, 4),  # the suits that each seat has shown to lack by passing, as bits
    ("passed_on", np.uint8, 4),  # 0 unless the seat passed at its last turn; then the suits of the open ends as bits (all if no tile lay)
    ("left", np.int8),  # the suits of the two open ends; NO_END before the first tile
    ("right", np.int8),
    ("passes", np.int8),  # passes in a row
    ("turn", np.int8),  # the seat to move; while dealing, the seat that gets the next tile
    ("leader", np.int8),  # the seat that leads this round; NOBODY as long as it is not known
    ("stage", np.int8),
    ("rules", np.int8),
    ("mode", np.int8),
    ("lead", np.int8),
    ("force_66", np.int8),
    ("calls", np.int8),
)


@kernel
def begin(s, players, variant):
    """Begin the first round, with nothing dealt. variant holds rules, mode, lead, force_66, calls."""
    s.rules = variant[V_RULES]
    s.mode = variant[V_MODE]
    s.lead = variant[V_LEAD]
    s.force_66 = variant[V_FORCE_66]
    s.calls = variant[V_CALLS]
    s.points[0] = 0
    s.points[1] = 0
    s.n_rounds = 0
    _begin_round(s, 0 if s.rules == OPENSPIEL and s.lead == BY_RULES else NOBODY)
    if s.lead == DRAWN:
        s.stage = DRAWING


@kernel
def _begin_round(s, leader):
    """Begin a round with all tiles face down. leader: NOBODY if the deal or a draw will decide it."""
    for seat in range(4):
        s.hands[seat] = NO_TILES
        s.played[seat] = NO_TILES
        s.lacks[seat] = 0
        s.passed_on[seat] = 0
    for i in range(MOST_TURNS):
        s.turns[i] = 0
    s.before[0] = s.points[0]
    s.before[1] = s.points[1]
    s.undealt = bit(N_TILES) - ONE
    s.n_turns = 0
    s.left = NO_END
    s.right = NO_END
    s.passes = 0
    s.turn = 0
    s.leader = leader
    s.stage = DEALING


@kernel
def phase(s):
    """Return CHANCE while the lead is drawn and tiles are dealt, then DECIDE, and OVER after the last round."""
    if s.stage <= DEALING:
        return CHANCE
    return DECIDE if s.stage == PLAYING else OVER


@kernel
def seat(s):
    """Return the seat to move, or, while tiles are dealt, the seat that gets the next one."""
    return int(s.turn)


@kernel
def led_by_double_six(s):
    """Return whether the holder of 6-6 leads this round. It leads the first round of a match, unless seat 0 leads or the lead is drawn."""
    return s.n_rounds == 0 and s.rules != OPENSPIEL and s.lead == BY_RULES


@kernel
def legal_set(s):
    """Return the legal actions of the seat to move, as bits."""
    hand = s.hands[s.turn]
    if s.left != NO_END:
        fitting = hand & (ROW[s.left] | ROW[s.right])
    elif s.force_66 != 0 and led_by_double_six(s):
        return DOUBLE_SIX
    else:
        fitting = hand & ALL_TILES
    if s.calls == 0:
        return bit(PASS) if fitting == NO_TILES else fitting
    return fitting | bit(PASS) | (bit(CALL) if _some_pass(s) else NO_TILES)


@kernel
def _some_pass(s):
    """Return whether another seat has passed since the last turn of the seat to move."""
    others = 0
    for ahead in range(1, 4):
        others |= int(s.passed_on[(int(s.turn) + ahead) & 3])
    return others != 0


@kernel
def legal(s, out):
    """List the legal actions, ascending; return their number. Without calls, a pass is legal only if no tile fits."""
    actions = legal_set(s)
    n = 0
    while actions != NO_TILES:
        out[n] = lowest(actions)
        actions &= actions - ONE
        n += 1
    return n


@kernel
def apply(s, action):
    """Lay a tile, pass or call. Then the next seat has its turn, or the round ends."""
    me = int(s.turn)
    s.turns[s.n_turns] = action
    s.n_turns += 1
    s.turn = (me + 1) & 3
    if action == PASS:
        s.passed_on[me] = ALL_SUITS  # for a pass before the first tile
        if s.left != NO_END:
            s.passed_on[me] = (1 << int(s.left)) | (1 << int(s.right))
            s.lacks[me] |= s.passed_on[me]
        s.passes += 1
        if s.passes == (BLOCKED_IN_THEIR_CODE if s.rules == DOMINAI_CODE else BLOCKED):
            _settle(s, NOBODY)
    elif action == CALL:
        _settle_call(s, me)
    else:
        _lay(s, me, action)
        if s.hands[me] == NO_TILES:
            _settle(s, me)


@kernel
def _lay(s, me, action):
    """Lay the tile of this action from the hand of seat `me`."""
    c = action // SUITS
    e = action - c * SUITS
    s.hands[me] &= ~MIRRORED[action]
    s.played[me] |= UNMIRRORED[action]
    s.passes = 0
    s.passed_on[me] = 0
    if s.calls != 0:  # a pass may have been unjust, and now the seat has shown a tile of these suits
        s.lacks[me] &= np.uint8(ALL_SUITS & ~((1 << c) | (1 << e)))
    cover(s, c, e)


@kernel
def cover(line, c, e):
    """Lay the tile c-e with its half c on an open end. line: any record with the open ends in `left` and `right`."""
    if line.left == NO_END:
        line.left = c
        line.right = e
    elif line.left == c:
        line.left = e
    else:
        line.right = e


@kernel
def pips(hand):
    """Return the pips of a mirrored hand."""
    # Each number of pips is a sum of powers of two, and half tiles are counted by power. A double has only one bit in a mirrored hand.
    total = 0
    for power in range(3):
        total += (popcount(hand & HALVES_WITH[power]) + popcount(hand & DOUBLES_WITH[power])) << power
    return total


@kernel
def n_tiles(hand):
    """Return the number of tiles in a mirrored hand."""
    return popcount(hand & ALL_TILES)


@kernel
def _settle(s, out):
    """End the round because seat `out` has laid its last tile, or, if out is NOBODY, because the round is blocked."""
    pips_0 = pips(s.hands[0]) + pips(s.hands[2])
    pips_1 = pips(s.hands[1]) + pips(s.hands[3])
    loser = NOBODY
    if s.rules == DOMINAI_CODE:
        loser = _loser_by_their_code(s, pips_0, pips_1)
    elif out != NOBODY and s.rules != OPENSPIEL:
        loser = (out + 1) & 1
    elif pips_0 != pips_1:
        loser = 0 if pips_0 > pips_1 else 1
    leader = (int(s.leader) + 1) & 3
    if s.rules == PUERTO_RICO:
        leader = out
        if out == NOBODY:
            leader = (int(s.leader) + 1) & 3 if loser == NOBODY else _lighter(s, 1 - loser)
        if loser != NOBODY:
            s.points[1 - loser] += pips_0 + pips_1
    elif loser != NOBODY:
        s.points[loser] += pips_0 if loser == 0 else pips_1
    _end_round(s, leader)


@kernel
def _loser_by_their_code(s, pips_0, pips_1):
    """Return the team that loses by the scorer of the authors' program, or NOBODY.

    The scorer first checks team 0, then team 1. A team has won if it has fewer pips, or a hand without pips.
    """
    if pips(s.hands[0]) == 0 or pips(s.hands[2]) == 0 or pips_0 < pips_1:
        return 1
    if pips(s.hands[1]) == 0 or pips(s.hands[3]) == 0 or pips_0 > pips_1:
        return 0
    return NOBODY


@kernel
def _lighter(s, team):
    """Return the seat of this team with fewer pips. If they are equal, it is the first in the order of turns from the leader on."""
    first = team if (team - int(s.leader)) & 3 < 2 else team + 2
    return first if pips(s.hands[first]) <= pips(s.hands[first ^ 2]) else first ^ 2


@kernel
def _settle_call(s, caller):
    """End the round by a call. Fine the seat that passed unjustly first since the caller's last turn, or, if none did, the caller."""
    fined = caller
    for ahead in range(1, 4):
        other = (caller + ahead) & 3
        if fined == caller and s.hands[other] & TILES_WITH[s.passed_on[other]] != NO_TILES:
            fined = other
    leader = (int(s.leader) + 1) & 3
    if s.rules == PUERTO_RICO:
        s.points[1 - (fined & 1)] += FINE
        leader = caller if (fined ^ caller) & 1 else (caller + 1) & 3
    else:
        s.points[fined & 1] += FINE
    _end_round(s, leader)


@kernel
def target(s):
    """Return the points with which a match ends."""
    return TARGET_TO_WIN if s.rules == PUERTO_RICO else TARGET


@kernel
def _end_round(s, leader):
    """Begin the next round, or end the match."""
    if s.mode == ROUND or max(int(s.points[0]), int(s.points[1])) >= target(s):
        s.stage = FINISHED
    else:
        s.n_rounds = min(int(s.n_rounds) + 1, MOST_ROUNDS)
        _begin_round(s, leader)


@kernel
def chances(s, out, weights):
    """List the tiles that are not dealt yet, or the seats that may lead, with equal weights; return their number."""
    if s.stage == DRAWING:
        for seat in range(4):
            out[seat] = N_TILES + seat
            weights[seat] = 1
        return 4
    n = 0
    undealt = s.undealt
    while undealt != NO_TILES:
        out[n] = lowest(undealt)
        weights[n] = 1
        undealt &= undealt - ONE
        n += 1
    return n


@kernel
def sample_chance(s, rng):
    """Draw a tile that is not dealt yet, or the seat that leads."""
    if s.stage == DRAWING:
        return N_TILES + below(rng, 4)
    return nth(s.undealt, below(rng, popcount(s.undealt)))


@kernel
def apply_chance(s, outcome):
    """Deal the tile to the first seat that has fewer than seven, or let the drawn seat lead. After the last tile play begins."""
    if s.stage == DRAWING:
        s.leader = outcome - N_TILES
        s.stage = DEALING
        return
    me = int(s.turn)
    s.hands[me] |= MIRRORED[BIT_OF_TILE[outcome]]
    s.undealt &= ~bit(outcome)
    n_left = popcount(s.undealt)
    s.turn = (N_TILES - n_left) // HAND
    if n_left > 0:
        return
    s.stage = PLAYING
    if led_by_double_six(s):
        for other in range(4):
            if s.hands[other] & DOUBLE_SIX != NO_TILES:
                s.leader = other
    s.turn = s.leader


@kernel
def witnesses(s):
    """Return the seats that see the next outcome of chance, as bits: the seat that is dealt a tile, or all (-1) when the lead is drawn."""
    return -1 if s.stage == DRAWING else 1 << int(s.turn)


@kernel
def progress(s):
    """Return the share of the tiles that have been laid in this round."""
    if s.stage == FINISHED:
        return 1.0
    return popcount(s.played[0] | s.played[1] | s.played[2] | s.played[3]) / N_TILES


@kernel
def scores(s, out):
    """Write each seat's score: its team's points (puerto_rico), the others' penalties minus its own (openspiel), or minus its own."""
    for seat in range(4):
        own, others = int(s.points[seat & 1]), int(s.points[1 - (seat & 1)])
        out[seat] = own if s.rules == PUERTO_RICO else others - own if s.rules == OPENSPIEL else -own


@kernel
def standings(s, out):
    """Write the scores, by which seats are ranked."""
    scores(s, out)
