"""Carcassonne: 2 to 5 players lay tiles and put meeples on them. README.md has the rules as implemented."""

from kdenv.core.game import Game, Option
from kdenv.core.questions import Knowledge
from kdenv.games.carcassonne import drawing, encoding, heuristics, notation, rules
from kdenv.games.carcassonne.match_columns import DETAILS
from kdenv.games.carcassonne.strongest import STRONGEST
from kdenv.games.carcassonne.tables import N_TYPES

__all__ = ["GAME"]

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
