"""Are games in a batch the same as in SeatEnv and TableEnv, whatever the size of the batch and the number of threads? For every game."""

import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium
import models
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers
from hypothesis import given, settings
from hypothesis import strategies as st

import kdenv
from kdenv.core.errors import BadOption, IllegalAction, NotSupported, WrongOrder
from kdenv.core.table import Table
from kdenv.envs.aec import TableEnv
from kdenv.envs.rewards import ArrayReward, GameEnds
from kdenv.envs.single_agent import SeatEnv
from kdenv.envs.vector import BatchStep, SeatVectorEnv, SelfPlay
from kdenv.envs.vector.buffers import Buffers
from kdenv.envs.vector.thread_pool import ThreadPool
from kdenv.games import TITLES

every_game = pytest.mark.parametrize("game", TITLES)


def short(game: str) -> dict[str, Any]:
    """Options that make the games of a test short."""
    return {"kingdomino": {"players": 2, "size": 5}, "dominoes": {"mode": "round"}, "dominion": {"max_turns": 8}}.get(game, {})


def chosen(mask: np.ndarray, observation: np.ndarray) -> int:
    """A legal action that depends on all that the learner is told: a difference in either leads to other games."""
    legal = np.flatnonzero(mask)
    return int(legal[int(np.abs(observation).sum() * 1000) % len(legal)])


def all_chosen(masks: np.ndarray, observations: np.ndarray) -> np.ndarray:
    return np.array([chosen(mask, observation) for mask, observation in zip(masks, observations, strict=True)])


