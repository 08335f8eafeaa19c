"""Does kdenv.evaluate play what it is given, against whom it says, for as long as it may, and are its numbers those of a match?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kdenv
from kdenv.arena import Estimate, Evaluation, Match, Result, Summary, evaluation, play
from kdenv.author import Policy, View
from kdenv.core.errors import BadOption, NotSupported
from kdenv.games import find_game
from kdenv.policies.strongest import anchors

SMALL: dict[str, Any] = {"players": 2, "options": {"size": 3}}
ROUND: dict[str, Any] = {"options": {"mode": "round"}, "deals": 12}


def in_a_match(game: str, line_up: list[Any], deals: int, options: dict[str, Any]) -> tuple[Estimate, Estimate]:
    """The margin and the wins of the first policy in a match of seed 0."""
    summary = Summary(Match(game, line_up, deals * len(line_up), 0, options))
    assert play(summary.match, processes=1, on_result=summary.add)
    row = summary.rows()[0]
    return row.margin, row.wins


def test_the_numbers_are_those_of_a_match() -> None:
    found = kdenv.evaluate("full_greedy", "kingdomino", against=["random", "gprd"], deals=12, **SMALL)
    for row, other in zip(found.rows, ("random", "gprd"), strict=True):
        assert row.against == other and row.deals == 12 and row.games == 24
        assert (row.margin, row.wins) == in_a_match("kingdomino", ["full_greedy", other], 12, {"size": 3})
    assert found["gprd"] is found.rows[1]
    with pytest.raises(KeyError, match="there is no row for mce; there are rows for random, gprd"):
        found["mce"]


def test_a_team_is_played_by_the_model_and_the_other_by_the_opponent() -> None:
    (row,) = kdenv.evaluate("greedy", "dominoes", against="random", **ROUND).rows
    assert (row.margin, row.wins) == in_a_match("dominoes", ["greedy", "random"] * 2, 12, {"mode": "round"})


def test_it_is_printed_as_a_table_and_written_as_json() -> None:
    found = kdenv.evaluate("full_greedy", "kingdomino", against="random", deals=12, **SMALL)
    about, note, empty, heading, row = str(found).splitlines()
    assert about == "kingdomino, 2 players size=3, seed 0: full_greedy" and not empty
    assert note == "± and [low, high] are 95 % intervals over deals. An even share of wins is 50 %."
    assert heading.split() == ["against", "margin", "wins", "time", "a", "turn", "deals"]
    assert row.startswith("random  ") and row.endswith(" 12")
    few = kdenv.evaluate("full_greedy", "kingdomino", against="random", deals=2, **SMALL)
    assert "No intervals: too few deals (2; 10 are needed)." in str(few)
    told = json.loads(json.dumps(few.as_json()))
    assert told["options"] == {"size": 3} and told["rows"][0]["margin"]["low"] is None and told["rows"][0]["games"] == 4


def test_the_anchors_are_the_rule_players_and_networks_that_can_play() -> None:
    def of(game: str, players: int | None = None, **options: Any) -> list[str]:
        rules = find_game(game)
        return anchors(rules, *rules.variant(players, **options))

    assert of("kingdomino") == ["full_greedy", "learned(kingdomino)"]
    assert of("kingdomino", 3) == ["full_greedy"]  # the network is for four players
    assert of("carcassonne")[0] == "greedy" and of("carcassonne")[-1] == "learned(carcassonne-prospects)"
    assert of("dominion")[:2] == ["big_money", "double_witch"]
    kingdom = ["cellar", "chapel", "moat", "workshop", "village", "smithy", "militia", "market", "mine", "festival"]
    assert "ppo(dominion-ppo)" in of("dominion") and "ppo(dominion-ppo)" not in of("dominion", kingdom=kingdom)
    found = kdenv.evaluate("greedy", "carcassonne", seconds=0.001)  # a policy is not its own anchor, if there is another
    assert [row.against for row in found.rows] == of("carcassonne")[1:]


def test_a_game_that_names_no_strongest_has_its_greedy_player_or_random(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    game = find_game("kingdomino")
    for greedy, wanted in (("gprd", "gprd"), ("", "random")):
        poorer = replace(game.knowledge, strongest=(), greedy=greedy)
        monkeypatch.setitem(game.__dict__, "knowledge", poorer)
        assert anchors(game, *game.variant()) == [wanted]


# The time


class FakeClock:
    """A clock that synthetic games move on."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


def synthetic(rng: np.random.Generator, clock: FakeClock, most: int) -> Iterator[Result]:
    """Games of two whose deals are of different luck, and which take five times as long where they are lost."""
    for deal in range(most):
        luck = rng.normal()
        for rotation in range(2):
            margin = float(luck + rng.normal())
            won = float(margin > 0)
            clock.now += 0.2 if won else 1.0
            yield Result(2 * deal + rotation, deal, [0, 0], [margin, -margin], [won, 1 - won], [0.1, 0.1], [1, 1], [0, 0], "", None)  # type: ignore[arg-type, list-item]


