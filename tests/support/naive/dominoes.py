"""The rules of four-handed team dominoes from the rule page, in slow and plain Python.

This is the oracle the compiled engine is compared with: it shares no code with it and prefers the obvious to the
fast. A tile is a pair (i, j) with i <= j, a hand a set of tiles, the ends of the line a pair of pips (None before the
opening). Partners are seats 0 and 2 (team 0) and seats 1 and 3 (team 1). Which deals agree with what was seen is
left to `dominoes_deals`.

Where the page is silent or leaves a choice, this is how it was read:

First lead. The holder of 6-6 leads the first round and must open with it. `force_66=False` frees the tile, not the
lead: the holder still leads, with any tile, so that everybody then knows where the 6-6 is. `mode="round"` is the first
round of a match and nothing more. `force_66=True` gives the lead to the holder in every preset.

Blocked. A round that ends by passes is scored by the pips in hand, also when all hands are full (only with calls).

`dominai_code`. Rounds end after three passes, even if the fourth player could play. The authors' program (public as
angeris/DominAI; its file smart_team.py) first checks team 0, then team 1. A team wins if one of its hands has no pips
left, or if it has fewer pips than the other. So team 0 also wins when team 1 went out and kept more pips, and a hand of
just 0-0 counts as gone out. The program counts rounds, not points; here the losers add their own pips, as in `paper`
(always more than nothing, so scores show who lost). The page changes nothing else, so the lead is that of `paper`,
though their program let seat r mod 4 lead round r with any tile.

`openspiel`. Seat 0 leads the first round, with any tile. The team with more pips at the end loses them to the other,
even if it was the team that went out; going out only ends the round. So does python_team_dominoes of OpenSpiel 2.0.2,
run to find out. It has single rounds only, and skips a player who cannot play instead of asking for a pass: its rounds
end when nobody can play, ours four passes later. In a match the lead rotates, and the losers collect points up to 100
as in `paper`. The score of a team is the points of the others minus its own.

`puerto_rico`. The winners take the pips of all four hands. The seat that went out leads next. After a blocked round
it is the seat of the winning team with fewer pips in hand (equal: who comes first from this round's leader on). After
a round that nobody won, the lead rotates as in `paper`.

Calls. With `calls=True` a pass is always legal, except to the holder of 6-6 who must open with it; if the leader
passes, the next seat opens. At its turn a seat may call if any other seat, its partner included, has passed since
its own last turn in this round. A call names nobody: it is right if any of those passes was unjust (made holding a
tile that fitted then), and the first such pass counts. A call ends the round and costs the offender's team 50
(wrong: the caller's), whatever the pips. In `puerto_rico` the other team gains 50, and the caller leads next if that
is its team, else the seat after it. The pass that blocks a round ends it before anyone can call.
"""

from collections.abc import Callable
from typing import NamedTuple

TILES = [(i, j) for i in range(7) for j in range(i, 7)]  # the place in this list is the outcome of a deal
DOUBLE_SIX = (6, 6)
HAND_SIZE = 7
PASS, CALL = 49, 50
PRICE_OF_A_CALL = 50
NOBODY = -1


# --- Tiles and teams -------------------------------------------------------------------------------------------------


def play(covered, exposed):
    """The action that lays a tile with its `covered` pip on an open end, so that `exposed` becomes open."""
    return 7 * covered + exposed


def tile_of(action):
    """The tile laid by a play."""
    covered, exposed = divmod(action, 7)
    return min(covered, exposed), max(covered, exposed)


def other_half(tile, pip):
    """The pip a tile exposes when `pip` is covered; the same again for a double."""
    i, j = tile
    return j if pip == i else i


def fits(tile, ends):
    """May this tile be laid? Any tile may open."""
    return ends is None or ends[0] in tile or ends[1] in tile


def pips(*hands):
    """All pips in these hands."""
    return sum(i + j for hand in hands for i, j in hand)


def team_of(seat):
    return seat % 2


def hands_of(team, hands):
    """The two hands of a team."""
    return hands[team], hands[team + 2]


def next_seat(seat):
    return (seat + 1) % 4


# --- Who lost a round that ended without a call ----------------------------------------------------------------------


def with_more_pips(hands):
    """The team with more pips in hand, or nobody."""
    ours, theirs = (pips(*hands_of(team, hands)) for team in (0, 1))
    if ours == theirs:
        return NOBODY
    return 0 if ours > theirs else 1


