"""The naive oracle of dominoes by the rule page, one fact a test, then whole rounds beside OpenSpiel.

Tiles are written as on the table: "3-5 0-0" is a hand, `lay("3-5")` covers a 3 and exposes a 5.
"""

import math
import random
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from naive.dominoes import CALL, HAND_SIZE, PASS, PRESETS, TILES, Dominoes, play, tile_of
from naive.dominoes_deals import (
    claims,
    consistent_deals,
    count,
    ends_before_each_turn,
    laid_by,
    marginals,
    passes_are_just,
    unseen,
)

# --- Notation --------------------------------------------------------------------------------------------------------


def tiles(text):
    """A hand, written "3-5 0-0", as a set of tiles."""
    return {tuple(sorted(map(int, tile.split("-")))) for tile in text.split()}


def lay(text):
    """The action that covers the first pip and exposes the second."""
    covered, exposed = map(int, text.split("-"))
    return play(covered, exposed)


def position(*hands, ends=None, turn=0, leader=0, **variant):
    """A later round of a match (so that 6-6 binds nobody) with these hands and ends, the given seat to play."""
    game = Dominoes(**variant)
    game.round, game.leader = 1, leader
    game.pile, game.hands = [], [tiles(hand) for hand in hands]
    game.ends = ends and tuple(map(int, ends.split("-")))
    game.turn = turn
    return game


def play_on(game, *actions):
    for action in actions:
        game.apply(action)
    return game


def deal(game, rng, first=()):
    """Deal the tiles `first`, then the others at random."""
    others = [tile for tile in TILES if tile not in first]
    rng.shuffle(others)
    for tile in [*first, *others]:
        game.apply_chance(TILES.index(tile))
    return game


def begun(seed=1, **variant):
    """A game just dealt."""
    return deal(Dominoes(**variant), random.Random(seed))


def greedy(game, rng):
    """A legal action with the most pips; ties at random, passes last."""
    weights = {action: sum(divmod(action, 7)) if action < PASS else -1 for action in game.legal()}
    return rng.choice([action for action, weight in weights.items() if weight == max(weights.values())])


# --- Dealing and leading ---------------------------------------------------------------------------------------------


def test_every_tile_is_as_likely_to_be_dealt():
    assert Dominoes().chances() == dict.fromkeys(range(28), 1)


def test_outcomes_count_from_0_0_over_0_1_to_6_6():
    assert (TILES[0], TILES[1], TILES[7], TILES[27]) == ((0, 0), (0, 1), (1, 1), (6, 6))


def test_the_first_seven_tiles_go_to_seat_0_and_the_last_seven_to_seat_3():
    game = Dominoes()
    for outcome in range(28):
        game.apply_chance(outcome)
    assert game.hands[0] == set(TILES[:7])
    assert game.hands[3] == set(TILES[21:])


def test_a_dealt_tile_is_not_dealt_again():
    game = Dominoes()
    game.apply_chance(5)
    assert 5 not in game.chances()
    with pytest.raises(ValueError, match="tile 5 cannot be dealt"):
        game.apply_chance(5)


@pytest.mark.parametrize("rules", ["paper", "dominai_code", "puerto_rico"])
@pytest.mark.parametrize("seed", range(5))
def test_the_holder_of_6_6_leads_the_first_round_and_must_open_with_it(rules, seed):
    game = begun(seed, rules=rules)
    assert (6, 6) in game.hands[game.seat()]
    assert game.legal() == [lay("6-6")]


def test_without_force_66_its_holder_still_leads_but_opens_with_any_tile():
    game = begun(force_66=False)
    assert (6, 6) in game.hands[game.seat()]
    assert game.legal() == sorted(play(i, j) for i, j in game.hands[game.seat()])


def test_openspiel_lets_seat_0_lead_with_any_tile():
    seeds = range(8)
    assert {begun(seed, rules="openspiel").seat() for seed in seeds} == {0}
    assert {len(begun(seed, rules="openspiel").legal()) for seed in seeds} == {7}


def test_force_66_gives_the_lead_to_its_holder_in_openspiel_too():
    game = begun(3, rules="openspiel", force_66=True)
    assert game.seat() != 0
    assert game.legal() == [lay("6-6")]


