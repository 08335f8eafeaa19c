"""Do those meet who should, and no more than they should?"""

from collections import Counter
from itertools import combinations

import pytest

from kdenv.arena.pairings import Table, even_tables, most_meetings, neighbours


def everyone(one: int, other: int) -> bool:
    return True


def meetings(tables: list[Table]) -> Counter[tuple[int, ...]]:
    return Counter(pair for table in tables for pair in combinations(table, 2))


def test_tables_of_two_are_all_pairs_once() -> None:
    assert sorted(even_tables(7, 2, 1, everyone, [])) == list(combinations(range(7), 2))


@pytest.mark.parametrize(
    "policies, teams, times", [(4, 4, 1), (5, 4, 1), (8, 3, 1), (9, 3, 1), (13, 4, 1), (20, 4, 3), (7, 3, 5), (12, 5, 2)]
)
def test_everyone_meets_everyone_evenly_at_few_tables(policies: int, teams: int, times: int) -> None:
    tables = even_tables(policies, teams, times, everyone, [])
    met = meetings(tables)
    played = Counter(policy for table in tables for policy in table)
    assert len(set(tables)) == len(tables)
    assert all(len(set(table)) == teams and list(table) == sorted(table) for table in tables)
    assert min(met[pair] for pair in combinations(range(policies), 2)) == times
    assert max(played.values()) - min(played.values()) <= 3
    pairs = policies * (policies - 1) * times / (teams * (teams - 1))  # no fewer tables are possible
    assert len(tables) <= 1.5 * pairs + 2


def test_all_tables_there_are_if_everyone_is_to_meet_as_often_as_possible() -> None:
    assert most_meetings(6, 3) == 4
    assert sorted(even_tables(6, 3, 4, everyone, [])) == list(combinations(range(6), 3))


def test_one_more_policy_adds_only_tables_with_it() -> None:
    tables = even_tables(9, 3, 1, everyone, [])
    more = even_tables(10, 3, 1, everyone, tables)
    assert set(more) > set(tables)
    assert all(9 in table for table in set(more) - set(tables))


def test_an_interrupted_league_goes_on_with_the_same_tables() -> None:
    tables = even_tables(13, 4, 2, everyone, [])
    for played in (1, 7, len(tables) - 1):
        assert set(even_tables(13, 4, 2, everyone, tables[:played])) == set(tables)


def test_in_a_gauntlet_only_challengers_need_to_meet() -> None:
    def is_wanted(one: int, other: int) -> bool:
        return 3 in (one, other)

    assert sorted(even_tables(6, 2, 1, is_wanted, [(0, 1)])) == [(0, 3), (1, 3), (2, 3), (3, 4), (3, 5)]
    of_three = even_tables(7, 3, 1, is_wanted, [])
    assert len(of_three) == 3
    assert all(3 in table for table in of_three)


def test_a_swiss_round_seats_neighbours() -> None:
    assert neighbours([4, 2, 0, 1, 3, 5], 2, []) == [(2, 4), (0, 1), (3, 5)]


def test_nobody_meets_twice_and_everyone_sits_out_in_turn() -> None:
    drawn: list[Table] = []
    for number in range(6):
        tables = neighbours([number, *(each for each in range(7) if each != number)], 2, drawn)
        assert len(tables) == 3
        drawn += tables
    assert max(meetings(drawn).values()) == 1
    played = Counter(policy for table in drawn for policy in table)
    assert max(played.values()) - min(played.values()) <= 1


def test_whoever_finds_no_table_sits_out() -> None:
    assert neighbours([0, 1, 2], 2, [(0, 1), (0, 2), (1, 2)]) == []


def test_a_swiss_round_of_three_prefers_those_who_have_not_met() -> None:
    tables = neighbours(list(range(9)), 3, [(0, 1, 2), (3, 4, 5), (6, 7, 8)])
    assert sorted(policy for table in tables for policy in table) == list(range(9))
    assert max(meetings([*tables, (0, 1, 2), (3, 4, 5), (6, 7, 8)]).values()) == 1
