"""Are the PettingZoo environments what PettingZoo, and whoever copies, replays or breaks them, expects? For every game."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, IllegalAction, KdenvError, MissingExtra, WrongOrder
from kdenv.envs import rendering
from kdenv.envs.aec import TableEnv, env, raw_env
from kdenv.envs.parallel import TableParallelEnv, parallel_env
from kdenv.envs.rewards import Payer
from kdenv.envs.single_agent import SeatEnv
from kdenv.envs.spaces import ActionSpace
from kdenv.games import TITLES

with warnings.catch_warnings():  # with pygame installed, PettingZoo's tests import a game of its own the old way
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
    from pettingzoo.test.state_test import state_test
    from pettingzoo.utils import wrappers

every_game = pytest.mark.parametrize("game", TITLES)
lost = pytest.mark.filterwarnings("ignore:an illegal action has ended a game")
without_window = pytest.mark.filterwarnings("ignore:.*nothing is shown. render_mode='human' needs a display")
# What PettingZoo says of all dictionaries with masks but those of its own environments.
masks_are_known = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably should be",
    "ignore:Action mask numpy array is all zeros",
)


def begun(game: str = "kingdomino", seed: int = 1, **parameters: Any) -> TableEnv:
    """An environment after reset, with the spaces of all agents seeded."""
    made = TableEnv(game, **parameters)
    made.reset(seed=seed)
    for i, agent in enumerate(made.possible_agents):
        made.action_space(agent).seed(100 * seed + i)
    return made


def play_on(env: TableEnv, steps: int = 1_000_000) -> dict[str, float]:
    """Random steps until all agents have left; return what each has got on the way."""
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, _ = env.last()
        rewards[agent] += reward
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    return rewards


# PettingZoo's own tests


@every_game
@masks_are_known
def test_api_test_passes(game: str) -> None:
    api_test(env(game), num_cycles=200)


@masks_are_known
@pytest.mark.parametrize("observation", ["vector", "parts"])
def test_api_test_passes_with_other_observations(observation: str) -> None:
    api_test(env(observation=observation), num_cycles=50)


@every_game
@masks_are_known
def test_api_test_passes_in_the_wrappers_of_pettingzoo(game: str) -> None:
    wrapped: Any = wrappers.TerminateIllegalWrapper(raw_env(game), illegal_reward=-1)
    api_test(wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped)), num_cycles=50)


@every_game
def test_seed_test_passes(game: str) -> None:
    seed_test(lambda: env(game), num_cycles=100)


@every_game
def test_parallel_api_test_passes(game: str) -> None:
    parallel_api_test(parallel_env(game), num_cycles=200)


@every_game
@pytest.mark.parametrize("observation", ["dict", "vector", "parts"])
def test_a_parallel_environment_plays_the_same_game_and_seats_that_wait_have_one_action(game: str, observation: str) -> None:
    ours, turns = parallel_env(game, observation=observation, reward="gains"), env(game, reward="gains")
    assert isinstance(ours, TableParallelEnv) and ours.action_space("player_0").n == turns.action_space("player_0").n + 1
    seen, infos = ours.reset(seed=3)
    turns.reset(seed=3)
    for _ in range(60):
        assert seen.keys() == infos.keys() == set(ours.agents)
        for agent in ours.agents:
            assert seen[agent] in ours.observation_space(agent)
            mask = infos[agent]["action_mask"]
            assert (mask[-1] == 0 and mask.any()) if agent == turns.agent_selection else np.flatnonzero(mask).tolist() == [ours.wait]
            told = turns.observe(agent)
            if observation == "dict":
                assert np.array_equal(seen[agent]["observation"], told["observation"]) and seen[agent]["action_mask"] is mask
            assert np.array_equal(mask[:-1], told["action_mask"])
        actions = {agent: int(info["action_mask"].argmax()) for agent, info in infos.items()}
        seen, rewards, terminations, truncations, infos = ours.step(actions)
        turns.step(actions[turns.agent_selection])
        assert (rewards, terminations, truncations) == (turns.rewards, turns.terminations, turns.truncations)
        if not ours.agents:
            assert all(np.flatnonzero(info["action_mask"]).tolist() == [ours.wait] for info in infos.values())
            seen, infos = ours.reset()
            turns.reset()


def test_a_parallel_environment_needs_the_action_of_the_agent_that_decides() -> None:
    ours = parallel_env("dominoes")
    with pytest.raises(WrongOrder, match="none has begun; call reset"):
        ours.step({})
    ours.reset(seed=1)
    with pytest.raises(BadOption, match=r"the actions \{\} have none of player_\d, which decides; give a dict with"):
        ours.step({})
    with pytest.warns(UserWarning, match="an illegal action has ended"):
        _, rewards, terminations, _, _ = ours.step(dict.fromkeys(ours.agents, ours.wait))
    assert min(rewards.values()) == -1 and all(terminations.values()) and not ours.agents


@every_game
@lost
def test_state_test_passes(game: str) -> None:
    state_test(env(game), parallel_env(game))


@every_game
@without_window
def test_render_test_passes(game: str) -> None:
    render_test(lambda **parameters: env(game, **parameters), custom_tests={"svg": lambda drawn: drawn.lstrip().startswith("<svg")})


# Ways in


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has registries since 1.27")
@pytest.mark.parametrize("title", TITLES.values())
def test_pettingzoo_finds_every_game_in_its_registries(title: str) -> None:
    assert isinstance(pettingzoo.make("aec", f"kdenv/{title}-v0"), TableEnv)
    assert pettingzoo.make("parallel", f"kdenv/{title}-v0").unwrapped.metadata["name"] == f"{title.lower()}_v0"


@every_game
def test_every_game_has_a_module_as_pettingzoo_has(game: str) -> None:
    door = getattr(kdenv, f"{game}_v0")
    assert isinstance(door.env(), TableEnv) and isinstance(door.raw_env(), TableEnv)
    assert door.parallel_env().possible_agents == door.env().possible_agents


def test_importing_kdenv_compiles_nothing() -> None:
    heavy = "[name for name in ('numba', 'torch', 'stable_baselines3', 'resvg_py', 'tkinter', 'pygame') if name in sys.modules]"
    done = run_python(f"import sys, kdenv; print({heavy})")
    assert done.strip() == "[]"


def test_public_names_are_there() -> None:
    assert kdenv.games() == list(TITLES)
    assert kdenv.table("kingdomino", players=3, size=7).options["size"] == 7
    assert str(kdenv.policy("random")) == "random"
    assert kdenv.game("kingdomino").title == "Kingdomino"
    assert set(kdenv.__all__) <= set(dir(kdenv))
    with pytest.raises(AttributeError, match="kdenv has no tabel"):
        kdenv.tabel  # noqa: B018


# Observations and masks


@every_game
def test_the_mask_is_int8_and_says_what_is_legal_and_others_have_zeros(game: str) -> None:
    env = begun(game)
    for agent in env.agent_iter(60):
        for other in env.agents:
            mask = env.observe(other)["action_mask"]
            assert mask is env.infos[other]["action_mask"]
            assert mask.dtype == np.int8
            assert np.flatnonzero(mask).tolist() == (env.table.legal() if other == agent else [])
        if env.terminations[agent]:
            return
        env.step(env.action_space(agent).sample(env.infos[agent]["action_mask"]))


@every_game
def test_what_has_been_observed_is_never_overwritten(game: str) -> None:
    env = begun(game)
    kept, copies = [], []
    for agent in env.agent_iter(40):
        observation, _, done, _, _ = env.last()
        kept.append(observation)
        copies.append(copy.deepcopy(observation))
        env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
    for before, after in zip(copies, kept, strict=True):
        assert np.array_equal(before["observation"], after["observation"])
        assert np.array_equal(before["action_mask"], after["action_mask"])


def test_a_mask_that_was_written_to_does_not_make_actions_legal() -> None:
    env = begun()
    env.last()[0]["action_mask"][:] = 1
    with pytest.raises(IllegalAction):
        env.step(0)


@every_game
def test_observations_lie_in_their_space_to_the_end(game: str) -> None:
    env = begun(game)
    for agent in env.agent_iter():
        observation, _, done, cut, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        assert env.state_space.contains(env.state())
        env.step(None if done or cut else env.action_space(agent).sample(observation["action_mask"]))


@every_game
def test_a_game_is_of_open_information_just_if_views_show_the_truth(game: str) -> None:
    env = begun(game)
    open_so_far = True
    for agent in env.agent_iter(100):
        if env.terminations[agent]:
            break
        open_so_far &= all(bool((env.view(other).states == env.table.states).all()) for other in env.agents)
        env.step(env.action_space(agent).sample(env.infos[agent]["action_mask"]))
    assert env.table.game.open_information == open_so_far
    observations = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(env.state(), observations[0] if open_so_far else np.concatenate(observations))


@every_game
def test_an_observation_may_be_the_vector_alone_or_a_dict_of_its_parts(game: str) -> None:
    whole, vector, parts = (begun(game, observation=form) for form in ("dict", "vector", "parts"))
    for agent in whole.agent_iter(40):
        if whole.terminations[agent]:
            break
        observation = whole.observe(agent)
        assert np.array_equal(vector.observe(agent), observation["observation"])
        shaped = parts.observe(agent)
        assert [(name, array.shape) for name, array in shaped.items()] == [(name, part.shape) for name, part in parts.layout().items()]
        assert np.array_equal(np.concatenate([array.ravel() for array in shaped.values()]), observation["observation"])
        assert vector.observation_space(agent).contains(vector.observe(agent)) and parts.observation_space(agent).contains(shaped)
        action = whole.action_space(agent).sample(observation["action_mask"])
        for each in (whole, vector, parts):
            assert np.array_equal(each.infos[agent]["action_mask"], observation["action_mask"])
            each.step(action)


@every_game
def test_the_layout_hangs_on_games_and_environments(game: str) -> None:
    here = kdenv.game(game)
    for encoding in (None, here.encodings[-1].name):
        layout = here.layout(encoding=encoding)
        assert layout == TableEnv(game, encoding=encoding).layout() == SeatEnv(game, encoding=encoding).layout()
        assert list(SeatEnv(game, encoding=encoding, observation="parts").observation_space) == list(layout)


@every_game
def test_forced_decisions_are_not_asked_for_if_so_wanted(game: str) -> None:
    n_forced = 0
    for seed in range(10):
        env, plain = begun(game, seed, skip_forced=True, reward="gains"), begun(game, seed, reward="gains")
        total = play_on(env)
        for event in env.table.events():
            if not event.is_chance:
                n_forced += len(plain.table.legal()) == 1
                plain.step(event.number)
        assert plain.record() == env.record()
        first = begun(game, seed).table.scores()
        gained = (np.array(env.table.scores()) - first) / env.table.game.margin_scale
        assert list(total.values()) == pytest.approx(gained)
        again = begun(game, seed, skip_forced=True)
        while not again.table.over:
            assert again.infos[again.agent_selection]["action_mask"].sum() > 1
            again.step(again.action_space(again.agent_selection).sample(again.infos[again.agent_selection]["action_mask"]))
    assert n_forced > 0


# Rewards


@every_game
@pytest.mark.parametrize("reward", ["win", "rank"])
def test_nothing_is_rewarded_before_the_end_and_wins_and_ranks_add_up_to_nothing(game: str, reward: str) -> None:
    env = begun(game, reward=reward)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        assert set(env.rewards.values()) == {0.0}
        env.step(env.action_space(env.agent_selection).sample(env.infos[env.agent_selection]["action_mask"]))
    assert sum(env.rewards.values()) == pytest.approx(0)
    assert play_on(env) == dict(zip(env.possible_agents, Payer(reward).at_end(env.table), strict=True))


def results(scores: list[int], teams: int, scale: float = 100) -> Any:
    """A table that is over, as far as rewards look at it."""
    game = SimpleNamespace(teams=lambda players: teams, margin_scale=scale)
    return SimpleNamespace(
        game=game, states=kdenv.table("kingdomino").states, players=len(scores), scores=lambda: scores, standings=lambda: scores
    )


@pytest.mark.parametrize(
    "scores, teams, wins, ranks",
    [
        ([50, 40, 30, 20], 4, [1, -1 / 3, -1 / 3, -1 / 3], [1, 1 / 3, -1 / 3, -1]),
        ([50, 50, 30, 20], 4, [1 / 3, 1 / 3, -1 / 3, -1 / 3], [2 / 3, 2 / 3, -1 / 3, -1]),
        ([20, 30, 30, 50], 4, [-1 / 3, -1 / 3, -1 / 3, 1], [-1, 0, 0, 1]),
        ([50, 50, 50, 50], 4, [0, 0, 0, 0], [0, 0, 0, 0]),
        ([3, 7], 2, [-1, 1], [-1, 1]),
        ([3, 3], 2, [0, 0], [0, 0]),
        ([10, 5, 10, 5], 2, [1, -1, 1, -1], [1, -1, 1, -1]),
        ([10], 1, [0], [0]),
    ],
)
def test_a_win_is_shared_and_a_rank_is_the_mean_of_the_places_shared(
    scores: list[int], teams: int, wins: list[float], ranks: list[float]
) -> None:
    assert Payer("win").at_end(results(scores, teams)) == pytest.approx(wins)
    assert Payer("rank").at_end(results(scores, teams)) == pytest.approx(ranks)


def test_margin_and_score_rewards() -> None:
    assert Payer("margin").at_end(results([50, 40, 30], 3)) == pytest.approx([0.1, -0.1, -0.2])
    assert Payer("margin").at_end(results([50, 40, 50, 40], 2, scale=10)) == pytest.approx([1, -1, 1, -1])
    assert Payer("margin").at_end(results([-50, -40], 2)) == pytest.approx([-0.1, 0.1])
    assert Payer("margin").at_end(results([7], 1)) == pytest.approx([0.07])
    assert Payer("score").at_end(results([50, 40, 30], 3)) == pytest.approx([0.5, 0.4, 0.3])


@every_game
def test_gains_are_given_as_points_are_gained(game: str) -> None:
    env = begun(game, reward="gains")
    first = before = np.array(env.table.scores())
    scale, n_gains = env.table.game.margin_scale, 0
    while not env.table.over:
        env.step(env.action_space(env.agent_selection).sample(env.infos[env.agent_selection]["action_mask"]))
        now = np.array(env.table.scores())
        assert list(env.rewards.values()) == pytest.approx((now - before) / scale)
        n_gains += not np.array_equal(before, now)
        before = now
    env.reset()
    first = np.array(env.table.scores())
    total = play_on(env)
    assert list(total.values()) == pytest.approx((env.table.scores() - first) / scale)
    assert n_gains > 1 or game == "dominoes"  # a game of dominoes is one round, which is counted at its end


def test_a_reward_may_be_a_function_of_the_table_at_the_end() -> None:
    env = begun(reward=lambda table: [-rank for rank in table.ranks()])
    assert play_on(env) == {agent: -rank for agent, rank in zip(env.possible_agents, env.table.ranks(), strict=True)}


@pytest.mark.parametrize("returned", [[1, 2, 3], 5, [1, 2, 3, float("nan")], "four", None])
def test_a_function_that_gives_no_rewards_is_told_in_one_sentence(returned: Any) -> None:
    env = begun(reward=lambda table: returned)
    with pytest.raises(BadOption, match=r"^the function given as reward= returned .*; it must return 4 finite numbers, one per seat$"):
        play_on(env)


def test_a_game_broken_off_is_truncated_and_worth_nothing() -> None:
    for reward in ("win", "margin", lambda table: 1 / 0):
        env = begun("dominion", max_turns=1, reward=reward)
        while env.table.legal():
            env.step(env.table.legal()[-1])
        assert all(env.truncations.values()) and not any(env.terminations.values())
        assert set(env.rewards.values()) == {0.0}


def test_after_ctrl_c_a_step_that_no_agent_was_told_of_is_not_stepped_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    env = begun()
    with monkeypatch.context() as patch:
        patch.setattr(env, "_select", interrupt)
        with pytest.raises(KeyboardInterrupt):
            env.step(env.table.legal()[0])
    with pytest.raises(WrongOrder, match=r"broken off by a KeyboardInterrupt in a step; call reset\(\)"):
        env.step(0)


# Copies


def through_pickle(env: TableEnv) -> TableEnv:
    return pickle.loads(pickle.dumps(env))


@every_game
@pytest.mark.parametrize("how", [TableEnv.clone, copy.deepcopy, through_pickle])
def test_a_copy_made_in_mid_game_plays_on_identically(game: str, how: Callable[[TableEnv], TableEnv]) -> None:
    env = begun(game)
    play_on(env, steps=11)
    twin = how(env)
    assert play_on(env) == play_on(twin)
    assert env.record() == twin.record()
    for each in (env, twin):
        each.reset()  # without a seed: the generator, too, is where it was
        play_on(each)
    assert env.record() == twin.record()


def test_a_copy_goes_its_own_way() -> None:
    env = begun()
    before = env.record()
    twin = env.clone()
    twin.infos["player_0"]["mine"] = True
    play_on(twin)
    assert env.record() == before and env.agents == env.possible_agents and "mine" not in env.infos["player_0"]


# Seeds


def test_the_same_seed_gives_the_same_games_and_another_seed_others() -> None:
    def two_games(seed: int) -> list[str]:
        env = begun(seed=seed)
        play_on(env)
        first = env.record()
        env.reset()
        play_on(env)
        return [first, env.record()]

    assert two_games(5) == two_games(5)
    assert len({*two_games(5), *two_games(6)}) == 4


def run_python(program: str, **environment: str) -> str:
    """What a program prints in a process of its own."""
    home = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": home, **environment}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.cold
def test_a_seed_means_the_same_game_in_every_process() -> None:
    program = """