@pytest.mark.parametrize("rules", ["paper", "dominai_code", "openspiel"])
def test_the_lead_rotates_by_one_seat(rules):
    game = position("0-1", "1-1", "2-2", "3-3", ends="0-6", leader=2, rules=rules)
    deal(play_on(game, lay("0-1")), random.Random(1))
    assert game.seat() == 3


def test_later_rounds_open_with_any_tile():
    game = position("0-1", "1-1", "2-2", "3-3", ends="0-6", leader=2)
    deal(play_on(game, lay("0-1")), random.Random(1))
    assert len(game.legal()) == HAND_SIZE


# --- Actions ---------------------------------------------------------------------------------------------------------


def test_an_opening_tile_is_numbered_with_its_lower_pip_covered():
    game = position("3-5 6-6 0-2", "1-1", "2-2", "3-3")
    assert game.legal() == [7 * 0 + 2, 7 * 3 + 5, 7 * 6 + 6]


def test_an_opening_tile_exposes_both_its_pips():
    game = play_on(position("3-5 6-6", "1-1", "2-2", "3-3"), lay("3-5"))
    assert sorted(game.ends) == [3, 5]


def test_a_tile_that_fits_both_ends_is_two_actions():
    assert position("3-5", "1-1", "2-2", "0-0", ends="3-5").legal() == [7 * 3 + 5, 7 * 5 + 3]


def test_which_pip_is_covered_decides_what_is_left_open():
    hands = "3-5 0-6", "1-1", "2-2", "0-0"
    assert play_on(position(*hands, ends="3-5"), lay("3-5")).ends == (5, 5)
    assert play_on(position(*hands, ends="3-5"), lay("5-3")).ends == (3, 3)


def test_on_equal_ends_a_tile_is_one_action():
    assert position("3-5", "1-1", "2-2", "0-0", ends="3-3").legal() == [7 * 3 + 5]


def test_a_tile_on_equal_ends_covers_one_of_them():
    game = play_on(position("3-5 0-6", "1-1", "2-2", "0-0", ends="3-3"), lay("3-5"))
    assert sorted(game.ends) == [3, 5]


def test_a_double_covers_its_suit_once_and_leaves_it_open():
    game = position("3-3 0-6", "1-1", "2-2", "0-0", ends="3-5")
    assert game.legal() == [7 * 3 + 3]
    assert sorted(play_on(game, lay("3-3")).ends) == [3, 5]


def test_a_double_on_equal_ends_is_one_action():
    assert position("3-3", "1-1", "2-2", "0-0", ends="3-3").legal() == [7 * 3 + 3]


def test_a_player_passes_if_nothing_fits():
    assert position("1-2 4-4", "1-1", "2-2", "0-0", ends="3-5").legal() == [PASS]


def test_a_player_who_can_play_may_not_pass():
    game = position("1-2 3-4", "1-1", "2-2", "0-0", ends="3-5")
    assert PASS not in game.legal()
    with pytest.raises(ValueError, match="action 49 is not legal"):
        game.apply(PASS)


def test_the_turn_goes_to_the_next_seat_also_after_a_pass():
    game = play_on(position("1-2", "1-1", "2-2", "0-0", ends="3-5", turn=3), PASS)
    assert game.seat() == 0


# --- The end of a round ----------------------------------------------------------------------------------------------


def test_a_round_ends_when_a_hand_is_empty():
    game = play_on(position("0-1", "1-1", "2-2", "3-3", ends="0-6", mode="round"), lay("0-1"))
    assert game.phase() == "over"


def test_who_did_not_go_out_adds_the_pips_of_its_own_two_hands():
    game = play_on(position("0-1", "1-1", "6-6", "3-3", ends="0-6", mode="round"), lay("0-1"))
    assert game.scores() == [0, -8, 0, -8]


def test_a_round_is_blocked_after_four_passes_in_a_row():
    game = play_on(position("0-1", "1-1", "2-2", "0-0", ends="3-5", mode="round"), PASS, PASS, PASS)
    assert game.phase() == "decide"
    assert play_on(game, PASS).phase() == "over"


def test_passes_that_are_not_in_a_row_block_nothing():
    game = position("0-1", "1-1", "2-2", "3-4 0-0", ends="3-5", mode="round")
    play_on(game, PASS, PASS, PASS, lay("3-4"), PASS)
    assert game.phase() == "decide"


