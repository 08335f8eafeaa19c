"""The leagues that choose `strongest`: can all their policies play, and is the policy that was chosen among them?"""

from pathlib import Path

import pytest

from kdenv.arena import League, read_budget, read_league
from kdenv.arena.curve import takes_budget, with_budget
from kdenv.games import find_game
from kdenv.policies import Policy, Strongest, policy

FOLDER = Path(__file__).parents[2] / "baselines" / "search" / "strongest"
LEAGUES = sorted(FOLDER.glob("*.toml"))
GAMES = ("carcassonne", "dominion", "dominoes", "kingdomino")
TIMES = ("1ms", "10ms", "0.1s", "1s")


def policies_of(league: League) -> list[Policy]:
    """The policies of the league, the searches with its budget."""
    assert not isinstance(league.policies, list)
    assert league.budget is not None
    budget = read_budget(league.budget)
    return [policy(with_budget(text, budget) if takes_budget(text) else text) for text in dict(league.policies).values()]


def test_every_game_has_a_league_for_each_time_and_one_for_another_table() -> None:
    names = {path.stem for path in LEAGUES}
    by_time = {f"{game}-{time}" for game in GAMES for time in TIMES}
    assert by_time <= names
    assert sorted(name.split("-")[0] for name in names - by_time) == list(GAMES)


@pytest.mark.parametrize("path", LEAGUES, ids=lambda path: path.stem)
def test_all_policies_can_play_and_the_chosen_one_is_among_them(path: Path) -> None:
    league = read_league(path)
    game = find_game(league.game)
    players, variant = game.variant(league.players, **league.options)
    known = policies_of(league)
    for each in known:
        each.needs(game, players, variant)
    assert league.budget is not None
    seconds = read_budget(league.budget).seconds
    assert seconds is not None
    assert Strongest(seconds=seconds).best(game, players, variant) in known
