"""A user's second script, with what typed_user.py does not use. test_types.py checks its types, too, and gives it a server's address."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import kdenv
from kdenv import carcassonne_v0, dominoes_v0
from kdenv.arena import (
    Breakdown,
    Comparisons,
    Curve,
    CurveBudget,
    CurvePlan,
    DealSums,
    Difference,
    Estimate,
    GameFailed,
    Ladder,
    League,
    Match,
    PolicyRow,
    Result,
    ResultsFile,
    Standing,
    Standings,
    Summary,
    Verdict,
    check_entry,
    climb,
    compare,
    league,
    merge,
    merge_ladders,
    play,
    play_game,
    processor_time,
    read,
    read_budget,
    read_budgets,
    read_entry,
    read_ladder,
    read_league,
    verify_row,
)
from kdenv.author import Encoding, Part, Table, View, answers, estimate, kernel, legal, make_rng, packed, plays, rank, reach, scores
from kdenv.client import Refused, Seat, State, ask, make
from kdenv.envs import SeatVecEnv, SeatVectorEnv

SMALL: dict[str, Any] = {"size": 3, "dominoes": 4}
LEAGUE = 'game = "kingdomino"\npolicies = ["full_greedy", "gprd", "random"]\ndeals = 2\noptions = {size = 3, dominoes = 4}\n'
ROW = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{kingdomino = "{0}"}}\n'
GAMES = "seed = 1\n[games.kingdomino]\nplayers = 2\ndeals = 2\noptions = {size = 3, dominoes = 4}\n"
LADDER = GAMES + ROW.format("full_greedy") + ROW.format("random")
ENTRY = 'who = "Ann"\nwhat = "a rule"\ncommand = "none"\nhardware = "any"\n' + ROW.format("gprd")


class Last(NamedTuple):
    """Takes the last legal action, and thinks that everything is worth the points."""


@plays(Last)
@kernel
def _last(player: Last, states: Any, k: int, out: Any, rng: Any) -> Any:
    return packed(out[legal(states[k], out) - 1])


@answers(estimate, Last)
@kernel
def _points(evaluator: Last, states: Any, k: int, seat: int, numbers: Any) -> float:
    scores(states[k], numbers)
    return float(numbers[seat])


@answers(reach, Last)
@kernel
def _most(evaluator: Last, states: Any, k: int, seat: int, numbers: Any) -> float:
    return 200.0


@answers(rank, Last)
@kernel
def _same(order: Last, s: Any, turn: int) -> int:
    return 0


@kernel
def _turn(states: Any, k: int, seat: int, out: Any) -> None:
    out[0] = states[k].round


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """The one part of an encoding."""
    return {"round": Part((1,), "the round")}


def additions() -> None:
    """Make something of one's own known, and use it by its name."""
    kdenv.add_player("kingdomino", "typed_last", Last, "the last legal action")
    kdenv.add_evaluator("kingdomino", "typed_points", Last())
    kdenv.add_order("kingdomino", "typed_order", Last())
    kdenv.add_encoding("kingdomino", Encoding("typed_round", layout, _turn))
    try:
        kdenv.add_game(replace(kdenv.game("dominoes"), name="typed_dominoes", title="TypedDominoes"))
    except TypeError as error:
        print(error)  # a game has a state of its own; examples/three_shells.py is a whole one
    table: Table = kdenv.table("kingdomino", players=2, **SMALL)
    table.run_chance(np.random.default_rng(1))
    view: View = table.view(table.seat or 0)
    print(table.name(kdenv.policy("typed_last").act(view)), table.observation(0, "typed_round"))
    print(kdenv.policy("star2(depth=1, evaluate=typed_points, order=typed_order)").act(view))


def many() -> None:
    """Many games at once, for Gymnasium and for Stable-Baselines3, and games for all seats."""
    games = gymnasium.make_vec("kdenv/Kingdomino-v0", num_envs=4, vectorization_mode="vector_entry_point", opponents="random", **SMALL)
    assert isinstance(games, SeatVectorEnv)
    _, infos = games.reset(seed=1)
    _, rewards, _, _, _ = games.step(infos["action_mask"].argmax(axis=1))
    learner = SeatVecEnv("kingdomino", pool=["full_greedy", "random"], seat="rotate", num_envs=4, **SMALL)
    print(rewards.shape, learner.reset().shape, carcassonne_v0.env().possible_agents, dominoes_v0.raw_env(mode="round").possible_agents)


def conclusions(folder: Path) -> None:
    """Comparisons, curves, leagues, and files of results."""
    match = Match("kingdomino", ["full_greedy", "random"], games=24, seed=1, options=SMALL)
    summary, parts, sums = Summary(match), Breakdown(match), DealSums(match.games_of_a_deal)
    with ResultsFile(folder / "games.jsonl", match) as file:

        def add(result: Result) -> None:
            summary.add(result)
            parts.add(result)
            sums.add(result.deal, [result.margins[0]])
            file.append(result)

        play(match, processes=1, on_result=add)
    margin: Estimate = sums.mean(0)
    print(margin.text(sign=True))
    rows: list[PolicyRow] = summary.rows()
    differences: list[Difference] = summary.differences()
    print(rows[0].margin.low, differences[0].pairing, parts.text(["seats"]), read(folder / "games.jsonl")["margin"].mean())
    found = compare("kingdomino", "full_greedy", "random", options=SMALL, deals=20, processes=1, at=None)
    verdict: Verdict = found.verdict
    print(verdict, Comparisons([found]))
    budget: CurveBudget = read_budget("playouts=4")
    curve = Curve(CurvePlan("kingdomino", ["mce"], [budget, *read_budgets("playouts=2,playouts=3")], ["random"], games=4, options=SMALL))
    print(curve.measure(processes=1), curve)
    (folder / "league.toml").write_text(LEAGUE, encoding="utf-8")
    plan: League = read_league(folder / "league.toml")
    standings: Standings = league(plan, folder / "one", processes=1)
    first: Standing = standings.rows()[0]
    print(first.policy, first.rating.low, merge(plan, folder / "two", folder / "one"))
    try:
        with processor_time():
            play_game(match, 0, [kdenv.policy(text) for text in match.line_up])
    except GameFailed as error:
        print(error)


def ladders(folder: Path) -> None:
    """A ladder, an entry, and a row that is played again."""
    (folder / "ladder.toml").write_text(LADDER, encoding="utf-8")
    (folder / "entry.toml").write_text(ENTRY, encoding="utf-8")
    plan: Ladder = read_ladder(folder / "ladder.toml")
    print(check_entry(plan, read_entry(folder / "entry.toml")))
    first = climb(plan, folder / "climbed").rows("kingdomino")[0]
    again = verify_row(plan, first.row.label, {"kingdomino": first.wins}, seed=2)
    print(again[0].holds, merge_ladders(plan, folder / "merged", folder / "climbed"))


def on_a_server(url: str) -> State:
    """A seat on a game server."""
    game = make(url, "kingdomino", seats=["open", "random"], options=SMALL)
    try:
        ask(url, "GET", "/games/nothing")
    except Refused as error:
        print(error.status, error)
    return Seat.join(url, game, "Ann").play(lambda state: int(state["legal"][0]["action"]))


if __name__ == "__main__":
    additions()
    many()
    conclusions(Path.cwd())
    ladders(Path.cwd())
    print(make_rng(1), on_a_server(sys.argv[1])["status"])
