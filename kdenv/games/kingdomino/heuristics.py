"""The rule-based players of the 2018 paper: FULL GREEDY, and GPRD (greedy placement, random draft).

Each player lists the turns that it likes equally well, and chooses one of them at random. It likes:

1. In the first round, and with the first placement: any placement, and a pick that has the most crowns on one square. So do
   the paper's programs; its text lets GPRD pick at random from the first round on (opening=random).
2. Later, the turns that lead to the most points. FULL GREEDY looks at every turn followed by every placement of the picked
   domino (best_turns.py), GPRD at every turn alone.
3. Tidy kingdoms come before all others: if any is tidy, only these are compared by points. A kingdom is tidy if it lies within
   the box around the castle and has no hole in it.
4. If no picked domino would fit after any turn (this is always so in the last round), FULL GREEDY takes any turn, as in the
   paper. With `repaired`, it decides as GPRD does.
"""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.errors import BadOption
from kdenv.core.questions import RulePlayer, plays
from kdenv.core.turns import packed, then
from kdenv.games.kingdomino.best_turns import TURNS, all_turns, best_turns
from kdenv.games.kingdomino.placements import pick_action
from kdenv.games.kingdomino.rules import NOBODY, PICKING, legal
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B


class Greedy(NamedTuple):
    """A player that wants the most points and breaks ties at random.

    looks_ahead: 1 counts points after the placement of the picked domino, 0 right after the turn, whatever is picked.
    repaired: 1 decides as looks_ahead=0 does where no picked domino would fit; 0 takes any turn there, as the paper's program does.
    by_crowns: 1 picks by crowns in the first two rounds, and places there at random; 0 decides as later.
    """

    looks_ahead: int
    repaired: int
    by_crowns: int


@plays(Greedy)
@kernel
def _choose_greedily(player, states, k, out, rng):
    return out[TURNS + below(rng, greedy_turns(states[k], player.looks_ahead, player.repaired, player.by_crowns, out))]


@kernel
def greedy_turns(s, looks_ahead, repaired, by_crowns, out):
    """Write the packed turns between which the player chooses to out, from index TURNS on; return how many."""
    if by_crowns and s.round <= 1 and s.round != s.n_drafts:
        return _turns_with_most_crowns(s, out)
    # The first of these that finds a turn decides: with the picked domino placed, tidy, then untidy; without it (if repaired), the same.
    for with_pick in range(looks_ahead, -1, -1):
        if with_pick and s.round == s.n_drafts:
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
    """List every placement with every pick that has the most crowns on one square; return how many turns these are."""
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
    if variant not in ("fixed", "paper"):
        raise BadOption(f"variant={variant} is not possible; variant may be fixed or paper")
    return Greedy(looks_ahead=1, repaired=int(variant == "fixed"), by_crowns=1)


def _gprd(opening: str = "crowns") -> Greedy:
    if opening not in ("crowns", "random"):
        raise BadOption(f"opening={opening} is not possible; opening may be crowns or random")
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
