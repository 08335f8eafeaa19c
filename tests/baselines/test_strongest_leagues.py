"""The leagues that choose `strongest`: can all their policies play, and is the policy that was chosen among them?"""

from pathlib import Path

import pytest

from kdenv.arena import League, read_budget, read_league
from kdenv.arena.curve import takes_budget, with_budget
from kdenv.games import find_game
from kdenv.policies import Policy, Strongest, policy

FOLDER = Path(__file__).parents[2] / "baselines" / "search" / "strongest"
LEAGUES = sorted(FOLDER.glob("*.toml"))


def policies_of(league: League, time: str) -> list[Policy]:
    """The policies of the league, the searches with this budget."""
    assert not isinstance(league.policies, list)
    budget = read_budget(time)
    return [policy(with_budget(text, budget) if takes_budget(text) else text) for text in dict(league.policies).values()]


def test_every_game_with_a_table_of_strongest_policies_has_a_league() -> None:
    assert [path.stem for path in LEAGUES] == ["carcassonne", "dominion", "dominoes", "kingdomino"]


@pytest.mark.parametrize("path", LEAGUES, ids=lambda path: path.stem)
def test_all_policies_can_play_and_the_chosen_ones_are_among_them(path: Path) -> None:
    league = read_league(path)
    game = find_game(league.game)
    players, variant = game.variant(league.players, **league.options)
    assert league.budget is not None
    for each in policies_of(league, league.budget):
        each.needs(game, players, variant)
    for time, seconds in (("1ms", 0.001), ("10ms", 0.01), ("100ms", 0.1)):
        assert Strongest(seconds=seconds).best(game, players, variant) in policies_of(league, time)
