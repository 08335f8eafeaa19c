"""A user's script that uses what is public. test_types.py checks its types with mypy --strict and pyright, and runs it."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

import kdenv
from kdenv import dominion_v0, kingdomino_v0
from kdenv.arena import Comparison, Evaluation, EvaluationRow, Match, Summary, compare, evaluate, play
from kdenv.author import Policy, Table, View, named, param
from kdenv.envs import ArrayReward, BatchPolicy, Decisions, GameEnds, SeatEnv, SeatVectorEnv, SelfPlay, TableEnv, TableParallelEnv
from kdenv.policies import FullGreedy, Mce, Uct, listing
from kdenv.rl import TurnNetwork, TurnPPO, load_network, log_probabilities, sample


def lowest(view: View) -> int:
    """A policy: the first legal action."""
    return view.legal()[0]


@named("typed_place")
class Place(Policy):
    """The legal action at this place of the list."""

    place: int = param("counted from 0", default=0, least=0)

    def act(self, view: View) -> int:
        """Choose the action, or the last one where the list is shorter."""
        legal = view.legal()
        return legal[min(self.place, len(legal) - 1)]


def points(table: Table) -> Sequence[float]:
    """A reward: the points of each seat."""
    return [float(score) for score in table.scores()]


def all_seats() -> list[int]:
    """A game in which every seat is an agent."""
    env: TableEnv = kingdomino_v0.env(players=2, size=3, reward="margin", skip_forced=True)
    env.reset(seed=1, options={"script": []})
    search: Policy = kdenv.policy("mce(playouts=2)")
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        assert isinstance(reward, float)
        if terminated or truncated:
            env.step(None)
        elif agent == "player_0":
            env.step(search.act(env.view(agent)))
        else:
            env.step(env.action_space(agent).sample(info["action_mask"]))
    assert kdenv.replay(env.record()).scores() == env.table.scores()
    return env.table.ranks()


def one_seat() -> float:
    """Games in which one seat learns and a function plays the others."""
    env = SeatEnv("dominoes", lowest, seat="rotate", observation="dict", mode="round")
    parts = SeatEnv("kingdomino", pool=["random", "full_greedy", lowest], players=2, size=3, reward=points, observation="parts")
    assert parts.layout()["kingdoms"].shape == (2, 7, 5, 5)
    total = 0.0
    for each in (env, parts):
        _, info = each.reset(seed=2)
        over = False
        while not over:
            action = int(np.flatnonzero(each.action_masks())[0])
            _, reward, terminated, truncated, info = each.step(action)
            total += float(reward)
            over = terminated or truncated
        print(info["scores"], each.table.ranks(), each.view().scores())
    return total


def at_tables() -> None:
    """A table, a search, a registered environment and a match."""
    table = kdenv.table("kingdomino", players=3, size=7, tiebreak="official")
    table.run_chance(np.random.default_rng(1))
    found = Mce(playout=FullGreedy(variant="paper"), playouts=4).search(table.view(table.seat or 0))
    print(found, kdenv.games(), kdenv.game("dominion").layout(players=2)["hand"].shape)
    print(dominion_v0.raw_env(players=2, kingdom="random", kingdom_seed=3).possible_agents)
    made = gymnasium.make("kdenv/Carcassonne-v0", opponents="random").unwrapped
    assert isinstance(made, SeatEnv)
    summary = Summary(Match("kingdomino", ["random", "full_greedy", "gprd", lowest], games=4))
    play(summary.match, on_result=summary.add, processes=1)
    print(summary, summary.games)


def many_games() -> None:
    """Games that one kernel steps, a comparison, a search's findings, and the names of those who can play."""
    batch = SelfPlay("kingdomino", 8, players=2, size=3)
    now = batch.reset(seed=1)
    now = batch.step(now.action_mask.argmax(axis=1))
    assert now.rewards.shape == (8, 2)
    found_turns = batch.afterstates(whole=False)
    now = batch.step(found_turns.actions[found_turns.best(np.zeros(len(found_turns)))])
    kdenv.save_network("zero.npz", [(np.zeros((1, batch.n_observed)), np.zeros(1))], batch.trained_for)
    layers, trained_for = load_network("zero.npz")
    assert len(layers) == 1
    assert trained_for == batch.trained_for
    print(kdenv.policy("ppo(zero.npz)"), kdenv.table("kingdomino").view(0).turns())
    found: Comparison = compare("kingdomino", "full_greedy", Place(place=1), options={"size": 3}, deals=4, processes=1)
    print(found.sentence, found.difference.low, kdenv.policy("typed_place(place=2)") == Place(place=2))
    table = kdenv.table("dominoes")
    table.run_chance(np.random.default_rng(2))
    best = Uct(playouts=8).search(table.view(table.seat or 0)).best
    print(best, [entry.name for entry in listing(kdenv.game("dominoes"))][:3])
    kdenv.add_policy("typed_lowest", lowest)
    print(kdenv.policy("typed_lowest").act(table.view(table.seat or 0)))


class First:
    """An opponent that decides in many games by one call: the first legal action."""

    def act_batch(self, decisions: Decisions, /) -> NDArray[np.int64]:
        """Choose an action for each row."""
        first: NDArray[np.int64] = decisions.action_masks().argmax(axis=1)
        return first


def share_of_points(ends: GameEnds) -> NDArray[np.float64]:
    """A reward for many games: the share of the points."""
    shares: NDArray[np.float64] = ends.scores / ends.scores.sum(axis=1, keepdims=True).clip(1)
    return shares


def learners() -> float:
    """Opponents and rewards of one's own in batches, a training whose network scores turns, and its strength."""
    opponent: BatchPolicy = First()
    env = SeatVectorEnv("dominoes", opponent, num_envs=4, mode="round", reward=ArrayReward(share_of_points))
    _, infos = env.reset(seed=1)
    env.step(infos["action_mask"].argmax(axis=1))
    parallel: TableParallelEnv = kingdomino_v0.parallel_env(players=2)
    parallel.reset(seed=1)
    games = SelfPlay("dominoes", 8, mode="round", reward="margin")
    training = TurnPPO(games, TurnNetwork(games.n_observed), seed=1)
    training.learn(decisions=1)
    scores, places = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    print(sample(log_probabilities(scores, places, 1), places, 1))
    found: Evaluation = evaluate(training, "dominoes", against="random", deals=4, options={"mode": "round"})
    row: EvaluationRow = found.rows[0]
    return float(row.deals)


if __name__ == "__main__":
    learners()
    many_games()
    print(all_seats(), one_seat())
    at_tables()