def test_dominai_code_blocks_after_three_passes_though_the_fourth_could_play():
    game = position("0-1", "1-1", "2-2", "3-4", ends="3-5", mode="round", rules="dominai_code")
    assert play_on(game, PASS, PASS, PASS).phase() == "over"


def blocked(*hands, **variant):
    """Four passes in a row with these hands, none of which has a 6."""
    return play_on(position(*hands, ends="6-6", **{"mode": "round", **variant}), *[PASS] * 4)


def test_if_blocked_the_team_with_more_pips_adds_its_own():
    assert blocked("0-1", "1-1", "2-2", "0-0").scores() == [-5, 0, -5, 0]


def test_if_blocked_with_equal_pips_nobody_scores():
    assert blocked("0-1", "1-1", "0-2", "0-1").scores() == [0, 0, 0, 0]


def test_in_openspiel_a_team_can_go_out_and_lose():
    hands = "0-1", "1-1", "6-6", "3-3"
    game = play_on(position(*hands, ends="0-6", mode="round", rules="openspiel"), lay("0-1"))
    assert game.scores() == [-12, 12, -12, 12]


def test_in_openspiel_the_losers_pips_change_hands():
    assert blocked("0-1", "1-1", "0-0", "2-2", rules="openspiel").scores() == [6, -6, 6, -6]


def test_dominai_code_has_team_0_win_by_fewer_pips_though_team_1_went_out():
    hands = "1-1", "0-1", "2-2", "6-6"
    game = play_on(position(*hands, ends="0-6", turn=1, mode="round", rules="dominai_code"), lay("0-1"))
    assert game.scores() == [0, -12, 0, -12]


def test_dominai_code_does_not_do_so_for_team_1():
    hands = "0-1", "1-1", "6-6", "2-2"
    game = play_on(position(*hands, ends="0-6", mode="round", rules="dominai_code"), lay("0-1"))
    assert game.scores() == [0, -6, 0, -6]


def test_dominai_code_takes_a_hand_of_just_0_0_for_an_empty_one():
    game = position("0-0", "1-1", "4-4", "0-1", ends="6-6", mode="round", rules="dominai_code")
    assert play_on(game, *[PASS] * 3).scores() == [0, -3, 0, -3]


def test_dominai_code_knows_ties():
    game = position("1-1", "0-1", "0-1", "0-2", ends="6-6", mode="round", rules="dominai_code")
    assert play_on(game, *[PASS] * 3).scores() == [0, 0, 0, 0]


def test_in_puerto_rico_the_winners_take_all_remaining_pips():
    hands = "0-1", "1-1", "6-6", "3-3"
    game = play_on(position(*hands, ends="0-6", mode="round", rules="puerto_rico"), lay("0-1"))
    assert game.scores() == [20, 0, 20, 0]


def test_in_puerto_rico_a_block_gives_all_pips_to_the_team_with_fewer():
    assert blocked("0-1", "1-1", "2-2", "0-0", rules="puerto_rico").scores() == [0, 7, 0, 7]


# --- A match ---------------------------------------------------------------------------------------------------------


def went_out_with(points, **variant):
    """Team 0 goes out while team 1, which has already collected this many points, holds 8."""
    game = position("0-1", "1-1", "2-2", "3-3", ends="0-6", **variant)
    game.points = [0, points]
    return play_on(game, lay("0-1"))


def test_points_of_the_rounds_add_up():
    assert went_out_with(30).scores() == [0, -38, 0, -38]


def test_with_99_points_a_team_plays_on():
    game = went_out_with(91)
    assert game.phase() == "chance"
    assert len(game.chances()) == 28


def test_the_first_team_with_100_points_loses_the_match():
    game = went_out_with(92)
    assert game.phase() == "over"
    assert game.legal() == []
    assert game.standings()[0] > game.standings()[1]


@pytest.mark.parametrize(("before", "phase"), [(187, "chance"), (188, "over")])
def test_in_puerto_rico_the_first_team_with_200_points_wins(before, phase):
    game = position("0-1", "1-1", "2-2", "3-3", ends="0-6", rules="puerto_rico")
    game.points = [before, 0]
    play_on(game, lay("0-1"))
    assert game.phase() == phase
    assert game.standings()[0] > game.standings()[1]


