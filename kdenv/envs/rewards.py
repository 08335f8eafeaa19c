"""The rewards of a finished game, one per seat: `reward="rank"`, `"margin"` or `"score"`.

Seats of one team get the same reward. A game that a limit ended (truncated) is undecided, so every reward is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from kdenv.core.table import Table


def rank_rewards(table: Table) -> list[float]:
    """+1 for a sole win, -1 / (teams - 1) for not winning. Winners who tie get equal shares. The sum over teams is 0.

    With T teams of which w win together, winning is worth (T / w - 1) / (T - 1). If all teams tie, that is 0.
    """
    teams = table.game.teams(table.players)
    if teams == 1:
        return [0.0] * table.players
    standings = table.standings()
    best = max(standings)
    share = teams / standings[:teams].count(best)
    return [((share if standing == best else 0.0) - 1) / (teams - 1) for standing in standings]


def margin_rewards(table: Table) -> list[float]:
    """The points of each seat minus those of the best other team, divided by the game's margin_scale."""
    teams = table.game.teams(table.players)
    scores = table.scores()
    best_other = [max(scores[:team] + scores[team + 1 : teams], default=0) for team in range(teams)]
    return [(score - best_other[seat % teams]) / table.game.margin_scale for seat, score in enumerate(scores)]


def score_rewards(table: Table) -> list[float]:
    """The points of each seat, divided by the game's margin_scale."""
    return [score / table.game.margin_scale for score in table.scores()]


def forfeit(table: Table, seat: int) -> list[float]:
    """The rewards after an illegal action, for any reward=: -1 for the team of the seat, and +1 divided among the other teams."""
    teams = table.game.teams(table.players)
    return [-1.0 if other % teams == seat % teams else 1 / (teams - 1) for other in range(table.players)]


REWARDS: dict[str, Callable[[Table], list[float]]] = {"rank": rank_rewards, "margin": margin_rewards, "score": score_rewards}


def final_rewards(table: Table, kind: str) -> list[float]:
    """The rewards of a game that is over; all are 0 if a limit ended it."""
    return [0.0] * table.players if is_truncated(table) else REWARDS[kind](table)


def is_truncated(table: Table) -> bool:
    """Whether a limit, and not the rules, ended this game, which must be over."""
    return table.game.truncated is not None and bool(table.game.truncated(table.states, 0))
