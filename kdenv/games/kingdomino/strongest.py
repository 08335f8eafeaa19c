"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

# The rows of a budget that have a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(
        0.002,
        "mce(playout=full_greedy, score=goal, sampling=halving, common=yes, prior=learned(kingdomino), widest=12, seconds={seconds})",
    ),
    Measured(0.002, "mce(playout=full_greedy, score=margin, sampling=halving, common=yes, seconds={seconds})"),
    Measured(0, "learned(kingdomino)"),
    Measured(0, "full_greedy"),
)