def gone_out(hands):
    """The seat with an empty hand, or nobody."""
    for seat in range(4):
        if not hands[seat]:
            return seat
    return NOBODY


def loser_by_the_rules(hands):
    """The team that did not go out; if the round was blocked, the team with more pips."""
    seat = gone_out(hands)
    return with_more_pips(hands) if seat == NOBODY else team_of(next_seat(seat))


def loser_by_the_program(hands):
    """The loser by the authors' program: team 0 wins by no pips in a hand or by fewer pips; only then team 1 likewise."""
    for team in (0, 1):
        no_pips_left = any(pips(hand) == 0 for hand in hands_of(team, hands))
        if no_pips_left or with_more_pips(hands) == 1 - team:
            return 1 - team
    return NOBODY


# --- Presets ---------------------------------------------------------------------------------------------------------


class Preset(NamedTuple):
    """The differences of the four sets of rules."""

    force_66: bool = True
    holder_of_66_leads: bool = True
    passes_to_block: int = 4
    loser: Callable = loser_by_the_rules
    winners_take_all: bool = False
    winner_leads_next: bool = False
    zero_sum: bool = False
    target: int = 100


PRESETS = {
    "paper": Preset(),
    "dominai_code": Preset(passes_to_block=3, loser=loser_by_the_program),
    "openspiel": Preset(force_66=False, holder_of_66_leads=False, loser=with_more_pips, zero_sum=True),
    "puerto_rico": Preset(winners_take_all=True, winner_leads_next=True, target=200),
}


# --- The game --------------------------------------------------------------------------------------------------------