def test_in_puerto_rico_who_went_out_leads_next():
    game = position("0-1", "1-1", "2-2", "0-3", ends="0-6", turn=3, leader=2, rules="puerto_rico")
    assert play_on(game, lay("0-3")).leader == 3


def test_in_puerto_rico_the_lighter_hand_of_the_winners_leads_after_a_block():
    assert blocked("0-1", "5-5", "0-0", "4-4", mode="match", rules="puerto_rico").leader == 2


def test_in_puerto_rico_equal_hands_of_the_winners_leave_it_to_the_first_from_the_leader_on():
    game = blocked("0-3", "5-5", "1-2", "4-4", mode="match", rules="puerto_rico", leader=1)
    assert game.leader == 2


def test_in_puerto_rico_the_lead_rotates_after_a_round_without_winner():
    assert blocked("0-1", "1-1", "0-2", "0-1", mode="match", rules="puerto_rico", leader=3).leader == 0


def test_an_openspiel_match_ends_when_a_team_has_lost_100_points():
    game = position("0-1", "1-1", "2-2", "3-3", ends="0-6", rules="openspiel")
    game.points = [60, 92]
    assert play_on(game, lay("0-1")).phase() == "over"
    assert game.scores() == [40, -40, 40, -40]


# --- Calls -----------------------------------------------------------------------------------------------------------

CALLABLE = {"calls": True, "mode": "round"}


def test_with_calls_a_player_may_pass_what_fits():
    game = position("3-4", "1-1", "2-2", "0-0", ends="3-5", **CALLABLE)
    assert game.legal() == [lay("3-4"), PASS]


def test_with_calls_the_forced_6_6_is_still_forced():
    assert begun(calls=True).legal() == [lay("6-6")]


def test_there_is_nothing_to_call_unless_somebody_passed():
    game = play_on(position("3-4 0-1", "4-6 1-1", "2-2", "0-0", ends="3-5", **CALLABLE), lay("3-4"))
    assert CALL not in game.legal()


def test_each_of_the_next_three_players_may_call_a_pass():
    hands = "3-4 0-0", "1-5 1-1", "1-2 2-2", "2-6 6-6"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS)
    for answer in lay("5-1"), lay("1-2"), lay("2-6"):
        assert CALL in game.legal()
        game.apply(answer)


def test_a_right_call_costs_the_offenders_50():
    game = play_on(position("3-4", "1-1", "2-2", "0-0", ends="3-5", **CALLABLE), PASS, CALL)
    assert game.phase() == "over"
    assert game.scores() == [-50, 0, -50, 0]


def test_a_wrong_call_costs_the_callers_50():
    game = play_on(position("0-4", "1-1", "2-2", "0-0", ends="3-5", **CALLABLE), PASS, CALL)
    assert game.scores() == [0, -50, 0, -50]


def test_a_pass_is_judged_by_the_ends_of_its_own_moment():
    hands = "0-4 6-6", "3-4 1-1", "2-2", "0-0"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS, lay("3-4"), CALL)
    assert game.scores() == [-50, 0, -50, 0]


def test_a_pass_from_before_the_callers_own_last_turn_is_forgotten():
    hands = "3-4 0-0", "1-5 1-1", "1-2 2-2", "2-6 6-6"
    game = position(*hands, ends="3-5", **CALLABLE)
    play_on(game, PASS, lay("5-1"), lay("1-2"), lay("2-6"), lay("3-4"))
    assert CALL not in game.legal()


def test_a_players_own_pass_is_not_his_to_call():
    hands = "3-4 0-0", "1-5 1-1", "1-2 2-2", "2-6 6-6"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS, lay("5-1"), lay("1-2"), lay("2-6"))
    assert game.seat() == 0
    assert CALL not in game.legal()


def test_a_players_own_unjust_pass_does_not_spoil_his_call():
    hands = "3-4 0-0", "1-5 1-1", "1-3 2-2", "2-6 6-6"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS, PASS, lay("3-1"), PASS, CALL)
    assert game.scores() == [0, -50, 0, -50]


def test_of_several_unjust_passes_the_first_counts():
    hands = "3-4", "3-3", "2-2", "0-0"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS, PASS, CALL)
    assert game.scores() == [-50, 0, -50, 0]


