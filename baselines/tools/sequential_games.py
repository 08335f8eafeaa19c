"""Prints the deals that a comparison needs, beside a test of a fixed size with the same errors. The table is in kdenv/arena/README.md.

    python -m baselines.tools.sequential_games 1000     # comparisons of each row

The differences of the deals are drawn from a normal distribution. Its standard deviation is 5 times the smallest difference of interest.
The test of a fixed size is the usual one, planned to find the smallest difference with the same error of 5 % of both kinds.
"""

import sys
from collections import Counter
from math import ceil, sqrt

import numpy as np

from kdenv.arena import Comparison, Match, Verdict

SPREAD, ERROR = 5.0, 0.05
Z_TWO_SIDED, Z_POWER = 1.959964, 1.644854  # of an error of 5 % on two sides, and of one in 20 missed
FIXED = ceil(((Z_TWO_SIDED + Z_POWER) * SPREAD) ** 2)
SMALLEST = 1.0
MATCH = Match("kingdomino", ["full_greedy", "gprd"], games=1)


def right(truth: float) -> set[Verdict]:
    """The verdicts that are right for this true difference."""
    found = {Verdict.STRONGER} if truth > 0 else {Verdict.WEAKER} if truth < 0 else set()
    return found | ({Verdict.CLOSE} if abs(truth) < SMALLEST else set())


def one(truth: float, rng: np.random.Generator) -> Comparison:
    """A comparison that ends at its verdict."""
    comparison = Comparison(MATCH, error=ERROR, smallest=SMALLEST)
    while not comparison.is_known:
        for difference in rng.normal(truth, SPREAD, 100).tolist():
            comparison.add_deal(difference, 0.0)
            if comparison.is_known:
                break
    return comparison


def main(comparisons: int) -> None:
    """Print the table."""
    print("| true difference | fixed size | median | mean | 90 % need at most | wrong | stronger | close |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(14)
    for truth in (0.0, 0.5, 1.0, 1.5, 2.0, 4.0):
        found = [one(truth, rng) for _ in range(comparisons)]
        deals = [each.deals for each in found]
        verdicts = Counter(each.verdict for each in found)
        wrong = sum(count for verdict, count in verdicts.items() if verdict not in right(truth)) / comparisons
        finds = 100 * verdicts[Verdict.STRONGER] / comparisons
        close = 100 * verdicts[Verdict.CLOSE] / comparisons
        mean = f"{np.mean(deals):.0f} ± {1.96 * np.std(deals) / sqrt(comparisons):.0f}"
        counts = f"{np.median(deals):.0f} | {mean} | {np.quantile(deals, 0.9):.0f}"
        print(f"| {truth:g} | {FIXED} | {counts} | {wrong * 100:.1f} % | {finds:.1f} % | {close:.1f} % |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
