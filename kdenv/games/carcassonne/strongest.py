"""What the policy `strongest` stands for in this game; README.md tells the matches that chose these policies."""

from kdenv.core.questions import Measured

_NETWORK = "learned(carcassonne)"
_BROKEN_OFF = f"playout=greedy, leaf={_NETWORK}, turns=6"
_SEARCH = f"mce({_BROKEN_OFF}, prior={_NETWORK}, widest=16, score=goal, sampling=halving, common=yes, seconds={{seconds}})"

# The rows of a budget that have a network come first; the others are for tables that it was not trained for.
STRONGEST = (
    Measured(0.1, _SEARCH),
    Measured(0.1, "mcts(seconds={seconds})"),
    Measured(0.002, _SEARCH),
    Measured(0, _NETWORK),
    Measured(0, "greedy"),
)
