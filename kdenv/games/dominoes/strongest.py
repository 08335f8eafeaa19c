"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

# The rows of a budget that have a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(0.002, "ismcts(rivals=greedy, doubt=0.03, playout=epsilon_greedy, seconds={seconds})"),
    Measured(0, "learned(dominoes)"),
    Measured(0, "greedy"),
)