def assert_same(one: Any, other: Any) -> None:
    """Nested dicts and arrays are equal; arrays of objects may hold lists where the other is an array of numbers."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            counts = one.get(f"_{key}")  # the rows that count in a dict of Gymnasium's infos
            rows = ... if counts is None or isinstance(one[key], dict) else counts
            assert_same(one[key] if rows is ... else one[key][rows], other[key] if rows is ... else other[key][rows])
        return
    if isinstance(one, tuple):
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
        return
    one, other = np.asarray(one), np.asarray(other)
    if object not in (one.dtype, other.dtype):
        np.testing.assert_array_equal(one, other)
        return
    for mine, theirs in zip(one, other, strict=True):
        if mine is not None and theirs is not None:
            assert_same(mine, theirs)


# One engine, the same games


@pytest.mark.parametrize("seat", [0, "rotate", "random"])
@pytest.mark.parametrize("observation", ["vector", "dict", "parts"])
@pytest.mark.parametrize(
    "game, opponent",
    [
        *[("kingdomino", "full_greedy"), ("dominoes", "greedy"), ("carcassonne", "random"), ("dominion", "random")],
        # These players take long to compile, in a batch and in SeatEnv.
        *[pytest.param(*each, marks=pytest.mark.cold) for each in (("carcassonne", "greedy"), ("dominion", "rollout"))],
    ],
)
def test_it_does_what_gymnasiums_own_vector_environment_does_with_seat_env(
    game: str, opponent: str, seat: int | str, observation: str
) -> None:
    keywords = {"game": game, "pool": [opponent, "random"], "seat": seat, "observation": observation, "reward": "gains", **short(game)}
    theirs = SyncVectorEnv([lambda: SeatEnv(**keywords)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = SeatVectorEnv(num_envs=3, **keywords)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    told = ours.reset(seed=5), theirs.reset(seed=5)
    for _ in range(60):
        assert_same(*told)
        mask = told[0][-1]["action_mask"]
        seen = told[0][0].values() if observation == "parts" else [told[0][0]["observation"] if observation == "dict" else told[0][0]]
        actions = all_chosen(mask, np.concatenate([part.reshape(3, -1) for part in seen], axis=1))
        told = ours.step(actions), theirs.step(actions)


@every_game
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_each_autoreset_mode_is_that_of_gymnasiums_own_vector_environment(game: str, mode: AutoresetMode) -> None:
    keywords: dict[str, Any] = {"game": game, "seat": "rotate", "reward": "gains", **short(game)}
    theirs = SyncVectorEnv([lambda: SeatEnv(**keywords)] * 3, autoreset_mode=mode)
    ours = SeatVectorEnv(num_envs=3, threads=2, autoreset_mode=mode.value, **keywords)
    assert ours.autoreset_mode == mode and ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    told: Any = ours.reset(seed=5), theirs.reset(seed=5)
    masks, n_ended = told[0][1]["action_mask"], 0
    for _ in range(80):
        assert_same(*told)
        np.testing.assert_array_equal(ours.action_masks(), masks)
        actions = all_chosen(masks, told[0][0])
        told = ours.step(actions), theirs.step(actions)
        masks = told[0][-1]["action_mask"]
        over = told[0][2] | told[0][3]
        n_ended += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            assert_same(*told)
            told = tuple(env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs))
            masks = np.where(over[:, None], told[0][-1]["action_mask"], masks)
    assert n_ended >= 3


@every_game
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("observation", ["vector", "dict", "parts"])
def test_a_second_encoding_is_that_of_seat_env(game: str, mode: AutoresetMode, observation: str) -> None:
    second = kdenv.game(game).encodings[1].name
    keywords: dict[str, Any] = {"game": game, "critic_encoding": second, "observation": observation, **short(game)}
    theirs = SyncVectorEnv([lambda: SeatEnv(**keywords)] * 2, autoreset_mode=mode)
    ours = SeatVectorEnv(num_envs=2, autoreset_mode=mode, **keywords)
    assert ours.observation_space == theirs.observation_space
    told: Any = ours.reset(seed=5), theirs.reset(seed=5)
    for _ in range(75):
        assert_same(*told)
        assert told[0][-1]["critic_observation"].tobytes() == ours.observations(second).tobytes()
        assert observation != "dict" or told[0][0]["critic_observation"] is told[0][-1]["critic_observation"]
        actions = ours.action_masks().argmax(axis=1)
        told = ours.step(actions), theirs.step(actions)


@every_game
def test_self_play_observes_by_any_encoding_what_views_observe(game: str) -> None:
    games = SelfPlay(game, 3, **short(game))
    now = games.reset(seed=4)
    for _ in range(8):
        assert games.observations().tobytes() == now.observation.tobytes()
        for encoding in [each.name for each in kdenv.game(game).encodings]:
            for row, seen in enumerate(games.observations(encoding)):
                table = games.table(row)
                assert seen.tobytes() == table.view(table.seat).observation(encoding).tobytes()
        now = games.step(now.action_mask.argmax(axis=1))


def test_a_game_that_is_over_has_no_turns_and_its_action_is_ignored() -> None:
    env = SeatVectorEnv("dominoes", num_envs=3, mode="round", autoreset_mode="NextStep", illegal="raise")
    _, infos = env.reset(seed=2)
    over = np.zeros(3, bool)
    while not over.any():
        _, _, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    found = env.afterstates()
    assert ((np.diff(found.starts) == 0) == over).all()
    best = found.best(np.arange(len(found)))
    assert ((best == -1) == over).all() and (best[~over] == found.starts[1:][~over] - 1).all()
    _, rewards, over_now, _, _ = env.step(np.where(over, -1, infos["action_mask"].argmax(axis=1)))
    assert not rewards[over].any() and not over_now[over].any() and ((np.diff(env.afterstates().starts) == 0) == over_now).all()


def test_games_that_are_over_must_be_dealt_anew_where_nothing_else_deals_them() -> None:
    env = SeatVectorEnv("dominoes", num_envs=3, mode="round", autoreset_mode=AutoresetMode.DISABLED)
    observations, infos = env.reset(seed=2)
    over = np.zeros(3, bool)
    while not over.any():
        observations, _, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    actions = all_chosen(infos["action_mask"], observations)
    with pytest.raises(WrongOrder, match=rf"game {int(over.argmax())} is over; call reset\(options=\{{\"reset_mask\": mask\}}\)"):
        env.step(actions)
    env.reset(options={"reset_mask": over})
    env.step(env.action_masks().argmax(axis=1))


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "NormalizeObservation": wrappers.NormalizeObservation,
    "FlattenObservation": wrappers.FlattenObservation,
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float16),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(env, 0, 1),
    "NormalizeReward": wrappers.NormalizeReward,
    "ClipReward": lambda env: wrappers.ClipReward(env, -1, 1),
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "DictInfoToList": wrappers.DictInfoToList,
}


@pytest.mark.filterwarnings("ignore:.*precision lowered by casting:UserWarning")  # of Box, for float16
@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, "NextStep") for name in WRAPPERS]
    + [(name, "SameStep") for name in ("NormalizeReward", "ClipReward", "RecordEpisodeStatistics", "DictInfoToList")]
    + [(name, "Disabled") for name in ("FlattenObservation", "DtypeObservation", "RescaleObservation", "NormalizeReward", "ClipReward")],
)
def test_vector_wrappers_of_gymnasium_give_what_they_give_for_its_own_vector_environment(name: str, mode: str) -> None:
    keywords: dict[str, Any] = {"game": "dominoes", "mode": "round"}
    theirs = WRAPPERS[name](SyncVectorEnv([lambda: SeatEnv(**keywords)] * 3, autoreset_mode=mode))
    batch = SeatVectorEnv(num_envs=3, autoreset_mode=mode, **keywords)
    ours = WRAPPERS[name](batch)
    assert ours.observation_space == theirs.observation_space
    told: Any = ours.reset(seed=5), theirs.reset(seed=5)
    for _ in range(40):
        np.testing.assert_array_equal(told[0][0], told[1][0])
        if len(told[0]) == 5:
            np.testing.assert_array_equal(told[0][1], told[1][1])
        infos = [dict(each[-1]) if isinstance(each[-1], dict) else list(map(dict, each[-1])) for each in told]
        if name == "RecordEpisodeStatistics" and "episode" in infos[0]:
            for each in infos:
                each["episode"] = {key: value for key, value in each["episode"].items() if key != "t"}  # a time
        if name == "DictInfoToList":
            for mine, other in zip(*infos, strict=True):
                assert_same(mine, other)
        else:
            assert_same(*infos)
        actions = batch.action_masks().argmax(axis=1)
        told = ours.step(actions), theirs.step(actions)
        over = told[0][2] | told[0][3]
        if mode == "Disabled" and over.any():
            told = tuple(env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs))


def test_episodes_are_counted_where_nothing_deals_games_but_reset() -> None:
    """SyncVectorEnv takes the mask out of the options before the wrapper reads it, so there is nothing to compare with."""
    batch = SeatVectorEnv("dominoes", num_envs=3, mode="round", autoreset_mode="Disabled")
    env = wrappers.RecordEpisodeStatistics(batch)
    env.reset(seed=1)
    lengths, n_ended = np.zeros(3, int), 0
    for _ in range(40):
        _, _, over, _, infos = env.step(batch.action_masks().argmax(axis=1))
        lengths += 1
        if over.any():
            assert infos["episode"]["l"].tolist() == (lengths * over).tolist()
            n_ended += over.sum()
            lengths[over] = 0
            env.reset(options={"reset_mask": over})
    assert n_ended > 10


@settings(max_examples=12, deadline=None)
@given(
    game=st.sampled_from(list(TITLES)),
    seed=st.integers(0, 1000),
    num_envs=st.integers(1, 9),
    threads=st.integers(1, 3),
    reward=st.sampled_from(["win", "rank", "margin", "score", "gains"]),
    skip_forced=st.booleans(),
)
def test_row_i_is_seat_env(game: str, seed: int, num_envs: int, threads: int, reward: str, skip_forced: bool) -> None:
    row = seed % num_envs
    keywords: dict[str, Any] = {"seat": "rotate", "reward": reward, "skip_forced": skip_forced, **short(game)}
    batch, one = SeatVectorEnv(game, num_envs=num_envs, threads=threads, **keywords), SeatEnv(game, **keywords)
    observations, infos = batch.reset(seed=seed)
    observation, info = one.reset(seed=seed + row)
    for _ in range(50):
        np.testing.assert_array_equal(observations[row], observation)
        np.testing.assert_array_equal(infos["action_mask"][row], info["action_mask"])
        assert infos["seat"][row] == info["seat"]
        actions = all_chosen(infos["action_mask"], observations)
        observations, rewards, terminated, truncated, infos = batch.step(actions)
        observation, reward_of_one, *over, info = one.step(actions[row])
        assert rewards[row] == reward_of_one and [terminated[row], truncated[row]] == over
        if any(over):
            np.testing.assert_array_equal(infos["final_obs"][row], observation)
            assert_same(infos["final_info"]["scores"][row], info["scores"])
            assert_same(infos["final_info"]["ranks"][row], info["ranks"])
            observation, info = one.reset()
    batch.close()


@settings(max_examples=12, deadline=None)
@given(
    game=st.sampled_from(list(TITLES)),
    seed=st.integers(0, 1000),
    num_envs=st.integers(1, 9),
    threads=st.integers(1, 3),
    reward=st.sampled_from(["margin", "gains"]),
    skip_forced=st.booleans(),
)
def test_row_i_of_self_play_is_table_env(game: str, seed: int, num_envs: int, threads: int, reward: str, skip_forced: bool) -> None:
    row = seed % num_envs
    keywords: dict[str, Any] = {"reward": reward, "skip_forced": skip_forced, **short(game)}
    batch, table = SelfPlay(game, num_envs, threads=threads, **keywords), TableEnv(game, **keywords)
    now = batch.reset(seed=seed)
    table.reset(seed=seed + row)
    for _ in range(80):
        agent = table.agent_selection
        assert agent == f"player_{now.seat[row]}"
        told = table.observe(agent)
        np.testing.assert_array_equal(now.observation[row], told["observation"])
        np.testing.assert_array_equal(now.action_mask[row], told["action_mask"])
        actions = all_chosen(now.action_mask, now.observation)
        now = batch.step(actions)
        table.step(actions[row])
        assert now.rewards[row].tolist() == list(table.rewards.values())
        assert [now.terminated[row], now.truncated[row]] == [table.terminations[agent], table.truncations[agent]]
        if now.terminated[row] or now.truncated[row]:
            assert f"player_{now.last_seat[row]}" == agent
            table.reset()
    batch.close()


def play_both(batch: SeatVectorEnv, one: SeatEnv, row: int, steps: int) -> None:
    """The game in this row of a batch must be that of SeatEnv, and so must those that follow it."""
    observations, infos = batch.reset(seed=1)
    observation, _ = one.reset(seed=1 + row)
    for _ in range(steps):
        np.testing.assert_array_equal(observations[row], observation)
        actions = all_chosen(infos["action_mask"], observations)
        observations, _, terminated, _, infos = batch.step(actions)
        observation, *_ = one.step(actions[row])
        if terminated[row]:
            observation, _ = one.reset()


def test_more_games_than_opponents_have_seats_may_be_drawn_from() -> None:
    pool = ["random", "full_greedy", "full_greedy(variant=paper)"]
    play_both(SeatVectorEnv(pool=pool, num_envs=2), SeatEnv(pool=pool), row=0, steps=100)


@pytest.mark.parametrize("which", [{"opponents": ["random", "full_greedy", "gprd"]}, {"pool": ["full_greedy"]}])
def test_opponents_sit_in_the_order_of_their_list_and_one_may_sit_everywhere(which: dict[str, Any]) -> None:
    play_both(SeatVectorEnv(num_envs=2, seat=1, **which), SeatEnv(seat=1, **which), row=0, steps=12)


@pytest.mark.parametrize("model", ["ppo(kingdomino-ppo)", f"ppo({models.OF_ACTIONS}, sample=yes)"], ids=["scores", "actions"])
def test_learned_players_sit_in_a_batch_each_thread_with_buffers_of_its_own(model: str) -> None:
    pool = [model, "full_greedy"]
    play_both(SeatVectorEnv(pool=pool, num_envs=4, threads=2, seat="rotate"), SeatEnv(pool=pool, seat="rotate"), row=3, steps=60)


def test_opponents_can_be_changed_while_games_go_on() -> None:
    batch = SeatVectorEnv(pool=["random", "full_greedy", "random"], num_envs=8)
    observations, infos = batch.reset(seed=1)
    for change in ({"pool": ["full_greedy"]}, {"opponents": ["random", "full_greedy", "random"]}, {"opponents": "random"}):
        for _ in range(30):
            observations, *_, infos = batch.step(all_chosen(infos["action_mask"], observations))
        batch.set_opponents(**change)
    twin = SeatVectorEnv(opponents="random", num_envs=8)
    assert_same(batch.reset(seed=3), twin.reset(seed=3))


def test_a_pool_with_weights_is_drawn_from_in_a_batch_as_in_seat_env() -> None:
    pool = {"random": 0.0, "full_greedy": 3, "full_greedy(variant=paper)": 1.5}
    play_both(SeatVectorEnv(pool=pool, num_envs=2), SeatEnv(pool=pool), row=0, steps=100)


def test_opponents_are_drawn_by_their_weights() -> None:
    batch = SeatVectorEnv("dominoes", num_envs=1000, mode="round", pool={"random": 1, "greedy": 3})
    batch.reset(seed=1)
    drawn = batch.opponents()
    share = (drawn == 1).sum() / (drawn != -1).sum()
    assert abs(share - 0.75) < 5.2 * (0.75 * 0.25 / 3000) ** 0.5  # one false alarm in five million seeds; this seed is always the same
    batch.set_opponents(pool={"random": 1, "greedy": 0})
    batch.reset(seed=1)
    assert set(batch.opponents().ravel().tolist()) == {-1, 0}


def test_reset_without_a_seed_deals_the_next_games() -> None:
    batch, one = SeatVectorEnv(num_envs=2), SeatEnv()
    batch.reset(seed=1)
    one.reset(seed=1)
    np.testing.assert_array_equal(batch.reset()[0][0], one.reset()[0])


def test_a_forced_action_is_the_only_legal_one() -> None:
    """A learner that is not asked where it has no choice meets the same positions as in SeatEnv, and always has a choice."""
    keywords: dict[str, Any] = {"game": "dominoes", "mode": "round", "opponents": "greedy", "skip_forced": True}
    batch, one = SeatVectorEnv(num_envs=1, **keywords), SeatEnv(**keywords)
    (observations, infos), (observation, _) = batch.reset(seed=3), one.reset(seed=3)
    for _ in range(20):
        np.testing.assert_array_equal(observations[0], observation)
        assert infos["action_mask"][0].sum() > 1
        action = chosen(infos["action_mask"][0], observation)
        observations, _, _, _, infos = batch.step(np.array([action]))
        observation, _, *over, _ = one.step(action)
        if any(over):
            observation, _ = one.reset()


def test_games_have_the_seeds_of_a_list() -> None:
    listed, counted = SeatVectorEnv(num_envs=3), SeatVectorEnv(num_envs=3)
    assert_same(listed.reset(seed=[4, 5, 6]), counted.reset(seed=4))


def test_a_reset_mask_leaves_the_other_games_alone() -> None:
    batch = SeatVectorEnv(num_envs=3)
    observations, infos = batch.reset(seed=1)
    before, _, _, _, _ = batch.step(all_chosen(infos["action_mask"], observations))
    before = before.copy()
    after, infos = batch.reset(options={"reset_mask": np.array([False, True, False])})
    assert [np.array_equal(before[i], after[i]) for i in range(3)] == [True, False, True]
    assert infos["_action_mask"].tolist() == [False, True, False]


def test_a_reset_of_some_games_tells_of_the_others_what_they_are_and_not_what_was_written_into_an_array() -> None:
    batch = SeatVectorEnv(num_envs=3)
    observations, _ = batch.reset(seed=1)
    before = observations.copy()
    observations[:] = 7
    after, _ = batch.reset(options={"reset_mask": np.array([False, True, False])})
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])


def test_the_first_reset_is_of_all_games() -> None:
    batch, some = SeatVectorEnv(num_envs=3), {"reset_mask": np.array([False, True, False])}
    with pytest.raises(WrongOrder, match="none has begun yet; call reset"):
        batch.reset(seed=1, options=some)
    batch.reset(seed=1)
    batch.reset(options=some)


def test_a_clone_plays_on_as_the_original_does() -> None:
    batch = SeatVectorEnv(num_envs=4, threads=2, opponents="full_greedy")
    observations, infos = batch.reset(seed=1)
    twin = batch.clone()
    for _ in range(30):
        actions = all_chosen(infos["action_mask"], observations)
        told = batch.step(actions)
        assert_same(told, twin.step(actions))
        observations, infos = told[0], told[-1]


def stepped(env: Any, masks: np.ndarray) -> str:
    """A digest of what a batch tells in twenty steps."""
    digest = hashlib.sha256()
    for _ in range(20):
        told = env.step(masks.argmax(axis=1))
        masks = told.action_mask if isinstance(told, BatchStep) else env.action_masks()
        for array in told[: 7 if isinstance(told, BatchStep) else 3]:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


IN_ANOTHER_PROCESS = """
import json, pathlib, pickle, sys
from test_vector import stepped
print(json.dumps([stepped(*pickle.loads(path.read_bytes())) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pkl"))]))
"""


@pytest.mark.cold
def test_a_batch_goes_on_in_another_process(tmp_path: Path) -> None:
    """Through pickle and cloudpickle, each kind of batch tells there what it tells here, also one that was closed."""
    keywords: dict[str, Any] = {"game": "dominoes", "num_envs": 4, "threads": 2, "mode": "round"}
    seats = SeatVectorEnv(pool=["greedy", "random"], seat="rotate", **keywords)
    both = SelfPlay(**keywords)
    pairs: list[tuple[Any, np.ndarray]] = [(both, both.reset(seed=1).action_mask), (seats, seats.reset(seed=1)[1]["action_mask"])]
    try:
        from kdenv.envs.sb3 import SeatVecEnv
    except ImportError:
        pass
    else:
        vec_env = SeatVecEnv(opponents="greedy", **keywords)
        vec_env.seed(1)
        vec_env.reset()
        pairs.append((vec_env, vec_env.action_masks()))
    for i, (env, masks) in enumerate(pairs):
        stepped(env, masks)
        masks = masks if isinstance(env, SelfPlay) else env.action_masks()
        for module in (pickle, cloudpickle):
            (tmp_path / f"{i}-{module.__name__}.pkl").write_bytes(module.dumps((env, env._batch.games.mask.copy())))
    seats.close()
    folders = [Path(__file__).parent, Path(models.__file__).parent]
    told = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    expected = [stepped(env, env._batch.games.mask.copy()) for env, _ in pairs]
    assert json.loads(told.stdout) == [each for each in expected for _ in range(2)]
    for env, _ in pairs:
        env.close()


def test_a_batch_can_be_pickled_before_its_first_game() -> None:
    batch = SeatVectorEnv("dominoes", "greedy", num_envs=2, mode="round")
    assert_same(pickle.loads(pickle.dumps(batch)).reset(seed=1), batch.reset(seed=1))


def test_a_network_among_the_opponents_is_read_again_by_a_copy() -> None:
    env = SeatEnv(pool=["ppo(kingdomino-ppo)", "full_greedy"], seat="rotate")
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(5):
        action = int(env.action_masks().argmax())
        assert_same(env.step(action)[:4], twin.step(action)[:4])


# Ctrl-C


@pytest.mark.parametrize("owner", [(ThreadPool, "play"), (SelfPlay, "_moment")], ids=["in the kernel", "after it"])
@pytest.mark.parametrize("call", ["step", "reset"])
def test_after_ctrl_c_all_games_must_begin_anew(owner: tuple[type, str], call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The games have moved, and what they paid is lost, so that the next step would be a step of other games."""

    def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            function(*given)
            raise KeyboardInterrupt

        return called

    batch, twin = (SelfPlay("dominoes", 4, mode="round") for _ in range(2))
    actions = batch.reset(seed=1).action_mask.argmax(axis=1)
    with monkeypatch.context() as patch:
        patch.setattr(*owner, interrupted(getattr(*owner)))
        with pytest.raises(KeyboardInterrupt):
            batch.step(actions) if call == "step" else batch.reset()
    for each in (batch, batch.clone()):
        with pytest.raises(WrongOrder, match=r"an error or Ctrl-C has broken the games off; call reset\(\) for all games"):
            each.step(actions)
        for ours, theirs in zip(each.reset(seed=5), twin.reset(seed=5), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        each.step(each.reset().action_mask.argmax(axis=1))


# Gymnasium


@pytest.mark.parametrize("title", TITLES.values())
def test_make_vec_makes_it(title: str) -> None:
    env = gymnasium.make_vec(f"kdenv/{title}-v0", num_envs=3, vectorization_mode="vector_entry_point", threads=2)
    assert isinstance(env, SeatVectorEnv) and env.num_envs == 3 and env.spec is not None
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space and infos["action_mask"].shape == (3, env.single_action_space.n)
    for _ in range(5):
        actions = env.action_space.sample(mask=tuple(infos["action_mask"]))
        assert actions in env.action_space
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert observations in env.observation_space and observations.dtype == np.float32
        assert [told.dtype for told in (rewards, terminated, truncated)] == [np.float64, np.bool_, np.bool_]
        assert [told.shape for told in (rewards, terminated, truncated)] == [(3,)] * 3
        assert np.array_equal(env.action_masks(), infos["action_mask"] != 0)
    env.close()


def test_wrappers_of_gymnasium_count_its_episodes() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(SeatVectorEnv(num_envs=4))
    env = gymnasium.wrappers.vector.DictInfoToList(env)
    observations, infos = env.reset(seed=1)
    ended = 0
    for _ in range(60):
        actions = all_chosen([info["action_mask"] for info in infos], observations)
        observations, rewards, terminated, _, infos = env.step(actions)
        for i in np.flatnonzero(terminated):
            assert infos[i]["episode"]["r"] == rewards[i] and infos[i]["episode"]["l"] == 24
            assert infos[i]["final_info"]["scores"].shape == (4,)
            ended += 1
    assert ended == 8


# Rewards that are functions


def margin_of_table(table: Table) -> list[float]:
    """The reward "margin" of a game without teams, one table at a time."""
    scores = table.scores()
    return [(mine - max(scores[:i] + scores[i + 1 :])) / table.game.margin_scale for i, mine in enumerate(scores)]


@ArrayReward
def margin_of_arrays(ends: GameEnds) -> np.ndarray:
    """The same for many games, also from the last positions."""
    others = np.where(np.eye(ends.scores.shape[1], dtype=bool), np.iinfo(np.int64).min, ends.scores[:, None, :])
    assert len(ends.positions) == len(ends.ranks) == len(ends.standings)
    assert ((ends.ranks == 1) == (ends.standings == ends.standings.max(axis=1, keepdims=True))).all()
    return (ends.scores - others.max(axis=2)) / kdenv.game("kingdomino").margin_scale


@pytest.mark.parametrize("reward", [margin_of_table, margin_of_arrays])
def test_a_function_gives_the_rewards_of_a_batch(reward: Any) -> None:
    keywords: dict[str, Any] = {"players": 3, "size": 5, "seat": "rotate"}
    for make in (
        lambda reward: SeatVectorEnv("kingdomino", num_envs=4, threads=2, reward=reward, **keywords),
        lambda reward: SeatVectorEnv("kingdomino", num_envs=4, autoreset_mode="NextStep", reward=reward, **keywords),
    ):
        ours, theirs = make(reward), make("margin")
        told: Any = ours.reset(seed=1), theirs.reset(seed=1)
        paid = 0
        for _ in range(60):
            actions = told[0][-1]["action_mask"].argmax(axis=1)
            told = ours.step(actions), theirs.step(actions)
            assert_same(*told)
            paid += np.count_nonzero(told[0][1])
        assert paid >= 8
    both = [SelfPlay("kingdomino", 4, players=3, size=5, reward=each) for each in (reward, "margin")]
    nows = [games.reset(seed=1) for games in both]
    for _ in range(80):
        nows = [games.step(now.action_mask.argmax(axis=1)) for games, now in zip(both, nows, strict=True)]
        np.testing.assert_array_equal(nows[0].rewards, nows[1].rewards)
    one, other = (SeatEnv("kingdomino", reward=each, **keywords) for each in (reward, "margin"))
    one.reset(seed=1), other.reset(seed=1)
    over = False
    while not over:
        action = int(one.action_masks().argmax())
        (_, mine, over, _, _), (_, wanted, *_) = one.step(action), other.step(action)
        assert mine == wanted


def test_a_function_is_not_called_for_games_that_a_limit_or_an_illegal_action_ends() -> None:
    @ArrayReward
    def never(ends: GameEnds) -> np.ndarray:
        raise AssertionError

    batch = SeatVectorEnv("dominion", num_envs=2, max_turns=2, reward=never)
    _, infos = batch.reset(seed=1)
    with pytest.warns(UserWarning, match="an illegal action has ended a game"):
        _, rewards, _, _, infos = batch.step(np.array([-1, infos["action_mask"][1].argmax()]))
    assert rewards.tolist() == [-1, 0]
    truncated = np.zeros(2, bool)
    while not truncated.any():
        _, rewards, _, truncated, infos = batch.step(infos["action_mask"].argmax(axis=1))
        assert not rewards.any()


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda ends: ends.scores[0], r"returned an array of shape \(4,\); it must return \d x 4 finite numbers"),
        (lambda ends: ends.scores / 0.0, r"returned numbers that are not finite; it must return \d x 4 finite numbers"),
        (lambda ends: "much", r"failed, or returned no array of numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_mistake_in_the_function_of_a_reward_is_told(function: Any, sentence: str) -> None:
    batch = SelfPlay("dominoes", 4, mode="round", reward=ArrayReward(function))
    now = batch.reset(seed=1)
    with pytest.raises(BadOption, match=f"^the function given as reward= {sentence}"):
        for _ in range(60):
            now = batch.step(now.action_mask.argmax(axis=1))
    with pytest.raises(WrongOrder, match="broken the games off"):
        batch.observations()


# Arrays


def test_arrays_that_somebody_holds_are_not_written_to_again() -> None:
    batch = SeatVectorEnv(num_envs=2)
    observations, infos = batch.reset(seed=1)
    kept, copies = [], []
    for _ in range(10):
        kept.append((observations, infos["action_mask"][0]))  # a view holds its array, too
        copies.append((observations.copy(), infos["action_mask"][0].copy()))
        observations, _, _, _, infos = batch.step(all_chosen(infos["action_mask"], observations))
    for one, other in zip(kept, copies, strict=True):
        assert_same(one, other)


def test_arrays_that_nobody_holds_are_used_again() -> None:
    buffers = Buffers((2,), np.float32)
    places = set()
    before = buffers.take()
    for _ in range(10):
        now = buffers.take()
        places |= {now.ctypes.data, before.ctypes.data}
        before = now
    assert len(places) == 2


def test_a_mask_that_was_written_to_does_not_make_actions_legal() -> None:
    batch = SeatVectorEnv(num_envs=2, illegal="raise")
    _, infos = batch.reset(seed=1)
    wrong = int(np.flatnonzero(infos["action_mask"][0] == 0)[0])
    infos["action_mask"][:] = 1
    with pytest.raises(IllegalAction):
        batch.step(np.array([wrong, wrong]))


# Mistakes


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    batch = SeatVectorEnv(num_envs=3, illegal="raise")
    observations, infos = batch.reset(seed=1)
    actions = all_chosen(infos["action_mask"], observations)
    wrong = actions.copy()
    wrong[1] = np.flatnonzero(infos["action_mask"][1] == 0)[0]
    with pytest.raises(IllegalAction, match=r"in game 1 of the batch: action \d+ .*is not legal in kingdomino position .*; legal: "):
        batch.step(wrong)
    told = batch.step(actions)
    twin = SeatVectorEnv(num_envs=3)
    twin.reset(seed=1)
    assert_same(told, twin.step(actions))


def test_only_the_games_of_illegal_actions_are_named() -> None:
    batch = SeatVectorEnv(num_envs=5)
    observations, infos = batch.reset(seed=1)
    actions = all_chosen(infos["action_mask"], observations)
    for row in (1, 3):
        actions[row] = np.flatnonzero(infos["action_mask"][row] == 0)[0]
    with pytest.warns(UserWarning, match="an illegal action has ended a game"):
        batch.step(actions)
    assert set(batch._batch.mistakes) == {1, 3}


@every_game
def test_an_illegal_action_ends_a_game_as_it_does_in_seat_env(game: str) -> None:
    batch, one = SeatVectorEnv(game, num_envs=2, seat=1), SeatEnv(game, seat=1)
    observations, infos = batch.reset(seed=1)
    one.reset(seed=1)
    for wrong in (-1, 10**9, int(np.flatnonzero(infos["action_mask"][0] == 0)[0])):
        actions = all_chosen(infos["action_mask"], observations)
        actions[0] = wrong
        with pytest.warns(UserWarning, match="an illegal action has ended a game"):
            observations, rewards, terminated, truncated, infos = batch.step(actions)
        with pytest.warns(UserWarning, match="an illegal action has ended a game"):
            observation, reward, *over, info = one.step(wrong)
        assert rewards[0] == reward == -1 and [terminated[0], truncated[0]] == over == [True, False]
        assert infos["final_info"]["illegal"][0] == info["illegal"] and infos["final_info"]["illegal"][1] is None
        np.testing.assert_array_equal(infos["final_obs"][0], observation)
        assert_same(infos["final_info"]["scores"][0], info["scores"])
        np.testing.assert_array_equal(observations[0], one.reset()[0])


def test_a_limit_ends_games_one_by_one() -> None:
    """Game 0 is lost at once by an illegal action. So the one that follows it in its row is not over when the limit ends game 1."""
    batch = SeatVectorEnv("dominion", num_envs=2, seat=1, max_turns=2)
    observations, infos = batch.reset(seed=1)
    actions = all_chosen(infos["action_mask"], observations) * [0, 1] - [1, 0]
    with pytest.warns(UserWarning, match="an illegal action has ended a game"):
        observations, _, terminated, truncated, infos = batch.step(actions)
    assert terminated.tolist() == [True, False]
    while not (terminated | truncated)[1]:
        observations, _, terminated, truncated, infos = batch.step(all_chosen(infos["action_mask"], observations))
    assert (terminated.tolist(), truncated.tolist()) == ([False, False], [False, True])


def test_no_limit_has_ended_a_game_that_an_illegal_action_ends() -> None:
    """A game may say that it was cut off before it is over: nobody asks it until then."""
    batch = SeatVectorEnv("dominion", num_envs=2, seat=1)
    batch.reset(seed=1)
    batch._batch.games.states["is_truncated"] = 1
    with pytest.warns(UserWarning, match="an illegal action has ended a game"):
        _, rewards, terminated, truncated, _ = batch.step(np.array([-1, -1]))
    assert (rewards.tolist(), terminated.tolist(), truncated.tolist()) == ([-1, -1], [True, True], [False, False])


def test_an_illegal_action_is_told_as_it_was_given() -> None:
    batch = SeatVectorEnv(num_envs=1, illegal="raise")
    batch.reset(seed=1)
    for action in (2**64 - 1, 2**63):
        with pytest.raises(IllegalAction, match=f"action {action} is not legal"):
            batch.step(np.array([action], np.uint64))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"num_envs": 0}, r"num_envs=0 is not possible; num_envs is a whole number from 1"),
        ({"skip_forced": "no"}, r"skip_forced=no is not possible; skip_forced may be True or False"),
        ({"threads": True}, r"threads=True is not possible; threads is a whole number from 1 to 256"),
        (
            {"opponents": 7},
            r"7 is no policy; a policy is a text such as 'random', a Policy, a function of a view, or an object with act_batch",
        ),
        ({"reward": "rang"}, r"reward=rang is not possible \(did you mean rank\?\)"),
        ({"critic_encoding": "wrong"}, r"kingdomino has no encoding wrong"),
        ({"seat": 4}, r"seat=4 is not possible"),
        ({"pool": []}, r"holds no policy"),
        ({"pool": {}}, r"holds no policy"),
        ({"pool": "random"}, r"pool='random' is not a list of policies, or a dict of policies with their weights"),
        ({"pool": {"random": -1}}, r"pool gives random the weight -1; a weight is a number from 0 on"),
        ({"pool": {"random": float("inf")}}, r"pool gives random the weight inf; a weight is a number from 0 on"),
        ({"pool": {"random": "1"}}, r"pool gives random the weight 1; a weight is a number from 0 on"),
        ({"pool": {"random": 0}}, r"the weights of pool are 0.0 together; give at least one a weight above 0"),
        (
            {"autoreset_mode": "NextStpe"},
            r"autoreset_mode=NextStpe is not possible \(did you mean NextStep\?\); autoreset_mode may be NextStep, SameStep or Disabled",
        ),
    ],
)
def test_a_mistake_is_told_in_a_sentence(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises((BadOption, NotSupported), match=sentence):
        SeatVectorEnv(**parameters)


def test_calls_that_cannot_be_carried_out_are_refused() -> None:
    batch = SeatVectorEnv(num_envs=2)
    with pytest.raises(WrongOrder, match="call reset"):
        batch.step(np.zeros(2, int))
    batch.reset(seed=1)
    for actions in (np.zeros(3, int), np.zeros(2), [[0], [0]]):
        with pytest.raises(BadOption, match="give 2 whole numbers, one for each game"):
            batch.step(actions)
    with pytest.raises(BadOption, match="lists 3 seeds for 2 games"):
        batch.reset(seed=[1, 2, 3])
    with pytest.raises(BadOption, match=r"no option reset_maks \(did you mean reset_mask\?\)"):
        batch.reset(options={"reset_maks": 1})
    for mask in (np.zeros(2, bool), np.ones(3, bool), np.ones((2, 1), bool), np.ones(2, np.int8), [True, True], True):
        with pytest.raises(BadOption, match="give an array of 2 bools, of which one is true"):
            batch.reset(options={"reset_mask": mask})
    for options in (5, "reset_mask", ["reset_mask"]):
        with pytest.raises(BadOption, match="is not possible; options of reset are a dict with reset_mask"):
            batch.reset(options=options)


def test_a_seat_that_never_decides_is_told_after_many_games() -> None:
    batch = SeatVectorEnv("dominoes", num_envs=2, mode="round")
    batch._batch.world = batch._batch.world._replace(learner=7)  # a seat that no game has
    with pytest.raises(NotSupported, match="the learner had nothing to decide in 1000 games in a row"):
        batch.reset(seed=1)


# Self-play


def test_self_play_tells_the_rewards_of_all_seats_when_a_game_ends() -> None:
    batch = SelfPlay("dominoes", 8, mode="round")
    now = batch.reset(seed=1)
    assert isinstance(now, BatchStep) and now.observation.shape == (8, batch.n_observed) and now.action_mask.shape == (8, batch.n_actions)
    n_ended = 0
    for _ in range(100):
        now = batch.step(all_chosen(now.action_mask, now.observation))
        ended = now.terminated | now.truncated
        n_ended += int(ended.sum())
        assert not now.rewards[~ended].any()
        assert np.array_equal(now.rewards[:, 0], now.rewards[:, 2]) and np.allclose(now.rewards.sum(axis=1), 0)  # partners share
    assert n_ended > 20