def test_calling_ones_partner_costs_ones_own_team():
    hands = "3-4", "1-3 1-1", "2-2", "0-0"
    game = play_on(position(*hands, ends="3-5", **CALLABLE), PASS, lay("3-1"), CALL)
    assert game.scores() == [-50, 0, -50, 0]


def test_if_the_leader_passes_the_next_seat_opens():
    game = play_on(position("3-4", "1-1", "2-2", "0-0", **CALLABLE), PASS)
    assert game.legal() == [lay("1-1"), PASS, CALL]


def test_the_pass_that_blocks_the_round_cannot_be_called():
    game = play_on(position("0-1", "1-1", "2-2", "3-4", ends="3-5", **CALLABLE), *[PASS] * 4)
    assert game.phase() == "over"
    assert game.scores() == [0, -9, 0, -9]


def test_in_puerto_rico_the_other_team_gains_50_and_a_right_caller_leads():
    game = position("3-4", "1-1", "2-2", "0-0", ends="3-5", leader=3, calls=True, rules="puerto_rico")
    play_on(game, PASS, CALL)
    assert game.scores() == [0, 50, 0, 50]
    assert game.leader == 1


def test_in_puerto_rico_the_seat_after_a_wrong_caller_leads():
    game = position("0-4", "1-1", "2-2", "0-0", ends="3-5", leader=3, calls=True, rules="puerto_rico")
    assert play_on(game, PASS, CALL).leader == 2


# --- Whole games at random -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("calls", [False, True])
@pytest.mark.parametrize("rules", PRESETS)
def test_random_matches_end_with_one_team_at_the_target(rules, calls, seed):
    rng = random.Random(seed)
    game = Dominoes(rules=rules, calls=calls)
    while game.phase() != "over":
        if game.phase() == "chance":
            deal(game, rng)
        legal = game.legal()
        assert legal
        assert legal == sorted(set(legal))
        game.apply(rng.choice(legal))
    assert min(game.points) < game.preset.target <= max(game.points)


def greedy_rounds(rules, n_rounds, seed):
    """Play single rounds in which all four seats are greedy."""
    rng = random.Random(seed)
    for _ in range(n_rounds):
        game = deal(Dominoes(rules=rules, mode="round"), rng)
        while game.phase() != "over":
            game.apply(greedy(game, rng))
        yield game


def assert_near(n_hits, n_rounds, expected):
    """Five standard errors: a false alarm in a million, should the seed ever change."""
    assert abs(n_hits / n_rounds - expected) < 5 * math.sqrt(expected * (1 - expected) / n_rounds)


def test_the_authors_scorer_lets_greedy_beat_itself_as_often_as_the_page_says():
    games = greedy_rounds("dominai_code", 2000, seed=1)
    assert_near(sum(game.scores()[0] > game.scores()[1] for game in games), 2000, 0.604)


def test_the_right_rules_block_as_many_greedy_rounds_as_the_page_says():
    games = greedy_rounds("paper", 2000, seed=2)
    assert_near(sum(all(game.hands) for game in games), 2000, 0.28)


# --- Consistent deals ------------------------------------------------------------------------------------------------


def late_position(seed, n_unseen, **variant):
    """A random first round without calls, stopped when the player to move has not seen at most this number of tiles."""
    rng = random.Random(seed)
    game = begun(seed, mode="round", **variant)
    while sum(map(len, game.hands)) - len(game.hands[game.seat()]) > n_unseen:
        game.apply(rng.choice([action for action in game.legal() if action != CALL]))
        if game.phase() == "over":
            return None
    return game


def late_positions(n_positions, n_unseen, **variant):
    seeds = range(10 * n_positions)
    games = filter(None, (late_position(seed, n_unseen, **variant) for seed in seeds))
    return [game for game, _ in zip(games, range(n_positions), strict=False)]


def could_have_been_dealt(game, seat, now):
    """Can this very round be replayed with these tiles in the other hands, every turn legal?"""
    hands = {**now, seat: game.hands[seat]}
    replay = Dominoes(mode="round", calls=game.calls, force_66=game.force_66)
    for player in range(4):
        for tile in [*hands[player], *laid_by(game.history, player)]:
            replay.apply_chance(TILES.index(tile))
    for player, action in game.history:
        if replay.seat() != player or action not in replay.legal():
            return False
        replay.apply(action)
    return True