def test_intervals_hold_although_lost_games_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The true margin is 0, and half of the games are won. Leaving out the deal in which the time ends would favour short games."""
    rng, clock, missed, n = np.random.default_rng(7), FakeClock(), np.zeros(2), 1000

    def play_synthetic(match: Match, processes: int, on_result: Any) -> bool:
        clock.now = 0.0
        return any(on_result(result) for result in synthetic(rng, clock, 10_000))

    monkeypatch.setattr(evaluation, "play", play_synthetic)
    monkeypatch.setattr(evaluation, "time", clock)
    match = Match("kingdomino", ["random", "gprd"], 20_000)
    for _ in range(n):
        summary = evaluation._played(match, 30.0)
        assert summary.games == 2 * summary.deals and 15 < summary.deals < 80
        row = summary.rows()[0]
        missed += [not row.margin.low <= 0 <= row.margin.high, not row.wins.low <= 0.5 <= row.wins.high]
    assert (missed <= 0.05 * n + 4.5 * (0.05 * 0.95 * n) ** 0.5).all(), missed / n


def test_the_time_is_shared_and_ends_after_whole_deals() -> None:
    found = kdenv.evaluate("random", "kingdomino", against=["full_greedy", "gprd"], seconds=0.05, **SMALL)
    assert all(row.deals >= 1 and row.games == 2 * row.deals for row in found.rows)
    assert all(row.deals < 5000 for row in found.rows)


def test_ctrl_c_ends_the_training_loop_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "play", lambda match, processes, on_result: False)
    with pytest.raises(KeyboardInterrupt):
        kdenv.evaluate("random", "kingdomino", against="gprd", **SMALL)


# Models


class First(Policy):
    """Takes the first legal action."""

    def act(self, view: View) -> int:
        return view.legal()[0]


def numbers(found: Evaluation) -> list[tuple[Estimate, Estimate]]:
    return [(row.margin, row.wins) for row in found.rows]


def test_policies_in_every_form() -> None:
    by_class, by_function = (
        kdenv.evaluate(each, "kingdomino", against="random", deals=10, **SMALL) for each in (First(), lambda view: view.legal()[0])
    )
    assert numbers(by_class) == numbers(by_function)
    assert kdenv.evaluate({"kind": "full_greedy"}, "kingdomino", against=First(), deals=1, **SMALL).name == "full_greedy"


def network(torch: Any, n_in: int, n_out: int, activation: str = "ReLU") -> Any:
    """A small network whose weights are exact in half precision, so that its model file loses nothing."""
    torch.manual_seed(3)
    found = torch.nn.Sequential(torch.nn.Linear(n_in, 8), getattr(torch.nn, activation)(), torch.nn.Linear(8, n_out))
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(parameter.half().float())
    return found


@pytest.mark.parametrize("kind", [pytest.param("score", marks=pytest.mark.cold), "policy"])
def test_modules_play_alike_in_kernels_through_torch_and_from_a_file(kind: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    rules = find_game("dominoes")
    players, variant = rules.variant(mode="round")
    observer = rules.observer(players, variant, "ends")
    n_out, activation = (1, "ReLU") if kind == "score" else (rules.n_actions(players, variant), "Tanh")
    plain = network(torch, observer.size, n_out, activation)

    class Own(torch.nn.Module):  # type: ignore[misc, name-defined]
        """No Sequential, so it plays through torch."""

        def __init__(self) -> None:
            super().__init__()
            self.inside = torch.nn.Sequential(plain, torch.nn.Dropout(0.9))

        def forward(self, rows: Any) -> Any:
            return self.inside(rows)

    own = Own()
    trained_for = {"made_for": observer.made_for, "players": players, "options": rules.options_of(variant)}
    kdenv.save_network(tmp_path / "model.npz", plain, trained_for, predicts=kind)
    by_torch = kdenv.evaluate(own, "dominoes", against="greedy", encoding="ends", **ROUND)
    assert own.training and own.inside[1].training  # dropout was off meanwhile
    in_kernels = kdenv.evaluate(plain, "dominoes", against="greedy", encoding="ends", **ROUND)
    from_file = kdenv.evaluate(tmp_path / "model.npz", "dominoes", against="greedy", **ROUND)
    as_text = kdenv.evaluate(f'ppo("{tmp_path / "model.npz"}")', "dominoes", against="greedy", **ROUND)
    assert numbers(by_torch) == numbers(in_kernels) == numbers(from_file) == numbers(as_text)
    assert by_torch.name == "Own" and in_kernels.name == "Sequential"
    if kind == "score":  # its file says for which options it was made
        told = kdenv.evaluate(str(tmp_path / "model.npz"), "dominoes", against="greedy", deals=12)
        assert told.options == {"mode": "round"} and numbers(told) == numbers(from_file)


def test_the_random_numbers_of_torch_are_left_alone() -> None:
    torch = pytest.importorskip("torch")
    rules = find_game("dominoes")
    model = network(torch, rules.observer(*rules.variant(mode="round"), "ends").size, 1)
    before = torch.random.get_rng_state()
    kdenv.evaluate(model, "dominoes", against="greedy", encoding="ends", **ROUND)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.cold
def test_a_turn_ppo_is_evaluated_in_its_own_environment() -> None:
    pytest.importorskip("torch")
    from kdenv.envs import SelfPlay
    from kdenv.rl import TurnNetwork, TurnPPO

    games = SelfPlay("dominoes", 4, mode="round", encoding="ends")
    training = TurnPPO(games, TurnNetwork(games.n_observed, (8,)), seed=1)
    found = kdenv.evaluate(training, "dominoes", against="greedy", deals=10)
    assert found.options == {"mode": "round"} and found.name == "TurnPPO"
    named = kdenv.evaluate(training.network, "dominoes", against="greedy", deals=10, options={"mode": "round"}, encoding="ends")
    assert numbers(found) == numbers(named)
    with pytest.raises(NotSupported, match="TurnPPO was trained on dominoes, not on kingdomino; evaluate it there"):
        kdenv.evaluate(training, "kingdomino")


@pytest.mark.filterwarnings("ignore:loading .* unpickles it")
@pytest.mark.parametrize("kind", ["MaskablePPO", "PPO", "own extractor"])
def test_models_of_stable_baselines3(kind: str, tmp_path: Path) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from stable_baselines3 import PPO
    from stable_baselines3.common.torch_layers import FlattenExtractor

    from kdenv.envs import SeatVecEnv

    class Extractor(FlattenExtractor):
        def forward(self, observations: Any) -> Any:
            return super().forward(observations) * 2

    env = SeatVecEnv("dominoes", "random", num_envs=2, mode="round", encoding="belief")
    extra = {"features_extractor_class": Extractor} if kind == "own extractor" else {}
    made = (PPO if kind == "PPO" else sb3_contrib.MaskablePPO)(
        "MlpPolicy", env, n_steps=4, batch_size=8, seed=1, device="cpu", policy_kwargs={"net_arch": [8], **extra}
    )
    found = kdenv.evaluate(made, "dominoes", against="greedy", **ROUND)
    assert found.name == type(made).__name__
    if kind == "own extractor":
        with pytest.raises(NotSupported, match="begins with a Extractor, not with plain layers"):
            kdenv.save_network(tmp_path / "model.npz", made)
        return
    kdenv.save_network(tmp_path / "model.npz", made)
    made.save(tmp_path / "model.zip")
    for file in ("model.npz", "model.zip"):
        assert numbers(kdenv.evaluate(tmp_path / file, "dominoes", against="greedy", **ROUND)) == numbers(found)
    with pytest.raises(NotSupported, match=f"{kind} was trained on dominoes, not on kingdomino"):
        kdenv.evaluate(made, "kingdomino")


@pytest.mark.parametrize(
    "model, more, sentence",
    [
        ("random", {"seconds": 0}, "seconds=0 is not possible; seconds is a number from 0.001"),
        ("random", {"deals": 0}, "deals=0 is not possible; deals is a whole number from 1"),
        ("random", {"against": []}, r"against=\[\] names no policy; name one, or leave it out"),
        ("random", {"against": "nobody"}, "there is no policy nobody"),
        ("random", {"against": "greedy"}, "greedy"),
        ("nobody", {}, "there is no policy nobody"),
        ("nowhere/model.npz", {}, "there is no model nowhere/model.npz"),
        ("random", {"players": 9}, "kingdomino cannot be played by 9 players"),
        ("random", {"options": {"sise": 5}}, "kingdomino has no option sise"),
    ],
)
def test_a_mistake_is_one_sentence(model: str, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises((BadOption, NotSupported), match=sentence) as caught:
        kdenv.evaluate(model, "kingdomino", **more)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sizes, sentence",
    [
        ((20, 1), "Sequential does not take rows of 195 numbers, as the encoding .* of dominoes has with 4 players .*; give the encoding"),
        ((195, 7), "Sequential has 7 outputs; it must have 1, the score of the position after an action, or 51, one an action"),
    ],
)
def test_a_module_of_another_size_is_refused(sizes: tuple[int, int], sentence: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(BadOption, match=sentence):
        kdenv.evaluate(network(torch, *sizes), "dominoes")


def test_a_module_that_returns_no_row_for_each_row_is_refused() -> None:
    torch = pytest.importorskip("torch")

    class Wrong(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, rows: Any) -> Any:
            return torch.zeros(3)

    with pytest.raises(BadOption, match="Wrong must return a tensor with a row for each of its rows"):
        kdenv.evaluate(Wrong(), "dominoes")
