"""The dominoes paper (DominAI 2016): what its tables need besides matches."""

from __future__ import annotations

from baselines.papers.matches import seed_of
from kdenv.arena import Match, Result, play

_ROUNDS = 20_000


def team_0_wins(*, seed: int) -> float:
    """In % of rounds, how often team 0 wins if all four seats are greedy, by the scorer of the authors' program."""
    options = {"rules": "dominai_code", "mode": "round", "lead": "drawn"}
    match, results = Match("dominoes", ["greedy"] * 4, _ROUNDS, seed=seed_of(seed, "team_0_wins"), options=options), list[Result]()
    play(match, on_result=results.append, processes=1)
    return 100 * sum(result.wins[match.seats(match.find(result.number)[1])[0]] == 1 for result in results) / len(results)