def all_deals(game, seat):
    """Every way to give out the unseen tiles, consistent or not."""
    others = [player for player in range(4) if player != seat]
    sizes = [len(game.hands[player]) for player in others]
    deals = set()
    for order in permutations(unseen(game.history, game.hands[seat])):
        cuts = order[: sizes[0]], order[sizes[0] : sizes[0] + sizes[1]], order[sizes[0] + sizes[1] :]
        deals.add(tuple((player, frozenset(cut)) for player, cut in zip(others, cuts, strict=True)))
    return [dict(deal) for deal in deals]


def seen_by(game, seat):
    return {
        "history": game.history,
        "seat": seat,
        "hand": game.hands[seat],
        "calls": game.calls,
        "holder_of_66": game.known_holder_of_66(),
    }


def test_with_calls_the_deals_believed_are_some_of_those_with_which_the_round_can_be_replayed():
    some, all_ = 0, 0
    for game in late_positions(15, n_unseen=6, calls=True):
        possible = [deal for deal in all_deals(game, game.seat()) if could_have_been_dealt(game, game.seat(), deal)]
        found = list(consistent_deals(**seen_by(game, game.seat())))
        assert found and all(deal in possible for deal in found), game
        some, all_ = some + (len(found) < len(possible)), all_ + (len(found) == len(possible))
    assert some and all_


@pytest.mark.parametrize("variant", [{}, {"force_66": False}])
def test_consistent_deals_are_those_with_which_the_round_can_be_replayed(variant):
    games = late_positions(15, n_unseen=6, **variant)
    assert len(games) == 15
    for game in games:
        seat = game.seat()
        possible = [deal for deal in all_deals(game, seat) if could_have_been_dealt(game, seat, deal)]
        found = list(consistent_deals(**seen_by(game, seat)))
        assert len(found) == len(possible), game
        assert all(deal in possible for deal in found), game


def test_the_true_deal_is_among_the_consistent_ones():
    for game in late_positions(20, n_unseen=8):
        truth = {seat: frozenset(game.hands[seat]) for seat in range(4) if seat != game.seat()}
        assert truth in consistent_deals(**seen_by(game, game.seat()))


def test_marginals_add_up_to_one_a_tile_and_to_the_size_of_each_hand():
    for game in late_positions(20, n_unseen=8):
        seat = game.seat()
        shares = marginals(**seen_by(game, seat))
        assert all(sum(share) == 1 for share in shares.values())
        for player in range(4):
            held = 0 if player == seat else len(game.hands[player])
            assert sum(share[player] for share in shares.values()) == held


def line(pips):
    """The history of a round without a pass in which "6603" is 6-6, then 6-0 and 0-3 at its end; seat 0 leads."""
    return [(k % 4, lay(f"{covered}-{exposed}")) for k, (covered, exposed) in enumerate(pairwise(pips))]


# 24 tiles are laid and the ends are 0 and 0; each player has one of 0-1, 0-3, 1-2, 2-3.
FOUR_LEFT = line("0022440551133416253645660")
# 24 tiles are laid and the ends are 3 and 3; each player has one of 0-1, 0-2, 1-2, 6-6.
FOUR_LEFT_WITH_66 = line("3300441155226053163245643")


@pytest.mark.parametrize("history", [FOUR_LEFT, FOUR_LEFT_WITH_66])
def test_the_two_lines_are_what_they_claim_to_be(history):
    assert len({tile for seat in range(4) for tile in laid_by(history, seat)}) == 24
    assert len(set(ends_before_each_turn([*history, (0, PASS)])[-1])) == 1


def test_if_nobody_passed_three_tiles_lie_six_ways():
    assert count(FOUR_LEFT, 0, tiles("2-3")) == 6
    assert marginals(FOUR_LEFT, 0, tiles("2-3"))[0, 1] == [0, Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]


def test_a_pass_shows_the_lack_of_the_open_suits():
    shares = marginals([*FOUR_LEFT, (0, PASS), (1, PASS)], 0, tiles("2-3"))
    assert shares[1, 2] == [0, 1, 0, 0]
    assert shares[0, 1] == shares[0, 3] == [0, 0, Fraction(1, 2), Fraction(1, 2)]


