"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

_NETWORK = "learned(dominion)"
_BROKEN_OFF = f"playout={_NETWORK}, leaf={_NETWORK}, turns=12"
_SEARCH = f"mce({_BROKEN_OFF}, prior={_NETWORK}, score=goal, sampling=halving, common=yes, seconds={{seconds}})"

# The network was trained on the first test bed. The rows without it are for other kingdoms.
STRONGEST = (
    Measured(0.01, _SEARCH),
    Measured(0.01, "ucb_orig(seconds={seconds})"),
    Measured(0.005, _SEARCH),
    Measured(0, _NETWORK),
    Measured(0, "double_witch"),
    Measured(0, "big_money"),
)