import kdenv
from kdenv.envs.aec import TableEnv
from kdenv.envs.single_agent import SeatEnv
for game in kdenv.games():
    env = TableEnv(game)
    env.reset(seed=7)
    while env.table.legal():
        env.step(env.table.legal()[-1])
    print(env.record())
    env = SeatEnv(game, pool=["random", kdenv.game(game).knowledge.greedy or "random"], seat="random")
    env.reset(seed=7)
    while env.table.legal():
        env.step(env.table.legal()[-1])
    print(env.record())
"""
    assert run_python(program, PYTHONHASHSEED="1") == run_python(program, PYTHONHASHSEED="2")


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_must_be_a_whole_number(seed: Any) -> None:
    with pytest.raises(BadOption, match=f"seed={seed} is not possible"):
        TableEnv().reset(seed=seed)


def test_a_seed_may_have_thousands_of_digits_but_not_a_sign() -> None:
    env, other = TableEnv(), TableEnv()
    env.reset(seed=10**5000)
    other.reset(seed=10**5000)
    assert env.record() == other.record()
    with pytest.raises(BadOption, match=r"^seed=a number of about 5,001 digits is not possible; seed may be a whole number from 0 up$"):
        env.reset(seed=-(10**5000))


# Scripts and positions


@every_game
def test_a_script_and_the_same_actions_give_the_same_game(game: str) -> None:
    env = begun(game)
    play_on(env)
    events = env.table.events()
    record = env.record()
    env.reset(seed=99, options={"script": [event.number for event in events if event.is_chance]})
    for event in events:
        if not event.is_chance:
            env.step(event.number)
    assert env.record() == record


def test_a_script_may_be_written_in_words_and_the_rest_is_drawn() -> None:
    env = TableEnv()
    words = ["draw 8", "draw 20", "draw 30", "draw 34", "king 2"]
    env.reset(seed=1, options={"script": words})
    assert env.record().splitlines()[1] == "* " + ", ".join(words)
    assert env.agent_selection == "player_2"
    play_on(env)
    assert env.table.over


@every_game
def test_a_game_may_start_from_a_position(game: str) -> None:
    env = begun(game)
    play_on(env, steps=9)
    position, agent, mask = env.table.position(), env.agent_selection, env.infos[env.agent_selection]["action_mask"]
    other = TableEnv(game)
    other.reset(seed=3, options={"position": position})
    assert (other.table.position(), other.agent_selection) == (position, agent)
    assert np.array_equal(other.last()[4]["action_mask"], mask)
    play_on(other)
    assert kdenv.replay(other.record()).scores() == other.table.scores()


@pytest.mark.parametrize(
    "options, sentence",
    [
        (5, "options=5 is not possible; options of reset are a dict with script and position"),
        (["script"], "options=['script'] is not possible; options of reset are a dict with script and position"),
        ({"scrypt": []}, "reset has no option scrypt (did you mean script?); its options are script and position"),
        ({"script": 3}, "script=3 is not a list of outcomes of chance; write each as a number or a word"),
        ({"script": "draw 8"}, "script='draw 8' is not a list of outcomes of chance; write each as a number or a word"),
        ({"script": [7, 1.5]}, "script[1]=1.5 is not an outcome of chance; write a number or a word of the game's notation"),
        ({"script": ["draw 8", "king 1"]}, "script[1]='king 1': 'king 1' cannot happen here; next is 'draw <number>'"),
        ({"position": 3}, "position=3 is not a text as env.table.position() writes it"),
    ],
)
def test_bad_options_of_reset_are_told_in_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as caught:
        TableEnv().reset(seed=1, options=options)
    assert str(caught.value) == sentence


def test_a_scripted_outcome_that_cannot_happen_is_named_with_its_place() -> None:
    with pytest.raises(BadOption, match=r"script\[1\]=7: chance outcome 7 is not legal in kingdomino position"):
        TableEnv().reset(options={"script": [7, 7]})


@every_game
@pytest.mark.parametrize("options", [{"script": [-5]}, {"script": ["nonsense"]}, {"position": "nonsense"}, {"no": 1}])
def test_a_reset_that_is_refused_leaves_the_game_and_its_generator_as_they_are(game: str, options: dict[str, Any]) -> None:
    """A script that failed used to leave a new table, at a chance node, under the mask of the old one."""
    env = begun(game)
    play_on(env, steps=5)
    twin = env.clone()
    with pytest.raises(KdenvError):
        env.reset(seed=7, options=options)
    for each in (env, twin):
        play_on(each)
        each.reset()
        play_on(each)
    assert env.record() == twin.record()


def test_a_script_that_fails_in_mid_game_breaks_the_game_off() -> None:
    env = TableEnv()
    env.reset(seed=1, options={"script": ["draw 8", "draw 20", "draw 30", "draw 34", "king 2", "king 2"]})
    with pytest.raises(BadOption, match=r"^script\[5\]='king 2': "):
        env.step(325)
    with pytest.raises(WrongOrder, match=r"^the game was broken off by a BadOption in a step; call reset\(\) to deal a new one$"):
        env.step(326)
    env.reset(seed=1)
    play_on(env)
    assert env.table.over


CHANGES = {
    "set up anew": lambda table: table.at_position(table.position()),
    "played": lambda table: table.play(table.legal()[0]),
    "decided": lambda table: table.decide(table.legal()[0], make_rng(1)),
    "chance": lambda table: table.run_chance(make_rng(1)),
}


@every_game
@pytest.mark.parametrize("change", CHANGES)
def test_an_environment_notices_that_its_table_was_changed(game: str, change: str) -> None:
    seat_env = SeatEnv(game)
    seat_env.reset(seed=1)
    for each in (begun(game), seat_env, begun(game).clone()):
        action = each.table.legal()[0]
        CHANGES[change](each.table.clone())
        each.step(action)  # changing a copy does no harm
        CHANGES[change](each.table)
        with pytest.raises(WrongOrder, match=r"changed from outside; call reset\(\), and change table.clone\(\) instead$"):
            each.step(action)
        each.reset()
        each.step(each.table.legal()[0])


def test_a_game_cannot_start_where_it_is_over() -> None:
    env = begun()
    play_on(env)
    with pytest.raises(BadOption, match="the game is over at once"):
        env.reset(options={"position": env.table.position()})


@pytest.mark.parametrize(
    "parameters, sentence",
    [
        (
            {"reward": "rang"},
            "reward=rang is not possible (did you mean rank?); reward may be win, rank, margin, score, gains or a function of the table",
        ),
        ({"skip_forced": 1}, "skip_forced=1 is not possible; skip_forced may be True or False"),
        ({"illegal": "ignore"}, "illegal=ignore is not possible; illegal may be raise or terminate"),
        ({"render_mode": "rgb"}, "render_mode=rgb is not possible; render_mode may be human, ansi, svg or rgb_array"),
        (
            {"syze": 3},
            "unexpected keyword argument 'syze' (did you mean size?): it is no parameter of TableEnv and no option of kingdomino, whose "
            "options are size, dominoes, middle, harmony, tiebreak",
        ),
        (
            {"observatoin": "vector"},
            "unexpected keyword argument 'observatoin' (did you mean observation?): it is no parameter of TableEnv and no option of "
            "kingdomino, whose options are size, dominoes, middle, harmony, tiebreak",
        ),
        ({"players": 9}, "kingdomino cannot be played by 9 players; players may be 2, 3 or 4"),
        ({"game": "kingdom"}, f"there is no game kingdom (did you mean kingdomino?); the games are {', '.join(TITLES)}"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as caught:
        TableEnv(**parameters)
    assert str(caught.value) == sentence


# Mistakes in play


NONSENSE = [2**63, -(2**63), np.uint64(2**63), 10**5000, float("nan"), None, "x" * 10_000, b"pick", np.zeros((3, 3)), [[1]], {}, object()]


@every_game
@pytest.mark.parametrize("action", NONSENSE, ids=lambda action: type(action).__name__)
def test_what_is_no_action_is_refused_in_one_sentence(game: str, action: Any) -> None:
    table, seat = begun(game), SeatEnv(game, illegal="raise")
    seat.reset(seed=1)
    for each in (table, seat):
        with pytest.raises(IllegalAction, match=r"^action [^\n]* is not legal in [^\n]*$") as caught:
            each.step(action)
        assert len(str(caught.value).partition(" is not legal in ")[0]) < 130
        each.step(each.table.legal()[0])  # nothing is broken


@pytest.mark.parametrize("action", [0, -1, 10**6, None, 1.5, "pick 8"])
def test_an_illegal_action_is_named_with_the_position_and_what_is_legal(action: Any) -> None:
    env = TableEnv()
    env.reset(seed=1, options={"script": ["draw 8", "draw 20", "draw 30", "draw 34", "king 2"]})
    with pytest.raises(IllegalAction) as caught:
        env.step(action)
    message = str(caught.value)
    assert message.startswith(f"action {action}") and env.table.position() in message and "325 (pick 8)" in message
    env.step(325)  # nothing is broken


@every_game
def test_an_illegal_action_may_end_the_game_as_a_loss_of_the_mover(game: str) -> None:
    env = begun(game, illegal="terminate")
    mover = env.agent_selection
    with pytest.warns(UserWarning, match=f"^an illegal action has ended a game of {game} as a loss of its seat; choose"):
        env.step(int(env.infos[mover]["action_mask"].argmin()))
    teams = env.table.game.teams(env.table.players)
    seat = env.possible_agents.index(mover)
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if i % teams == seat % teams else 1 / (teams - 1) for i, agent in enumerate(env.possible_agents)}
    assert "is not legal" in env.infos[mover]["illegal"] and not env.infos[mover]["action_mask"].any()
    play_on(env)
    assert env.agents == []


def test_env_takes_an_illegal_action_as_a_loss_and_warns_once_and_raw_env_raises() -> None:
    doors = kdenv.kingdomino_v0

    def take_illegal_actions() -> None:
        for made in (doors.env(), doors.env(), doors.parallel_env().aec_env):
            made.reset(seed=1)
            made.step(0)
            assert made.terminations["player_0"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        take_illegal_actions()  # compiles all that is needed: numba changes the filters, after which Python shows a warning again
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        take_illegal_actions()
    assert sum(str(each.message).startswith("an illegal action has ended") for each in shown) == 1
    made = doors.raw_env()
    made.reset(seed=1)
    with pytest.raises(IllegalAction):
        made.step(0)


def test_nothing_but_reset_can_come_first() -> None:
    env = TableEnv()
    of_agents = [lambda: env.step(0), lambda: env.observe("player_0"), lambda: env.view("player_0")]
    for call in (env.last, env.agent_iter, env.state, env.render, env.record, *of_agents):
        with pytest.raises(WrongOrder, match=r"call reset\(\) first"):
            call()
    assert not hasattr(env, "agents")
    with pytest.raises(AttributeError, match="TableEnv has no attribute agentz"):
        env.agentz  # noqa: B018


@lost
def test_agents_that_have_finished_leave_by_none_and_then_only_reset_is_left() -> None:
    env = begun(illegal="terminate")
    env.step(0)
    with pytest.raises(IllegalAction, match=r"player_0 has finished, so its last step must be step\(None\), not step\(3\)"):
        env.step(3)
    for left in (3, 2, 1, 0):
        env.step(None)
        assert env.num_agents == left == len(env.rewards) == len(env.infos)
    with pytest.raises(WrongOrder, match=r"every agent has left; reset\(\) deals a new one"):
        env.step(None)
    env.reset()
    assert env.num_agents == 4


def test_an_agent_that_does_not_exist_is_named() -> None:
    with pytest.raises(BadOption, match="there is no agent player_9; the agents are player_0, player_1"):
        begun().observe("player_9")


# Pictures


@every_game
def test_pictures_are_arrays_of_bytes_that_change_with_the_game(game: str) -> None:
    env = begun(game, render_mode="rgb_array")
    before = env.render()
    play_on(env, steps=7)
    after = env.render()
    assert isinstance(before, np.ndarray) and isinstance(after, np.ndarray)
    assert before.dtype == np.uint8 and before.ndim == 3 and before.shape[2] == 3
    assert before.shape != after.shape or (before != after).any()


def test_a_picture_has_the_colours_of_the_drawing() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="10" height="20" fill="#102030"/></svg>'
    picture = rendering.rgb_array(svg)
    assert picture.shape == (20, 30, 3)
    assert picture[5, 5].tolist() == [0x10, 0x20, 0x30] and picture[5, 25].tolist() == [255, 255, 255]


@pytest.mark.filterwarnings("ignore:.*nothing is rendered")
def test_without_a_mode_nothing_is_rendered() -> None:
    assert begun().render() is None


def test_pictures_without_resvg_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match=r"drawing pictures needs the extra 'render': pip install '\.\[render\]' in a clone of kdenv"):
        begun(render_mode="rgb_array").render()


class FakeTkinter:
    """As much of tkinter as a window takes; remembers what was shown."""

    class TclError(Exception):
        pass

    def __init__(self, has_display: bool = True) -> None:
        self.has_display, self.shown, self.is_open = has_display, [], False

    def Tk(self) -> "FakeTkinter":  # noqa: N802
        if not self.has_display:
            raise self.TclError("no display name and no $DISPLAY environment variable")
        self.is_open = True
        return self

    def PhotoImage(self, master: Any, data: bytes) -> bytes:  # noqa: N802
        return data

    def Label(self, root: Any) -> "FakeTkinter":  # noqa: N802
        return self

    def configure(self, image: bytes) -> None:
        self.shown.append(image)

    def destroy(self) -> None:
        self.is_open = False

    def title(self, text: str) -> None: ...
    def protocol(self, name: str, call: Any) -> None: ...
    def pack(self) -> None: ...
    def update(self) -> None: ...


def test_human_mode_shows_every_step_in_a_window_that_copies_do_not_share(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeTkinter()
    monkeypatch.setitem(sys.modules, "tkinter", fake)
    env = begun(render_mode="human")
    play_on(env, steps=3)
    assert len(fake.shown) == 4 and fake.shown[0].startswith(b"iVBORw0KGgo") and fake.shown[0] != fake.shown[3]
    pickle.dumps(env.clone())
    env.close()
    assert not fake.is_open


def test_human_mode_without_a_display_says_what_to_use_and_plays_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tkinter", FakeTkinter(has_display=False))
    with pytest.warns(UserWarning, match=r"nothing is shown: .*needs a display .* use rgb_array, svg or ansi") as shown:
        env = begun(render_mode="human")
        play_on(env)
    assert env.table.over and len(shown) == 1


def test_drawing_from_a_mask_is_fair_and_repeatable() -> None:
    space = ActionSpace(329, seed=1)
    mask = np.zeros(329, np.int8)
    mask[[3, 200, 328]] = 1
    drawn = [int(space.sample(mask)) for _ in range(6000)]
    assert set(drawn) == {3, 200, 328}
    assert all(abs(drawn.count(action) - 2000) < 200 for action in set(drawn))  # 5.5 standard errors
    space.seed(1)
    assert [int(space.sample(mask)) for _ in range(100)] == drawn[:100]
    assert space.sample(np.zeros(329, np.int8)) == 0


def test_a_wrong_mask_is_told_by_gymnasium() -> None:
    with pytest.raises(AssertionError, match="int8"):
        ActionSpace(3).sample(np.ones(3, np.int64))
