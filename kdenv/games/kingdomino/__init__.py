"""Kingdomino: 2 to 4 kings pick dominoes and build their kingdoms. README.md has the rules as implemented."""

from kdenv.core.errors import BadOption, shown
from kdenv.core.game import Game, Option, Variant
from kdenv.core.parsing import number_in
from kdenv.core.questions import Knowledge, Measured
from kdenv.games.kingdomino import best_turns, drawing, encoding, heuristics, notation, placements, rules
from kdenv.games.kingdomino.match_columns import DETAILS
from kdenv.games.kingdomino.tables import DOMINOES, DOMINOES_USED, KINGS, N_DOMINOES, TERRAINS

# DOMINOES and TERRAINS are public because studies of the printed dominoes need them (baselines/papers/wong_kang.py).
__all__ = ["DOMINOES", "GAME", "TERRAINS"]


def _dominoes_used(value: object, players: int) -> list[int]:
    """The integers of the option `dominoes`: the number in the game. None means the usual number for these players."""
    if value is None or value == "None":
        return [DOMINOES_USED[players]]
    kings = KINGS[players]
    number = number_in(shown(value), kings, N_DOMINOES)  # str() would refuse numbers of more than 4,300 digits
    if number is None or number % kings:
        possible = f"a multiple of {kings} up to {N_DOMINOES}"
        raise BadOption(f"dominoes={shown(value)} is not possible with {players} players; it may be {possible}")
    return [number]


def _size(variant: Variant) -> int:
    return int(variant[rules.V_SIZE])


_SEARCH = "mce(playout=full_greedy, {}, sampling=halving, common=yes, seconds={{seconds}})"

# The policies behind `strongest`, from these seconds per decision on; README.md has the matches that chose them.
# Of the rows of a budget those with a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(0.001, _SEARCH.format("score=goal, prior=learned(kingdomino), widest=12")),
    Measured(0.001, _SEARCH.format("score=margin")),
    Measured(0, "learned(kingdomino)"),
    Measured(0, "full_greedy"),
)

GAME = Game(
    name="kingdomino",
    title="Kingdomino",
    room=(rules,),
    players=(4, 2, 3),
    options=(
        Option("size", 5, "the kingdom is at most size x size", (5, 3, 7)),
        Option(
            "dominoes",
            None,
            "dominoes in the game: 24, 36 or 48 for 2, 3 or 4 players unless given",
            encode=_dominoes_used,
            decode=lambda integers: integers[0],
        ),
        Option("middle", True, "10 points for a castle in the middle", (True, False)),
        Option("harmony", True, "5 points for a complete kingdom", (True, False)),
        Option("tiebreak", "shared", "equal points share the place, or go by largest area, then crowns", ("shared", "official")),
    ),
    notation=notation,
    drawing=drawing,
    encodings=encoding.ENCODINGS,
    training_encoding="prospects",
    n_actions=lambda players, variant: int(placements.discard_action(_size(variant))) + 5,
    max_legal=best_turns.MAX_LEGAL,
    max_turns=best_turns.MAX_TURNS,
    max_chances=N_DOMINOES,
    knowledge=Knowledge(players=heuristics.RULE_PLAYERS, greedy="full_greedy", scratch=best_turns.SCRATCH_SIZE, strongest=STRONGEST),
    most_decisions=2,
    open_information=True,
    details=DETAILS,
)
