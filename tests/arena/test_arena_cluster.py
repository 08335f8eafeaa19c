"""Do games come through on a Ray cluster, as they do on one machine, and does a lost node lose nothing?

The tests with a cluster of two nodes on this machine need the extra `ray`, and are slow. The others play on a stand-in for Ray.
"""

import socket
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from matches import results_of, without_time

from kdenv.arena import Curve, CurvePlan, GameFailed, Ladder, League, Match, Result, Standings, climb, cluster, league, play, processor_time
from kdenv.arena.job_queue import JobQueue
from kdenv.arena.ladder import LadderGame, Rung
from kdenv.cli import main
from kdenv.core.errors import BadOption, MissingExtra, NotSupported
from kdenv.policies import Policy

MATCH = Match("kingdomino", ["full_greedy", "random"], games=60, seed=5, options={"size": 3})


# Giving out games


def test_games_are_given_out_in_their_order() -> None:
    games = JobQueue(MATCH, iter(range(5)), 5)
    assert (games.take(2), games.left, games.is_empty) == ([0, 1], 3, False)
    assert (games.take(9), games.left, games.is_empty) == ([2, 3, 4], 0, True)
    assert games.take(9) == []


def test_the_games_of_a_lost_process_are_given_out_again_one_by_one() -> None:
    games = JobQueue(MATCH, iter(range(9)), 9)
    batch = games.take(3)
    games.give_back(batch, "")
    assert [games.take(3) for _ in range(4)] == [[0], [1], [2], [3, 4, 5]]


def test_a_game_that_is_lost_three_times_is_named() -> None:
    games = JobQueue(MATCH, iter(range(9)), 9)
    games.give_back(games.take(2), "by a fall")
    games.finish(games.take(1))  # game 0 was innocent
    games.give_back(games.take(1), "by a fall")
    with pytest.raises(GameFailed, match=r"^3 processes ended in game 1 \(kingdomino, seed 5\), the last one by a fall$"):
        games.give_back(games.take(1), "by a fall")


def test_processes_that_end_before_any_game_are_counted_until_a_game_is_finished() -> None:
    games = JobQueue(MATCH, iter(range(9)), 9)
    for _ in range(2):
        games.give_back([], "")
    games.finish(games.take(1))
    for _ in range(2):
        games.give_back([], "")
    with pytest.raises(GameFailed, match=r"^3 processes ended before any game, the last one with exit code 3$"):
        games.give_back([], "with exit code 3")


# A stand-in for Ray: it carries out a job when its result is asked for, and loses those that `loses` says.


class Lost(Exception):
    """The error that Ray raises if the process or the node of a job is lost."""