def test_with_calls_a_pass_is_believed_as_long_as_a_deal_allows_it():
    one, two, three = ([*FOUR_LEFT, (0, PASS), *((seat, PASS) for seat in range(1, n + 1))] for n in (1, 2, 3))
    without = [count(passes, 0, tiles("2-3")) for passes in (one, two, three)]
    assert 0 < without[0] < 6 and without[2] == 0
    assert [count(passes, 0, tiles("2-3"), calls=True) for passes in (one, two, three)] == [n or 6 for n in without]


def test_with_calls_a_tile_laid_takes_back_the_claim_that_it_is_not_there():
    history = [(0, lay("3-5")), (1, PASS), (2, lay("5-6")), (3, lay("6-1")), (0, lay("1-1")), (1, lay("3-4"))]
    assert claims(history[:2], 1) == {3, 5} and claims(history, 1) == {5}


def test_no_deal_explains_more_passes_than_the_tiles_allow():
    history = [*FOUR_LEFT, (0, PASS), (1, PASS), (2, PASS)]
    assert count(history, 0, tiles("2-3")) == 0
    with pytest.raises(ValueError, match="no deal explains"):
        marginals(history, 0, tiles("2-3"))


def test_the_leader_who_led_because_of_6_6_still_has_it_until_it_is_laid():
    assert count(FOUR_LEFT_WITH_66, 1, tiles("0-1")) == 6
    assert count(FOUR_LEFT_WITH_66, 1, tiles("0-1"), holder_of_66=0) == 2


def test_a_pass_says_nothing_of_suits_that_open_later():
    history = [(0, lay("3-5")), (1, PASS), (2, lay("5-6"))]
    assert passes_are_just(history, 1, tiles("6-6 0-1"))
    assert not passes_are_just(history, 1, tiles("0-1 4-5"))


def test_a_tile_laid_after_a_pass_was_in_the_hand_that_passed():
    history = [(0, lay("3-5")), (1, PASS), (2, lay("5-6")), (3, lay("6-1")), (0, lay("1-1")), (1, lay("3-4"))]
    assert not passes_are_just(history, 1, tiles("0-2"))


def test_tiles_that_do_not_fill_the_hands_are_refused():
    with pytest.raises(ValueError, match="the others hold 1, 1 and 1"):
        count(FOUR_LEFT, 0, tiles("2-3 0-1"))


def test_what_the_lead_shows():
    assert begun(3).known_holder_of_66() == begun(3).seat()
    assert begun(3, rules="openspiel").known_holder_of_66() is None
    assert position("0-1", "1-1", "2-2", "3-3").known_holder_of_66() is None


# --- Beside OpenSpiel ------------------------------------------------------------------------------------------------


def their_action(state, action):
    """A play of ours in the words of python_team_dominoes: player, tile and the pip it covers (None to open)."""
    i, j = tile_of(action)
    covered = float(action // 7) if state.open_edges else None
    return f"p{state.current_player()} tile:({float(i)}, {float(j)}) pip:{covered}"


def pass_if_nothing_fits(game):
    """OpenSpiel skips players who cannot play."""
    while game.legal() == [PASS]:
        game.apply(PASS)


@pytest.fixture(scope="module")
def team_dominoes():
    pyspiel = pytest.importorskip("pyspiel")
    pytest.importorskip("open_spiel.python.games.team_dominoes")
    return pyspiel.load_game("python_team_dominoes")


@pytest.mark.parametrize("seed", range(10))
def test_thirty_rounds_go_as_in_openspiel(team_dominoes, seed):
    rng = random.Random(seed)
    for _ in range(30):
        theirs = team_dominoes.new_initial_state()
        while theirs.is_chance_node():
            theirs.apply_action(rng.choice(theirs.chance_outcomes())[0])
        ours = Dominoes(rules="openspiel", mode="round")
        for hand in theirs.hands:
            for i, j in hand:
                ours.apply_chance(TILES.index((i, j)))
        while not theirs.is_terminal():
            seat = theirs.current_player()
            assert ours.seat() == seat
            names = {their_action(theirs, action): action for action in ours.legal()}
            codes = {theirs.action_to_string(seat, code): code for code in theirs.legal_actions()}
            assert names.keys() == codes.keys()
            name = rng.choice(sorted(names))
            ours.apply(names[name])
            theirs.apply_action(codes[name])
            pass_if_nothing_fits(ours)
        assert ours.phase() == "over"
        assert ours.scores() == theirs.returns()
