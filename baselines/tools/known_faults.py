"""Faults that no test noticed once, each with the test that was written for it.

    python -m baselines.tools.mutation --known

A fault replaces a text that its file has exactly once. If a renaming changes such a text, tests/baselines/test_mutation.py names it.

These changes are no faults, because they change nothing that can be observed:

- arena/league.py, `match`: names sorted in the other order. Then all leagues have other seeds, which are as good.
- games/dominoes/opponent_model.py, `_FIRST_CHANGES` and `_CHANGES` a little larger or smaller. A longer chain draws the same
  deals as often.
- policies/array_file.py, `_all_of` without `stream.read(1)`. `header` has compared the size with that in the directory of the archive,
  beyond which zipfile never reads, and zipfile compares the checksum as soon as it is reached.
"""

from typing import NamedTuple


class Known(NamedTuple):
    """A fault: in this file the new text in place of the old one, and the test in tests/ that fails for it."""

    path: str
    old: str
    new: str
    test: str


def _faults(path: str, old: str, test: str, *new: str) -> list[Known]:
    """Faults of one place that one test notices."""
    return [Known(path, old, each, test) for each in new]


_STORED = "_AT_MOST if f.best <= f.floor else _AT_LEAST if f.best >= f.beta else _EXACT"
_BOUNDS = "search/test_search_hidden.py::test_what_a_cut_leaves_in_the_table_is_a_bound_and_no_value"
_WIN = "envs/test_envs.py::test_a_win_is_shared_and_a_rank_is_the_mean_of_the_places_shared"
_EQUALS = "search/test_search_readings.py::test_of_equally_urgent_turns_any_is_tried_or_the_last"
_ODDS = "search/test_search_priors.py::test_priors_by_odds_are_the_product_of_the_odds_of_the_actions"
_WEIGHT = "search/test_search_opponent_model.py::test_a_deal_weighs_what_it_makes_the_turns_of_rivals_probable"
_FIRST = "search/test_search_opponent_model.py::test_the_first_deal_of_a_search_is_as_likely_as_all_others"
_SEATED = "policies/test_policies.py::test_with_players_of_four_types_each_index_calls_its_own_policy"
_POINTS = "server/test_hidden.py::test_points_that_a_seat_cannot_know_are_not_told"
_CUT_OFF = "envs/test_vector.py::test_no_limit_has_ended_a_game_that_an_illegal_action_ends"
_LIMIT = "envs/test_vector.py::test_a_limit_ends_games_one_by_one"
_MASK = "envs/test_vector.py::test_calls_that_cannot_be_carried_out_are_refused"
_LEAGUE = "arena/test_league.py::"
_RATINGS = "arena/test_ratings.py::"
_MODEL = "policies/test_learned.py::"
_TEACHER = "training/test_teacher.py::test_worths_have_the_unit_of_the_goal_and_the_turn_tried_most_counts_whole"