class Failed(Lost):
    """The error that Ray raises if a job raises an error."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRay(ModuleType):
    exceptions = SimpleNamespace(RayError=Lost, RayTaskError=Failed)

    def __init__(self, loses=lambda games, n: False, cores: int = 2) -> None:
        super().__init__("ray")
        self.loses, self.cores = loses, cores
        self.asked: list[list[int]] = []
        self.most = self.connections = 0
        self.cancelled, self.ended, self.address = 0, False, ""

    def is_initialized(self) -> bool:
        return self.address != "" and not self.ended

    def init(self, address: str, **more: Any) -> None:
        if address == "nowhere":
            raise ConnectionError("Could not find any running Ray instance.\nMore about it.")
        self.address = address
        self.connections += 1

    def remote(self, **options: Any):
        assert options == {"num_cpus": 1, "max_retries": 0}
        return lambda work: SimpleNamespace(remote=lambda *arguments: _Job(work, arguments))

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cores)}

    def wait(self, jobs: list[Any], **how: Any) -> tuple[list[Any], list[Any]]:
        self.most = max(self.most, len(jobs))
        return jobs[-1:], jobs[:-1]  # the last one that was given out ends first

    def get(self, job: Any) -> Any:
        games = job.arguments[1]
        self.asked.append(games)
        if self.loses(games, len(self.asked)):
            raise Lost
        try:
            return job.work(*job.arguments)
        except Exception as error:
            raise Failed(error) from error

    def cancel(self, job: Any, force: bool) -> None:
        self.cancelled += 1

    def shutdown(self) -> None:
        self.ended = True


class _Job:
    def __init__(self, work, arguments) -> None:
        self.work, self.arguments = work, arguments


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch):
    """Put a stand-in for Ray in its place; every job is so short that it has many games."""

    def make(**how: Any) -> FakeRay:
        ray = FakeRay(**how)
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.setattr(cluster, "_ready", {})
        return ray

    return make


def test_the_results_are_those_of_one_machine(fake) -> None:
    ray = fake()
    assert without_time(results_of(MATCH, processes=None, ray="auto")) == without_time(results_of(MATCH))
    assert (ray.address, ray.ended, ray.cancelled) == ("auto", True, 0)
    assert max(map(len, ray.asked)) > 1  # games of some milliseconds are given out together
    assert ray.most == 4  # two for each core


def test_processes_limit_the_jobs_at_a_time(fake) -> None:
    ray = fake(cores=16)
    assert len(results_of(MATCH, processes=3, ray="auto")) == 60
    assert ray.most == 3


def test_games_of_jobs_that_are_lost_are_played_again(fake) -> None:
    ray = fake(loses=lambda games, n: n in (2, 5, 6))
    assert without_time(results_of(MATCH, processes=None, ray="auto")) == without_time(results_of(MATCH))
    assert len(ray.asked) > 3


def test_a_game_that_is_always_lost_is_named(fake) -> None:
    ray = fake(loses=lambda games, n: 17 in games)
    results: list[Result] = []
    with pytest.raises(GameFailed, match=r"^3 processes ended in game 17 \(kingdomino, seed 5\), the last one by Lost of Ray$"):
        play(MATCH, ray="auto", on_result=results.append)
    assert len(results) > 10
    assert ray.ended


class Failing(Policy):
    def act(self, view):
        if len(view.events()) > 9:
            raise NotSupported("no more than nine")
        return view.legal()[0]


def test_a_policy_that_fails_ends_the_match_with_its_sentence(fake) -> None:
    ray = fake()
    with pytest.raises(GameFailed, match=r"cannot go on: no more than nine$"):
        play(Match("kingdomino", ["random", Failing()], 8, options={"size": 3}), ray="auto", on_result=lambda result: None)
    assert ray.ended
    assert ray.cancelled > 0


def test_an_interrupt_cancels_what_runs(fake) -> None:
    ray = fake()

    def interrupt(result: Result) -> None:
        raise KeyboardInterrupt

    assert not play(MATCH, ray="auto", on_result=interrupt)
    assert (ray.cancelled, ray.ended) == (3, True)


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"kdenv": "0.0.9", "rules": "abc"}, r"a node of the cluster has kdenv .* with rules .*, here it is 0\.0\.9 with rules abc"),
        ({"models": {"kingdomino-ppo": "abc"}}, "a node of the cluster has another kingdomino-ppo than this machine; copy the file there"),
    ],
)
def test_a_node_with_another_version_or_model_is_refused(fake, monkeypatch: pytest.MonkeyPatch, expected, sentence: str) -> None:
    fake()
    match = Match("kingdomino", ["ppo(kingdomino-ppo)", *["random"] * 3], games=8)
    play_there = cluster._play
    monkeypatch.setattr(cluster, "_play", lambda match, games, here, *how: play_there(match, games, {**here, **expected}, *how))
    with pytest.raises(BadOption, match=sentence):
        play(match, ray="auto", on_result=lambda result: None)


def test_a_league_connects_once(fake, tmp_path) -> None:
    ray = fake()
    plan = League("kingdomino", ["full_greedy", "gprd", "random"], deals=4, options={"size": 3})
    there, here = league(plan, tmp_path, ray="auto"), league(plan, processes=1)
    assert (ray.connections, ray.ended) == (1, True)
    assert there.games == here.games == 24
    assert [row.rating.mean for row in there.rows()] == [row.rating.mean for row in here.rows()]
    assert len(ray.asked) >= 3


def test_a_curve_connects_once_and_loses_nothing(fake, tmp_path) -> None:
    ray = fake(loses=lambda games, n: n == 2)
    plan = CurvePlan("kingdomino", ["gprd", "full_greedy"], [], ["random"], games=8, options={"size": 3})
    there, here = Curve(plan), Curve(plan)
    assert there.measure(tmp_path, ray="auto") and here.measure(processes=1)
    assert (ray.connections, ray.ended) == (1, True)
    assert [point.row.margin for point in there.points] == [point.row.margin for point in here.points]


def test_a_ladder_is_the_same_on_a_cluster_that_loses_a_job(fake, tmp_path) -> None:
    ray = fake(loses=lambda games, n: n == 2)
    rows = [Rung(name, "rule", {"kingdomino": name}) for name in ("full_greedy", "gprd", "random")]
    plan = Ladder(1, {"kingdomino": LadderGame(12, options={"size": 3})}, rows)
    there, here = climb(plan, tmp_path, processes=None, ray="auto"), climb(plan)
    assert len(ray.asked) > 3
    assert [(row.label, row.rating) for row in there.rows("kingdomino")] == [(row.label, row.rating) for row in here.rows("kingdomino")]


@pytest.mark.parametrize("by_processor", [False, True])
def test_times_on_a_cluster_are_those_that_are_asked_for(fake, monkeypatch: pytest.MonkeyPatch, by_processor: bool) -> None:
    """A policy that sleeps uses no CPU time."""
    fake()
    match = Match("kingdomino", [Sleeping(), "random"], 2, options={"size": 3})
    with processor_time() if by_processor else nullcontext():
        result = results_of(match, processes=None, ray="auto")[0]
    assert (result.seconds[0] >= 0.004 * result.turns[0]) != by_processor


class Sleeping(Policy):
    def act(self, view):
        time.sleep(0.004)
        return view.legal()[0]


def test_luck_is_the_same_on_a_cluster(fake) -> None:
    fake()
    match = Match("dominion", ["double_witch", "big_money"], games=6, seed=5, luck="learned(dominion)")
    assert [each.luck for each in results_of(match, processes=None, ray="auto")] == [each.luck for each in results_of(match)]


def trained(folder: Path, *more: str) -> dict[str, bytes]:
    """The networks of a short training of two seeds by the command line."""
    command = ["train", "dominoes", "--games", "3000", "--hidden", "4", "--deals", "2", "--points", "2", "--seeds", "2", "--seed", "5"]
    assert main([*command, "--against", "random", "--out", str(folder), *more]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["seed-5", "seed-6"]
    return {path.name: (path / "model.npz").read_bytes() for path in folder.iterdir()}


@pytest.mark.cold
def test_the_seeds_of_a_training_are_the_same_on_a_cluster_that_loses_parts(fake, tmp_path, capsys) -> None:
    ray = fake(loses=lambda files, n: n in (2, 5))
    there = trained(tmp_path / "there", "--ray", "auto")
    assert (ray.connections, ray.ended) == (1, True)
    assert len(ray.asked) > 6  # parts of two trainings, two of which were lost
    shown = capsys.readouterr().out
    assert "seed 5: " in shown and "seed 6: " in shown
    assert shown.count("the model is ") == 2
    assert there == trained(tmp_path / "here")
    assert there["seed-5"] != there["seed-6"]


@pytest.mark.cold
def test_a_training_that_is_always_lost_is_told(fake, tmp_path, capsys) -> None:
    fake(loses=lambda files, n: True)
    command = ["train", "dominoes", "--games", "60", "--hidden", "4", "--out", str(tmp_path / "lost"), "--ray", "auto"]
    assert main(command) == 2
    assert "3 processes ended in the same job, the last one by Lost of Ray" in capsys.readouterr().err


def test_a_table_of_a_paper_is_the_same_on_a_cluster(fake, tmp_path) -> None:
    from baselines.papers.matches import Matches

    ray = fake()
    words = "kingdomino; size=3; full_greedy v random"
    there, here = (Matches(tmp_path / name, ray=address).play("match", words, 6) for name, address in (("there", "auto"), ("here", None)))
    assert ray.asked
    assert without_time(there.results) == without_time(here.results)


def test_an_address_where_nobody_listens_is_told_at_once(fake) -> None:
    """Ray itself would try for many minutes."""
    ray = fake()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(BadOption, match=rf"no Ray cluster can be reached at {address} \(.*refused\); start one"):
            play(MATCH, ray=address, on_result=lambda result: None)
    assert ray.connections == 0
    with socket.create_server(("127.0.0.1", 0)) as head:
        play(MATCH, ray=f"127.0.0.1:{head.getsockname()[1]}", on_result=lambda result: None)
    assert ray.connections == 1


def test_what_cannot_be_is_told(fake, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    fake()
    with pytest.raises(
        BadOption, match=r"no Ray cluster can be reached at nowhere \(Could not find any running Ray instance\.\); start one"
    ):
        play(MATCH, ray="nowhere", on_result=lambda result: None)
    command = ["match", "kingdomino", "random", "random", "--games", "2", "--ray", "auto"]
    assert main([*command, "--move-limit", "1"]) == 2
    assert "a move limit cannot be watched on a cluster" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ray", None)  # importing it fails
    with pytest.raises(MissingExtra, match=r"playing on a cluster needs the extra 'ray': pip install '\.\[ray\]' in a clone of kdenv"):
        play(MATCH, ray="auto", on_result=lambda result: None)
    assert main(command) == 2
    assert "needs the extra 'ray'" in capsys.readouterr().err


# Ray itself

SEARCH = Match("kingdomino", ["mce(playouts=300)", "full_greedy"], games=40, seed=9)


@pytest.fixture
def two_nodes():
    pytest.importorskip("ray", reason="needs the extra ray")
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 100_000_000}
    nodes = Cluster(initialize_head=True, head_node_args=small)
    nodes.add_node(**small)
    yield nodes
    nodes.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_two_nodes_play_what_one_machine_plays(two_nodes) -> None:
    for match in (SEARCH, Match("kingdomino", ["full_greedy", "random"], games=1500, seed=5, options={"size": 3})):
        assert without_time(results_of(match, processes=None, ray=two_nodes.address)) == without_time(results_of(match))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_match_goes_on_when_a_node_is_killed(two_nodes) -> None:
    """The first results have come from both nodes when one is killed, with the jobs that it has."""
    results: list[Result] = []

    def on_result(result: Result) -> None:
        results.append(result)
        if len(results) == 8:
            two_nodes.remove_node(two_nodes.worker_nodes.copy().pop(), allow_graceful=False)

    assert play(SEARCH, ray=two_nodes.address, on_result=on_result)
    results.sort(key=lambda result: result.number)
    assert without_time(results) == without_time(results_of(SEARCH))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_ladder_is_the_same_when_a_node_is_killed(two_nodes, tmp_path) -> None:
    rows = [Rung(text, "search", {"kingdomino": text}) for text in ("mce(playouts=100)", "uct(playouts=100)", "full_greedy")]
    plan = Ladder(1, {"kingdomino": LadderGame(10, options={"size": 3})}, rows)

    def on_result(standings: Standings) -> None:
        if standings.games == 8:
            two_nodes.remove_node(two_nodes.worker_nodes.copy().pop(), allow_graceful=False)

    there = climb(plan, tmp_path, processes=None, ray=two_nodes.address, on_result=on_result)
    assert len(two_nodes.worker_nodes) == 0
    here = climb(plan)
    assert [(row.label, row.rating, row.games) for row in there.rows("kingdomino")] == [
        (row.label, row.rating, row.games) for row in here.rows("kingdomino")
    ]
