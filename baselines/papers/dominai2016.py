"""The dominoes paper (DominAI 2016): what its tables need besides matches."""

from __future__ import annotations

from kdenv.arena import Match, Result, play

_ROUNDS = 20_000


def team_0_wins() -> float:
    """In % of rounds, how often team 0 wins if all four seats are greedy, by the scorer of the authors' program (seed 2026)."""
    options = {"rules": "dominai_code", "mode": "round", "lead": "drawn"}
    match, results = Match("dominoes", ["greedy"] * 4, _ROUNDS, seed=2026, options=options), list[Result]()
    play(match, on_result=results.append, processes=1)
    return 100 * sum(result.wins[match.seats(match.find(result.number)[1])[0]] == 1 for result in results) / len(results)
