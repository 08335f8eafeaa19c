"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

# The network was trained on the first test bed, and no search that was tried there is stronger. The others are for other kingdoms.
STRONGEST = (
    Measured(0.01, "learned(dominion)"),
    Measured(0.01, "ucb_orig(seconds={seconds})"),
    Measured(0, "learned(dominion)"),
    Measured(0, "double_witch"),
    Measured(0, "big_money"),
)