INTERPRETED, COMPILED = "interpreted", "compiled"  # whether the tests run without or with the compiler
KNOWN: dict[str, list[Known]] = {
    INTERPRETED: [
        *_faults(
            "kdenv/games/dominoes/solver.py",
            _STORED,
            _BOUNDS,
            "_AT_MOST if f.best <= f.floor else _EXACT",
            "_AT_LEAST if f.best >= f.beta else _EXACT",
            "_EXACT",
            _STORED.replace("<=", "<"),
            _STORED.replace(">=", ">"),
            _STORED.replace("f.floor", "f.alpha"),
            "_AT_LEAST if f.best <= f.floor else _AT_MOST if f.best >= f.beta else _EXACT",
        ),
        *_faults(
            "kdenv/games/dominoes/opponent_model.py",
            "chosen == action or (chosen < PASS and action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
            _WEIGHT,
            "chosen == action",
            "chosen < PASS and action < PASS and UNMIRRORED[chosen] != UNMIRRORED[action]",
            "chosen == action or (chosen < PASS or action < PASS)",
            "chosen == action and (chosen < PASS and action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
        ),
        *_faults(
            "kdenv/games/dominoes/opponent_model.py",
            "chosen == action or (chosen < PASS and action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
            "search/test_search_opponent_model.py::test_actions_are_alike_if_they_lay_the_same_tile",
            "chosen == action or (chosen <= PASS and action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
            "chosen == action or (chosen < PASS and action <= PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
            "chosen == action or (action < PASS and UNMIRRORED[chosen] == UNMIRRORED[action])",
        ),
        *_faults(
            "kdenv/networks/priors.py",
            "source.log_odds[i] /= source.temperature",
            _ODDS,
            "source.log_odds[i] /= 1.0",
            "source.log_odds[i] *= source.temperature",
        ),
        *_faults(
            "kdenv/search/softmax.py",
            "out[i] = numbers[i] - shift",
            _ODDS,
            "out[i] = numbers[i]",
            "out[i] = numbers[i] + shift",
            "out[i] = -shift",
        ),
        *_faults(
            "kdenv/envs/rewards.py",
            "share = teams / n_best if standings[seat] == best else 0.0",
            _WIN,
            "share = 1 / n_best if standings[seat] == best else 0.0",
            "share = teams if standings[seat] == best else 0.0",
            "share = teams * n_best if standings[seat] == best else 0.0",
            "share = teams / n_best if standings[seat] != best else 0.0",
            "share = teams / n_best if standings[seat] == best else 1.0",
        ),
        *_faults(
            "kdenv/search/kernels/uct.py",
            "        if u > best:\n            best, n_best, chosen = u, 1, at",
            _EQUALS,
            "        if u >= best:\n            best, n_best, chosen = u, 1, at",
            "        if u < best:\n            best, n_best, chosen = u, 1, at",
            "        if u > best:\n            best, n_best, chosen = u, 0, at",
        ),
        *_faults(
            "kdenv/policies/compiled_opponents.py",
            "places[i] = types.index(kind) * PLACES + place",
            _SEATED,
            "places[i] = place",
            "places[i] = types.index(kind) + place",
            "places[i] = (types.index(kind) + 1) * PLACES + place",
            "places[i] = types.index(kind) * PLACES",
        ),
        *_faults(
            "kdenv/envs/vector/kernels.py",
            "games.cut_off[i] = not games.illegal[i] and truncated(games.states, i)",
            _CUT_OFF,
            "games.cut_off[i] = truncated(games.states, i)",
            "games.cut_off[i] = not games.illegal[i] or truncated(games.states, i)",
            "games.cut_off[i] = games.illegal[i] and truncated(games.states, i)",
        ),
        *_faults(
            "kdenv/envs/vector/kernels.py",
            "games.cut_off[i] = not games.illegal[i] and truncated(games.states, i)",
            _LIMIT,
            "games.cut_off[i] = False",
            "games.cut_off[i] = not games.illegal[i] and truncated(games.states, 0)",
        ),
        *_faults(
            "kdenv/envs/vector/kernels.py",
            "games.cut_off[i] = not games.illegal[i] and truncated(games.states, i)",
            "envs/test_vector.py::test_wrappers_of_gymnasium_count_its_episodes",
            "games.cut_off[i] = not games.illegal[i]",
        ),
    ],
    COMPILED: [
        *_faults(
            "kdenv/games/dominoes/opponent_model.py",
            "_FIRST_CHANGES, _CHANGES = 300, 5",
            _FIRST,
            "_FIRST_CHANGES, _CHANGES = 5, 300",
            "_FIRST_CHANGES, _CHANGES = 0, 5",
        ),
        *_faults(
            "kdenv/games/dominoes/opponent_model.py",
            "_FIRST_CHANGES, _CHANGES = 300, 5",
            "search/test_search_opponent_model.py::test_deals_are_drawn_as_they_make_the_turns_of_rivals_probable",
            "_FIRST_CHANGES, _CHANGES = 300, 0",
        ),
        *_faults(
            "kdenv/arena/league.py",
            'derive_seed("league", self.seed, *(int.from_bytes(str(text).encode()) for text in texts)) & LARGEST_SEED',
            _LEAGUE + "test_the_seed_of_a_league_is_that_of_its_deals",
            'derive_seed("league", *(int.from_bytes(str(text).encode()) for text in texts)) & LARGEST_SEED',
            "self.seed",
        ),
        *_faults(
            "kdenv/arena/league.py",
            'derive_seed("league", self.seed, *(int.from_bytes(str(text).encode()) for text in texts)) & LARGEST_SEED',
            _LEAGUE + "test_the_match_of_a_table_does_not_depend_on_the_order_of_the_league",
            'derive_seed("league", self.seed) & LARGEST_SEED',
            'derive_seed("league", self.seed, *table)',
        ),
        *_faults(
            "kdenv/arena/league_games.py",
            "return plays and match.find(game)[0] % parts == number - 1",
            _LEAGUE + "test_a_part_is_every_second_deal_in_all_its_rotations",
            "return plays and game % parts == number - 1",
            "return plays and match.find(game)[1] % parts == number - 1",
            "return plays and match.find(game)[0] % parts == number % parts",
            "return plays and match.find(game)[0] % parts != number - 1",
            "return plays and match.find(game)[0] // parts == number - 1",
            "return plays",
        ),
        *_faults(
            "kdenv/arena/league_games.py",
            "return plays and match.find(game)[0] % parts == number - 1",
            _LEAGUE + "test_a_league_that_is_only_rated_plays_nothing",
            "return match.find(game)[0] % parts == number - 1",
            "return plays or match.find(game)[0] % parts == number - 1",
        ),
        *_faults(
            "kdenv/arena/league_games.py",
            "if result.number in file.finished or result.number >= match.games:",
            _LEAGUE + "test_deals_that_a_league_does_not_play_are_not_merged",
            "if result.number in file.finished:",
            "if result.number in file.finished or result.number > match.games:",
            "if result.number in file.finished and result.number >= match.games:",
            "if result.number in file.finished or result.number < match.games:",
        ),
        *_faults(
            "kdenv/arena/league_games.py",
            "if result.number in file.finished or result.number >= match.games:",
            _LEAGUE + "test_two_machines_play_a_part_each_and_merge",
            "if result.number >= match.games:",
        ),
        *_faults(
            "kdenv/arena/load.py",
            "seats.index(place) for place in range(n)",
            "arena/test_arena_load.py::test_each_of_three_policies_has_the_seat_of_its_score",
            "seats[place] for place in range(n)",
            "place for place in range(n)",
            "(place - rotation) % n for place in range(n)",
        ),
        *_faults(
            "kdenv/arena/resume.py",
            "match.game, [str(each) for each in match.line_up], match.seed, sorted(match.options.items()), *by_luck",
            _LEAGUE + "test_a_match_has_a_file_of_its_own",
            "match.game, [str(each) for each in match.line_up], match.seed, *by_luck",
            "match.game, [str(each) for each in match.line_up], sorted(match.options.items()), *by_luck",
            "match.game, match.seed, sorted(match.options.items()), *by_luck",
            "[str(each) for each in match.line_up], match.seed, sorted(match.options.items()), *by_luck",
            "match.game, [str(each) for each in match.line_up], match.seed, sorted(match.options), *by_luck",
            "match.game, [str(each) for each in match.line_up], match.seed, list(match.options.items()), *by_luck",
            "match.game, [str(each) for each in match.line_up], match.seed, match.games, sorted(match.options.items()), *by_luck",
            "match.game, [str(each) for each in match.line_up], match.seed, sorted(match.options.items())",
        ),
        *_faults(
            "kdenv/arena/ratings.py",
            "_IMAGINED = 0.25",
            _RATINGS + "test_every_policy_has_also_drawn_a_quarter_of_a_game_with_one_of_strength_0",
            "_IMAGINED = 0.5",
            "_IMAGINED = 0.2",
            "_IMAGINED = 1.25",
        ),
        *_faults(
            "kdenv/arena/ratings.py",
            "(slopes.T * counts) @ slopes * (counts.sum() / self.freedom)",
            _RATINGS + "test_the_interval_of_two_who_win_10_deals_each_is_exact",
            "(slopes.T * counts) @ slopes",
            "(slopes.T * counts) @ slopes * (self.freedom / counts.sum())",
            "(slopes.T * counts) @ slopes * counts.sum()",
            "(slopes.T * counts) @ slopes / self.freedom",
            "slopes.T @ slopes * (counts.sum() / self.freedom)",
            "(slopes.T * counts**2) @ slopes * (counts.sum() / self.freedom)",
            "(slopes.T * counts) @ slopes * (len(counts) / self.freedom)",
        ),
        *_faults(
            "kdenv/arena/ratings.py",
            "(1, 0.0) if win > 0 else (0, float(score))",
            _RATINGS + "test_winners_are_first_and_the_others_follow_by_score",
            "(1, 0.0) if win >= 0 else (0, float(score))",
            "(1, 0.0) if win >= 1 else (0, float(score))",
            "(1, 0.0) if win < 0 else (0, float(score))",
            "(1, float(score)) if win > 0 else (0, float(score))",
            "(0, 0.0) if win > 0 else (0, float(score))",
            "(1, 0.0) if win > 0 else (0, 0.0)",
            "(1, 0.0) if win > 0 else (0, -float(score))",
        ),
        *_faults(
            "kdenv/arena/comparison.py",
            "ConfidenceSequence((1 - _FOR_ALIKE) * error)",
            "arena/test_compare.py::test_both_ways_to_be_wrong_have_the_stated_error_together",
            "ConfidenceSequence(error)",
            "ConfidenceSequence(_FOR_ALIKE * error)",
            "ConfidenceSequence((1 + _FOR_ALIKE) * error)",
            "ConfidenceSequence((1 - _FOR_ALIKE) * error / 2)",
            "ConfidenceSequence((1 - _FOR_ALIKE) * 0.05)",
        ),
        *_faults(
            "kdenv/arena/match.py",
            'derive_seed("policy", match.seed, deal, rotation, place)',
            "arena/test_arena_match.py::test_every_policy_has_a_seed_of_its_own_in_every_game",
            'derive_seed("policy", deal, rotation, place)',
            'derive_seed("policy", match.seed, rotation, place)',
            'derive_seed("policy", match.seed, deal, place)',
            'derive_seed("policy", match.seed, deal, rotation)',
            'derive_seed("policy", match.seed + deal, rotation, place)',
            'derive_seed("policy", match.seed, deal, rotation + place)',
        ),
        *_faults(
            "kdenv/envs/opponents.py",
            'derive_seed("opponent", int(next64(rng)))',
            "envs/test_seat_env.py::test_an_opponent_cannot_compute_the_seed_of_the_next_one",
            "int(next64(rng))",
            'derive_seed("opponent", 1)',
        ),
        *_faults(
            "kdenv/envs/vector/single_agent.py",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any()",
            _MASK,
            "which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any()",
            "not isinstance(which, np.ndarray) or which.dtype != np.bool_ or not which.any()",
            "not isinstance(which, np.ndarray) or which.shape[0] != self.num_envs or which.dtype != np.bool_ or not which.any()",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or not which.any()",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ and not which.any()",
        ),
        *_faults(
            "kdenv/envs/vector/single_agent.py",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any()",
            "envs/test_vector.py::test_a_reset_mask_leaves_the_other_games_alone",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.all()",
            "not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ or which.any()",
        ),
        *_faults(
            "kdenv/policies/array_file.py",
            "if len(raw) != size or stream.read(1):",
            _MODEL + "test_an_array_that_ends_before_its_size_is_told",
            "if stream.read(1):",
            "if len(raw) > size or stream.read(1):",
            "if len(raw) != size and stream.read(1):",
        ),
        *_faults(
            "kdenv/policies/array_file.py",
            "if len(raw) != size or stream.read(1):",
            _MODEL + "test_a_model_made_by_hand_plays",
            "if len(raw) != size or not stream.read(1):",
            "if len(raw) == size or stream.read(1):",
        ),
        *_faults(
            "kdenv/policies/model_file.py",
            "    if total > MOST_NUMBERS:\n",
            _MODEL + "test_the_numbers_of_all_layers_together_are_limited",
            "    if total >= MOST_NUMBERS:\n",
            "    if total < MOST_NUMBERS:\n",
            "    if total > MOST_NUMBERS + 1:\n",
            "    if False:\n",
        ),
        *_faults(
            "kdenv/policies/model_file.py",
            "total + shape[0] * (shape[1] + 1)",
            _MODEL + "test_the_numbers_of_all_layers_together_are_limited",
            "shape[0] * (shape[1] + 1)",
            "total + shape[0] * shape[1]",
            "total + shape[0] + (shape[1] + 1)",
            "total + shape[1] * (shape[0] + 1)",
        ),
        *_faults(
            "kdenv/training/teacher.py",
            "return 2.0, 1.0",
            _TEACHER,
            "return 1.0, 0.0",
            "return 2.0, 0.0",
            "return 2.0, -1.0",
            "return 1.0, 1.0",
            "return 3.0, 1.0",
        ),
        *_faults(
            "kdenv/training/teacher.py",
            "return 1 / goal.scale, 0.0",
            _TEACHER,
            "return goal.scale, 0.0",
            "return 1 / goal.scale, 1.0",
        ),
        *_faults(
            "kdenv/training/teacher.py",
            "found.visits[tried] / found.visits.max()",
            _TEACHER,
            "found.visits[tried] / found.visits.sum()",
            "found.visits[tried] / found.visits[tried].min()",
            "found.visits[tried] / found.visits[tried].mean()",
            "found.visits[tried] * found.visits.max()",
            "found.visits[tried] * 1.0",
            "found.visits / found.visits.max()",
        ),
        *_faults(
            "kdenv/server/visibility.py",
            "        return table.view(viewer).scores()",
            _POINTS,
            "        return table.scores()",
            "        return table.view(1 - viewer).scores()",
        ),
        *_faults(
            "kdenv/server/visibility.py",
            "return _scores_in(as_seen_by_all(table.states, table.players), table.players)",
            _POINTS,
            "return _scores_in(table.states, table.players)",
            "return table.scores()",
            "return table.view(0).scores()",
        ),
    ],
}
