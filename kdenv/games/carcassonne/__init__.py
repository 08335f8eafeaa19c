"""Carcassonne: 2 to 5 players lay tiles and put meeples on them. README.md has the rules as implemented."""

from kdenv.core.game import Game, Option
from kdenv.core.questions import Knowledge, Measured
from kdenv.games.carcassonne import drawing, encoding, heuristics, notation, rules
from kdenv.games.carcassonne.match_columns import DETAILS
from kdenv.games.carcassonne.tables import N_TYPES

__all__ = ["GAME"]

_NETWORK = "learned(carcassonne-prospects)"
_BROKEN_OFF = f"playout=greedy, leaf={_NETWORK}, turns=6"
_SEARCH = f"mce({_BROKEN_OFF}, prior={_NETWORK}, widest=16, score=goal, sampling=halving, common=yes, seconds={{seconds}})"

# The policies behind `strongest`, from these seconds per decision on; README.md has the matches that chose them.
# Of the rows of a budget those with a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(0.1, _SEARCH),
    Measured(0.1, "mcts(seconds={seconds})"),
    Measured(0.002, _SEARCH),
    Measured(0, _NETWORK),
    Measured(0, "ppo(carcassonne-ppo)"),
    Measured(0, "greedy"),
)

GAME = Game(
    name="carcassonne",
    title="Carcassonne",
    room=(rules,),
    players=(2, 3, 4, 5),
    options=(
        Option(
            "unplaceable",
            "return",
            "a drawn tile that fits nowhere goes back to the bag (return) or out of the game (discard, the printed rule)",
            ("return", "discard"),
        ),
    ),
    notation=notation,
    drawing=drawing,
    encodings=encoding.ENCODINGS,
    n_actions=lambda players, variant: rules.N_ACTIONS,
    max_legal=600,
    max_turns=6000,
    max_chances=N_TYPES,
    knowledge=Knowledge(
        players=heuristics.RULE_PLAYERS, greedy="greedy", evaluators=heuristics.EVALUATORS, orders=heuristics.ORDERS, strongest=STRONGEST
    ),
    most_decisions=2,
    open_information=True,
    details=DETAILS,
)
