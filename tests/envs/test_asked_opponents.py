"""Opponents without a compiled form: policies of views, and policies that decide in many games by one call."""

import pickle
from typing import Any

import numpy as np
import pytest
from test_vector import all_chosen, assert_same, every_game, short

import kdenv
from kdenv.core.errors import BadOption, IllegalAction, WrongOrder
from kdenv.core.view import View
from kdenv.envs import Decisions, SeatEnv, SeatVectorEnv
from kdenv.envs.decisions import Seeing
from kdenv.envs.sb3 import SeatVecEnv


class Sampled:
    """Chooses a row of the afterstates at random, by the game's own generator, and notes what it was asked."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def act_batch(self, decisions: Decisions) -> np.ndarray:
        self.calls.append(len(decisions))
        found = decisions.afterstates(whole=False)
        counts = np.diff(found.starts)
        rows = found.starts[:-1] + (decisions.random() * counts).astype(int)
        return found.actions[rows]


class Greedy:
    """Chooses by what it observes."""

    def act_batch(self, decisions: Decisions) -> list[int]:
        return all_chosen(decisions.action_masks(), decisions.observations()).tolist()


def by_view(view: View) -> int:
    """Chooses by all that a view has, its history included."""
    legal = view.legal()
    return legal[(hash(view.key()) + int(np.abs(view.observation()).sum())) % len(legal)]


def sampled_by_view(view: View) -> int:
    return int(np.flatnonzero(view.mask)[len(view.events()) % len(view.legal())])


def play_both(keywords: dict[str, Any], row: int, steps: int, num_envs: int = 3, **more: Any) -> None:
    """The game in a row of a batch must be that of SeatEnv, and so must those that follow it."""
    batch, one = SeatVectorEnv(num_envs=num_envs, **keywords, **more), SeatEnv(**keywords)
    observations, infos = batch.reset(seed=1)
    observation, _ = one.reset(seed=1 + row)
    n_ended = 0
    for _ in range(steps):
        np.testing.assert_array_equal(observations[row], observation)
        actions = all_chosen(infos["action_mask"], observations)
        observations, rewards, terminated, truncated, infos = batch.step(actions)
        observation, reward, *over, _ = one.step(actions[row])
        assert rewards[row] == reward and [terminated[row], truncated[row]] == over
        if any(over):
            n_ended += 1
            np.testing.assert_array_equal(infos["final_obs"][row], observation)
            observation, _ = one.reset()
    assert n_ended


@every_game
@pytest.mark.parametrize("opponent", [Sampled(), Greedy(), by_view, sampled_by_view])
def test_a_row_with_asked_opponents_is_the_game_of_seat_env(game: str, opponent: Any) -> None:
    play_both({"game": game, "opponents": opponent, "seat": "rotate", "reward": "gains", **short(game)}, row=1, steps=75, threads=2)


def test_a_search_has_a_memory_in_every_game() -> None:
    """Searches draw from generators of their own, and carry out turns that they chose before."""
    keywords = {"game": "kingdomino", "players": 2, "size": 5, "opponents": "uct(playouts=5)"}
    play_both(keywords, row=2, steps=75, reward="win")


@pytest.mark.cold
def test_asked_and_compiled_opponents_are_mixed_as_in_seat_env() -> None:
    pool = {Sampled(): 2, "full_greedy": 1, by_view: 1, "random": 1, "uct(playouts=5)": 0.5}
    play_both({"pool": pool, "seat": "random", "reward": "margin"}, row=1, steps=80)


def test_one_call_asks_a_policy_for_all_games() -> None:
    asked = Sampled()
    env = SeatVectorEnv("kingdomino", asked, num_envs=64, players=2, size=5)
    _, infos = env.reset(seed=1)
    asked.calls.clear()
    n_steps = 30
    for _ in range(n_steps):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    # The order of play changes in Kingdomino, so the opponent has up to two turns of two decisions between those of the learner.
    assert len(asked.calls) <= 4 * n_steps and np.mean(asked.calls) > 16


@every_game
def test_decisions_show_what_views_show(game: str) -> None:
    table = kdenv.table(game)
    rng = np.random.default_rng(2)
    table.run_chance(rng)
    for _ in range(12):
        seat = table.seat
        assert seat is not None
        decisions = Decisions(Seeing(table, table.game.observer(table.players, table.variant, None)), table.states, np.array([seat]), [])
        view = table.view(seat)
        assert decisions.positions().tobytes() == view.states.tobytes()
        assert decisions.observations().tobytes() == view.observation().tobytes()
        assert np.flatnonzero(decisions.action_masks()[0]).tolist() == view.legal()
        assert decisions.afterstates().observations.tobytes() == view.afterstates().observations.tobytes()
        table.play(int(rng.choice(table.legal())))
        table.run_chance(rng)


@pytest.mark.parametrize("game", ["dominoes", "dominion"])
def test_decisions_do_not_depend_on_what_the_seat_cannot_see(game: str) -> None:
    """The truth is drawn anew as the seat could imagine it; what a policy is given must stay byte for byte the same."""
    from kdenv.core import verbs

    table = kdenv.table(game)
    rng = np.random.default_rng(3)
    table.run_chance(rng)
    n_swapped = 0
    for _ in range(15):
        seat = table.seat
        assert seat is not None
        seeing = Seeing(table, table.game.observer(table.players, table.variant, None))
        swapped = table.states.copy()
        verbs.resample_hidden_at(swapped, 0, seat, np.array([rng.integers(1, 1 << 60)], np.uint64))
        n_swapped += swapped.tobytes() != table.states.tobytes()
        true, other = (Decisions(seeing, states, np.array([seat]), []) for states in (table.states, swapped))
        assert true.positions().tobytes() == other.positions().tobytes()
        assert true.observations().tobytes() == other.observations().tobytes()
        assert true.afterstates().observations.tobytes() == other.afterstates().observations.tobytes()
        table.play(int(rng.choice(table.legal())))
        table.run_chance(rng)
    assert n_swapped > 5


def test_a_log_grows_as_the_game_goes_on() -> None:
    """Dominion has hundreds of events; a view must have all of them."""
    lengths = []

    def counting(view: View) -> int:
        lengths.append(len(view.events()))
        return view.legal()[-1]

    env = SeatVectorEnv("dominion", counting, num_envs=2, max_turns=40)
    _, infos = env.reset(seed=1)
    for _ in range(150):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert max(lengths) > 300


def test_a_log_may_grow_in_the_step_in_which_its_game_ends() -> None:
    """Compiled opponents have turns in these games, too; the last observation and the reward are those of the learner all the same."""
    keywords: dict[str, Any] = {"game": "dominion", "pool": ["random", by_view], "seat": "rotate", "reward": "margin", "players": 3}
    n = 12
    batch, ones = SeatVectorEnv(num_envs=n, max_turns=6, **keywords), [SeatEnv(max_turns=6, **keywords) for _ in range(n)]
    observations, infos = batch.reset(seed=1)
    for row, one in enumerate(ones):
        one.reset(seed=1 + row)
    n_grown = 0
    for _ in range(12):
        before = batch._batch.games.logs.shape[2]
        actions = all_chosen(infos["action_mask"], observations)
        observations, rewards, terminated, truncated, infos = batch.step(actions)
        for row, one in enumerate(ones):
            observation, reward, *over, info = one.step(actions[row])
            assert rewards[row] == reward and [terminated[row], truncated[row]] == over
            if any(over):
                n_grown += before < batch._batch.games.logs.shape[2]
                assert infos["final_info"]["seat"][row] == info["seat"]
                np.testing.assert_array_equal(infos["final_obs"][row], observation)
                one.reset()
    assert n_grown


def test_torch_policies_answer_with_tensors() -> None:
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):
        def __init__(self, n_observed: int, n_actions: int) -> None:
            super().__init__()
            self.layers = torch.nn.Linear(n_observed, n_actions)

        @torch.no_grad()
        def act_batch(self, decisions: Decisions) -> Any:
            logits = self.layers(torch.from_numpy(decisions.observations("ends")))
            return logits.masked_fill(~torch.from_numpy(decisions.action_masks()), -torch.inf).argmax(dim=1)

    torch.manual_seed(1)
    size = kdenv.table("dominoes", mode="round").game.observer(4, kdenv.table("dominoes", mode="round").variant, "ends").size
    network = Network(size, kdenv.table("dominoes").n_actions)
    play_both({"game": "dominoes", "opponents": network, "mode": "round"}, row=0, steps=30)


def test_a_batch_of_stable_baselines_asks_them_too() -> None:
    keywords: dict[str, Any] = {"opponents": Greedy(), "players": 2, "size": 5}
    ours, theirs = SeatVecEnv(num_envs=2, **keywords), SeatVectorEnv(num_envs=2, **keywords)
    ours.seed(1)
    np.testing.assert_array_equal(ours.reset(), theirs.reset(seed=1)[0])
    for _ in range(20):
        actions = ours.action_masks().argmax(axis=1)
        np.testing.assert_array_equal(ours.step(actions)[0], theirs.step(actions)[0])


def test_a_batch_with_asked_opponents_is_copied_with_their_memories() -> None:
    env = SeatVectorEnv("kingdomino", "uct(playouts=5)", num_envs=2, players=2, size=5)
    _, infos = env.reset(seed=1)
    for _ in range(3):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    twins = [env.clone(), pickle.loads(pickle.dumps(env))]
    for _ in range(8):
        actions = env.action_masks().argmax(axis=1)
        told = env.step(actions)
        for twin in twins:
            assert_same(told, twin.step(actions))


def test_games_dealt_anew_with_a_seed_are_the_same_games() -> None:
    env = SeatVectorEnv("kingdomino", "uct(playouts=5)", num_envs=2, players=2, size=5)
    told = []
    for _ in range(2):
        _, infos = env.reset(seed=1)
        for _ in range(4):
            last = env.step(infos["action_mask"].argmax(axis=1))
            infos = last[-1]
        told.append(last)
    assert_same(*told)


class Wrong:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __str__(self) -> str:
        return "Wrong"

    def act_batch(self, decisions: Decisions) -> Any:
        return self.answer if not callable(self.answer) else self.answer(len(decisions))


@pytest.mark.parametrize(
    ("opponent", "error", "sentence"),
    [
        (
            Wrong(lambda n: np.zeros(n)),
            BadOption,
            r"act_batch of Wrong returned an array of float64 .*; it must return 2 whole numbers, one for",
        ),
        (Wrong([1]), BadOption, r"act_batch of Wrong returned an array of int64 of shape \(1,\); it must return 2 whole numbers"),
        (
            Wrong(lambda n: [-5] * n),
            IllegalAction,
            r"in game 0 of the batch: the opponent Wrong at seat \d makes a mistake: action -5 is not legal",
        ),
        (lambda view: 10**6, IllegalAction, r"in game 0 of the batch: the opponent .*lambda.* at seat \d makes a mistake: action 1000000 "),
        (lambda view: "x", IllegalAction, r"makes a mistake: action x \(of type str, not a whole number\)"),
    ],
)
def test_a_mistake_of_an_asked_opponent_is_named_and_breaks_the_games_off(opponent: Any, error: type, sentence: str) -> None:
    env = SeatVectorEnv("dominoes", opponent, num_envs=2, mode="round", seat="rotate")
    with pytest.raises(error, match=sentence):
        for _ in range(3):
            env.reset(seed=[1, 1])
            env.step(env.action_masks().argmax(axis=1))
    with pytest.raises(WrongOrder, match="broken the games off"):
        env.step(np.zeros(2, int))


def test_a_mistake_of_an_asked_opponent_is_named_in_seat_env() -> None:
    env = SeatEnv("dominoes", Wrong([-5]), mode="round")
    with pytest.raises(IllegalAction, match=r"the opponent Wrong at seat \d makes a mistake: action -5 is not legal"):
        for seed in range(3):
            env.reset(seed=seed)
            env.step(int(env.action_masks().argmax()))
