"""Is SeatVecEnv what Stable-Baselines3 expects of a vector environment? It is compared with a DummyVecEnv of SeatEnvs."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from test_vector import all_chosen, assert_same, every_game, short

from kdenv.core.errors import BadOption, NotSupported
from kdenv.envs.single_agent import SeatEnv

vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
contrib = pytest.importorskip("sb3_contrib")
sb3 = pytest.importorskip("kdenv.envs.sb3")


@every_game
@pytest.mark.parametrize("reward", ["margin", "gains"])
def test_it_does_what_a_dummy_vec_env_does(game: str, reward: str) -> None:
    keywords: dict[str, Any] = {"seat": "rotate", "reward": reward, **short(game)}
    theirs = vec_env.VecMonitor(vec_env.DummyVecEnv([lambda: SeatEnv(game, **keywords)] * 3))
    ours = sb3.SeatVecEnv(game, num_envs=3, threads=2, **keywords)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    for env in (ours, theirs):
        env.seed(7)
    observations, expected = ours.reset(), theirs.reset()
    n_ended = 0
    for _ in range(60):
        np.testing.assert_array_equal(observations, expected)
        masks = ours.action_masks()
        np.testing.assert_array_equal(np.stack(ours.env_method("action_masks")), masks)
        np.testing.assert_array_equal(np.stack(theirs.env_method("action_masks")), masks)
        actions = all_chosen(masks, observations)
        observations, rewards, dones, infos = ours.step(actions)
        expected, *told = theirs.step(actions)
        assert rewards.dtype == np.float32
        assert_same((rewards, dones), tuple(told[:2]))
        for done, info, theirs_info in zip(dones, infos, told[2], strict=True):
            assert bool(info) == done
            if done:
                n_ended += 1
                ours_of, theirs_of = info["episode"], theirs_info["episode"]
                assert ours_of["r"] == pytest.approx(theirs_of["r"]) and ours_of["l"] == theirs_of["l"]
                for key in ("terminal_observation", "TimeLimit.truncated", "seat", "scores", "ranks"):
                    assert_same(info[key], theirs_info[key])
    assert n_ended >= 3
    ours.close()


def test_maskable_ppo_takes_it_as_it_is(tmp_path: Any) -> None:
    env = sb3.SeatVecEnv("kingdomino", "full_greedy", num_envs=8, seat="rotate", threads=2)
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256 and [episode["l"] for episode in model.ep_info_buffer] == [24] * 8
    model.save(tmp_path / "model.zip")
    loaded = contrib.MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu")
    assert loaded.observation_space.made_for["game"] == "kingdomino"
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    rewards, lengths = evaluate_policy(loaded, env, n_eval_episodes=4, return_episode_rewards=True)
    assert len(rewards) == 4 and set(lengths) == {24}


@pytest.mark.parametrize("wrapper", ["VecNormalize", "VecCheckNan"])
def test_wrappers_take_it(wrapper: str) -> None:
    env = getattr(vec_env, wrapper)(sb3.SeatVecEnv(num_envs=2))
    observations = env.reset()
    for _ in range(30):
        observations, rewards, _, _ = env.step(all_chosen(np.stack(env.env_method("action_masks")), observations))
    assert observations.shape[0] == 2 and rewards.shape == (2,)


def test_attributes_are_those_of_all_games() -> None:
    env = sb3.SeatVecEnv(num_envs=3)
    env.reset()
    assert env.get_attr("num_envs") == [3, 3, 3] and env.get_attr("render_mode", 1) == [None]
    assert env.has_attr("action_masks") and not env.has_attr("joy")
    with pytest.raises(AttributeError):
        env.get_attr("joy")
    env.set_attr("joy", 5, [0, 2])
    assert env.get_attr("joy") == [5, None, 5] and env.has_attr("joy")
    assert [mask().shape for mask in env.get_attr("action_masks")] == [(329,)] * 3
    assert env.env_method("learner", indices=[0, 1]) == [0, 0] and env.env_method("table", indices=2)[0].players == 4
    with pytest.raises(NotSupported, match="num_envs belongs to all games"):
        env.set_attr("num_envs", 5)
    with pytest.raises(NotSupported, match="no method render; env_method knows action_masks"):
        env.env_method("render")
    with pytest.raises(BadOption, match="there is no game 3; the games are 0 to 2"):
        env.env_method("learner", indices=3)


def test_options_of_reset_are_refused() -> None:
    env = sb3.SeatVecEnv(num_envs=2)
    env.set_options({"position": "x"})
    with pytest.raises(NotSupported, match="take no options of reset; use SeatEnv"):
        env.reset()


def test_a_missing_library_is_told_in_a_sentence() -> None:
    code = "import sys; sys.modules['stable_baselines3'] = None; import kdenv.envs; kdenv.envs.SeatVecEnv"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert told.stderr.splitlines()[-1].endswith(
        "MissingExtra: kdenv.envs.sb3 needs the extra 'rl': pip install '.[rl]' in a clone of kdenv"
    )