class Dominoes:
    """A round or a match of team dominoes: the position, what is legal, and what follows."""

    def __init__(self, rules="paper", mode="match", calls=False, force_66=None):
        if rules not in PRESETS:
            raise ValueError(f"no rules are called {rules!r}; there are {', '.join(PRESETS)}")
        if mode not in ("match", "round"):
            raise ValueError(f"mode is 'match' or 'round', not {mode!r}")
        self.preset = PRESETS[rules]
        self.mode = mode
        self.calls = calls
        self.force_66 = self.preset.force_66 if force_66 is None else force_66
        self.points = [0, 0]  # of each team; penalties, except where winners take all
        self.round = 0
        self.leader = 0  # where the holder of 6-6 leads first, not known before the first deal
        self.over = False
        self._begin_round()

    def _begin_round(self):
        self.pile = list(TILES)
        self.hands = [set(), set(), set(), set()]
        self.ends = None
        self.turn = self.leader
        self.passes_in_a_row = 0
        self.history = []  # every turn of this round as (seat, action)
        self.unjust = []  # the same turns: was it a pass with a tile that fitted?

    def phase(self):
        """The next event: "chance" (a tile is dealt), "decide" (a player's turn) or "over"."""
        if self.over:
            return "over"
        return "chance" if self.pile else "decide"

    def seat(self):
        """The seat to move. It means nothing while dealing or when all is over."""
        return self.turn

    # --- Dealing ---

    def chances(self):
        """The tiles that may be dealt next, each with weight 1: seven to seat 0, then to seat 1, 2 and 3."""
        if self.phase() != "chance":
            return {}
        return {TILES.index(tile): 1 for tile in self.pile}

    def apply_chance(self, outcome):
        """Deal this tile; the last one opens the round."""
        if outcome not in self.chances():
            raise ValueError(f"tile {outcome} cannot be dealt in {self}; it can be {list(self.chances())}")
        seat = (len(TILES) - len(self.pile)) // HAND_SIZE
        self.pile.remove(TILES[outcome])
        self.hands[seat].add(TILES[outcome])
        if not self.pile:
            self._settle_the_lead()

    def _settle_the_lead(self):
        if self._holder_of_66_leads():
            self.leader = next(seat for seat in range(4) if DOUBLE_SIX in self.hands[seat])
        self.turn = self.leader

    def _holder_of_66_leads(self):
        return self.round == 0 and (self.preset.holder_of_66_leads or self.force_66)

    def known_holder_of_66(self):
        """The seat that, by leading, shows all players that it was dealt the 6-6; None if the lead shows nothing."""
        return self.leader if self._holder_of_66_leads() and not self.pile else None

    # --- A turn ---

    def legal(self):
        """The legal actions, ascending; none unless a player is to decide."""
        if self.phase() != "decide":
            return []
        if self._must_open_with_66():
            return [play(6, 6)]
        actions = self._plays()
        if self.calls:
            actions.append(PASS)
            if self._may_call():
                actions.append(CALL)
        elif not actions:
            actions.append(PASS)
        return sorted(actions)

    def _must_open_with_66(self):
        return self.force_66 and self.round == 0 and not self.history

    def _plays(self):
        """Every tile of the player on every end it fits; equal ends are one end."""
        hand = self.hands[self.turn]
        if self.ends is None:
            return [play(i, j) for i, j in hand]
        return [play(end, other_half(tile, end)) for end in set(self.ends) for tile in hand if end in tile]

    def _may_call(self):
        """Has anyone passed since the player's own last turn, which was four turns ago?"""
        return any(action == PASS for _, action in self.history[-3:])

    def apply(self, action):
        """Carry out a turn: play, pass or call."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal in {self}; legal: {self.legal()}")
        could_play = any(fits(tile, self.ends) for tile in self.hands[self.turn])
        self.history.append((self.turn, action))
        self.unjust.append(action == PASS and could_play)
        if action == CALL:
            self._call()
        elif action == PASS:
            self._pass()
        else:
            self._lay(action)

    def _lay(self, action):
        covered, exposed = divmod(action, 7)
        self.hands[self.turn].remove(tile_of(action))
        if self.ends is None:
            self.ends = covered, exposed
        else:
            ends = list(self.ends)
            ends.remove(covered)
            self.ends = *ends, exposed
        self.passes_in_a_row = 0
        if self.hands[self.turn]:
            self.turn = next_seat(self.turn)
        else:
            self._count_pips()

    def _pass(self):
        self.passes_in_a_row += 1
        self.turn = next_seat(self.turn)
        if self.passes_in_a_row == self.preset.passes_to_block:
            self._count_pips()

    def _call(self):
        """End the round against the first seat that passed unjustly since the caller's last turn, or the caller."""
        caller = self.turn
        earlier_turns = list(zip(self.history, self.unjust, strict=True))[:-1]
        offenders = [seat for (seat, _), unjust in earlier_turns[-3:] if unjust]
        loser = team_of(offenders[0] if offenders else caller)
        winner_seat = caller if team_of(caller) != loser else next_seat(caller)
        self._end_round(loser, PRICE_OF_A_CALL, winner_seat)

    # --- The end of a round ---

    def _count_pips(self):
        """End the round by what is left in the hands."""
        loser = self.preset.loser(self.hands)
        if loser == NOBODY:
            self._end_round(NOBODY, 0, NOBODY)
            return
        counted = self.hands if self.preset.winners_take_all else hands_of(loser, self.hands)
        self._end_round(loser, pips(*counted), self._winner_seat(1 - loser))

    def _winner_seat(self, winners):
        """The seat that won the round for its team: it went out, or holds less than its partner."""
        seat = gone_out(self.hands)
        if seat != NOBODY:
            return seat
        from_the_leader_on = [(self.leader + k) % 4 for k in range(4)]
        partners = [seat for seat in from_the_leader_on if team_of(seat) == winners]
        return min(partners, key=lambda seat: pips(self.hands[seat]))

    def _end_round(self, loser, points, winner_seat):
        if loser != NOBODY:
            scorer = 1 - loser if self.preset.winners_take_all else loser
            self.points[scorer] += points
        self.over = self.mode == "round" or max(self.points) >= self.preset.target
        if self.over:
            return
        self.round += 1
        follow_winner = self.preset.winner_leads_next and winner_seat != NOBODY
        self.leader = winner_seat if follow_winner else next_seat(self.leader)
        self._begin_round()

    # --- Scores ---

    def scores(self):
        """Points of each seat so far, higher is better: penalties count as negative. Partners share."""
        by_team = [self._score(team) for team in (0, 1)]
        return [by_team[team_of(seat)] for seat in range(4)]

    def _score(self, team):
        own, others = self.points[team], self.points[1 - team]
        if self.preset.winners_take_all:
            return own
        return others - own if self.preset.zero_sum else -own

    def standings(self):
        """A number for each seat, higher is better: here just the scores."""
        return self.scores()

    def __str__(self):
        hands = " | ".join(" ".join(f"{i}-{j}" for i, j in sorted(hand)) for hand in self.hands)
        return f"round {self.round + 1}, ends {self.ends}, turn of seat {self.turn}, hands {hands}"
