"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

_SEARCH = "mce(playout=full_greedy, {}, sampling=halving, common=yes, seconds={{seconds}})"

# The rows of a budget that have a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(0.002, _SEARCH.format("score=goal, prior=learned(kingdomino), widest=12")),
    Measured(0.002, _SEARCH.format("score=margin")),
    Measured(0, "learned(kingdomino)"),
    Measured(0, "full_greedy"),
)
