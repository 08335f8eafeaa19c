"""The rule-based players of the 2018 paper: FULL GREEDY, and GPRD (greedy placement, random draft).

Each player lists its best turns and chooses one of them at random. The best turns are:

1. In the first two rounds: any placement, and a pick that has the most crowns on one square. The paper's programs do this; its text
   lets GPRD pick at random from the first round on (opening=random).
2. Later: the turns that lead to the most points. FULL GREEDY looks at every turn followed by every placement of the picked domino
   (best_turns.py), GPRD at every turn alone.
3. Tidy kingdoms come before all others: if a turn leads to a tidy kingdom, only such turns are compared by points. A kingdom is tidy
   if it lies within the box around the castle and has no hole in it.
4. If no picked domino would fit after any turn, as always in the last round, FULL GREEDY takes any turn, as in the paper. With
   `repaired`, it decides as GPRD does.
"""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.fields import Field
from kdenv.core.questions import RulePlayer, plays
from kdenv.core.turns import packed, then
from kdenv.games.kingdomino.best_turns import TURNS, all_turns, best_turns
from kdenv.games.kingdomino.placements import pick_action
from kdenv.games.kingdomino.rules import NOBODY, PICKING, legal
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B


class Greedy(NamedTuple):
    """A player that takes the turns with the most points and breaks ties at random. All fields are 0 or 1."""

    looks_ahead: int  # count points after the placement of the picked domino, not right after the turn
    repaired: int  # decide as without looks_ahead where no picked domino would fit, not at random as the paper's program does
    by_crowns: int  # pick by crowns in the first two rounds, and place at random there


@plays(Greedy)
@kernel
def _choose_greedily(player, states, k, out, rng):
    return out[TURNS + below(rng, greedy_turns(states[k], player.looks_ahead, player.repaired, player.by_crowns, out))]


@kernel
def greedy_turns(s, looks_ahead, repaired, by_crowns, out):
    """Write the packed turns between which the player chooses to out, from index TURNS on. Returns their number."""
    if by_crowns and s.round <= 1 and s.round != s.n_drafts:
        return _turns_with_most_crowns(s, out)
    # Try four lists in turn until one has a turn: tidy and then all, with the picked domino placed, and then both without it.
    for with_pick in range(looks_ahead, -1, -1):
        if with_pick and s.round == s.n_drafts:  # nothing is picked in the last round
            continue
        if looks_ahead and not with_pick and not repaired:
            return all_turns(s, out)
        for tidy in range(1, -1, -1):
            n = best_turns(s, with_pick, tidy, out)
            if n > 0:
                return n
    return 0


@kernel
def _turns_with_most_crowns(s, out):
    """List every placement with every pick that has the most crowns on one square. Returns the number of turns."""
    most = -1
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY:
            most = max(most, _crowns_on_one_square(int(s.draft[slot])))
    n_actions = legal(s, out)
    n = 0
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY and _crowns_on_one_square(int(s.draft[slot])) == most:
            pick = pick_action(int(s.size), slot)
            if s.stage == PICKING:
                out[TURNS + n] = packed(pick)
                n += 1
            else:
                for i in range(n_actions):
                    out[TURNS + n] = then(out[i], pick)
                    n += 1
    return n


@kernel
def _crowns_on_one_square(domino):
    return max(int(CROWNS_A[domino]), int(CROWNS_B[domino]))


def _full_greedy(variant: str = "fixed") -> Greedy:
    Field("variant", choices=("fixed", "paper")).check(variant)
    return Greedy(looks_ahead=1, repaired=int(variant == "fixed"), by_crowns=1)


def _gprd(opening: str = "crowns") -> Greedy:
    Field("opening", choices=("crowns", "random")).check(opening)
    return Greedy(looks_ahead=0, repaired=1, by_crowns=int(opening == "crowns"))


RULE_PLAYERS = {
    "full_greedy": RulePlayer(
        _full_greedy,
        "the most points after this placement and that of the domino picked; variant=paper takes any turn when nothing picked would fit",
        "Gedda et al. 2018, FG",
    ),
    "gprd": RulePlayer(
        _gprd,
        "the most points after this placement; a random pick, in the first two rounds by crowns unless opening=random",
        "Gedda et al. 2018, GPRD",
    ),
}
