"""What a game that has ended is worth to each seat: `reward="rank"`, `"margin"` or `"score"`.

Seats of one team get the same. A game that was broken off (truncated) is worth nothing to anybody: it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable

from kdenv.core.table import Table


def rank_rewards(table: Table) -> list[float]:
    """+1 for a sole win, -1 / (teams - 1) for not winning; winners who tie share, so that the sum over teams is 0.

    With T teams of which w win together, winning is worth (T / w - 1) / (T - 1): if all tie, nothing.
    """
    teams = table.game.teams(table.players)
    if teams == 1:
        return [0.0] * table.players
    standings = table.standings()
    best = max(standings)
    share = teams / standings[:teams].count(best)
    return [((share if standing == best else 0.0) - 1) / (teams - 1) for standing in standings]


def margin_rewards(table: Table) -> list[float]:
    """Own points minus those of the best other team, divided by the game's margin_scale."""
    teams = table.game.teams(table.players)
    scores = table.scores()
    best_other = [max(scores[:team] + scores[team + 1 : teams], default=0) for team in range(teams)]
    return [(score - best_other[seat % teams]) / table.game.margin_scale for seat, score in enumerate(scores)]


def score_rewards(table: Table) -> list[float]:
    """Own points, divided by the game's margin_scale."""
    return [score / table.game.margin_scale for score in table.scores()]


def forfeit(table: Table, seat: int) -> list[float]:
    """What an illegal action costs, whatever the option says: -1 for the team of the seat, shared out to the others."""
    teams = table.game.teams(table.players)
    return [-1.0 if other % teams == seat % teams else 1 / (teams - 1) for other in range(table.players)]


REWARDS: dict[str, Callable[[Table], list[float]]] = {"rank": rank_rewards, "margin": margin_rewards, "score": score_rewards}


def final_rewards(table: Table, kind: str) -> list[float]:
    """The rewards of a game that is over."""
    return [0.0] * table.players if is_truncated(table) else REWARDS[kind](table)


def is_truncated(table: Table) -> bool:
    """Whether the game, being over, was broken off and not ended by its rules."""
    return table.game.truncated is not None and bool(table.game.truncated(table.states, 0))
