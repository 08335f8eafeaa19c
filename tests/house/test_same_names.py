"""Are parts whose classes have the same name and the same fields told apart by compiled code?

A cell of a notebook that was changed and run again makes such classes, and so do two modules that use the same name. Numba looks up
the types of values by the names of classes and fields, so each class of parts must have a name of its own (compiler/question.py).
"""

from collections.abc import Callable
from typing import Any

import pytest

import kdenv
from kdenv.author import Table, kernel, make_rng, question
from kdenv.policies import Expectimax, FullGreedy, Mce, Star2, Uct
from kdenv.policies.text import value
from kdenv.search.playout import EpsilonGreedyPlayer

pytestmark = pytest.mark.cold

KINGDOMINO = kdenv.game("kingdomino")


@pytest.fixture(autouse=True)
def undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a test the games have the players, evaluations and orders that they had, and texts the names that they had."""
    monkeypatch.setattr(value, "_classes", dict(value._classes))
    for game in (KINGDOMINO, kdenv.game("carcassonne")):
        monkeypatch.setitem(game.__dict__, "knowledge", game.knowledge)


def run(cell: str, **values: Any) -> dict[str, Any]:
    """Run a cell of a notebook."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("from typing import NamedTuple\nimport kdenv\nfrom kdenv.author import *\n" + cell.format(**values), names)
    return names


def dealt() -> Table:
    table = kdenv.table("kingdomino", players=2)
    table.run_chance(make_rng(1))
    return table


PLAYER = """
class Mine(NamedTuple):
    "Takes the legal action at one place."

@plays(Mine)
@kernel
def _mine(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[{place} % n])

kdenv.add_player("kingdomino", "mine", Mine)
"""


def test_players() -> None:
    table = dealt()
    view, (first, *_, last) = table.view(table.seat or 0), table.legal()
    for place, action in ((0, first), (-1, last), (0, first)):
        run(PLAYER, place=place)
        assert kdenv.policy("mine").act(view) == action


def test_players_in_playouts() -> None:
    table = dealt()
    view = table.view(table.seat or 0)
    means = []
    for place in (0, -1, 0):
        run(PLAYER, place=place)
        means.append(kdenv.policy("mce(playout=mine, score=margin, playouts=40)").search(view).means.tolist())
    assert means[0] == means[2] != means[1]


def test_players_in_environments() -> None:
    points = []
    for place in (0, -1, 0):
        run(PLAYER, place=place)
        env = kdenv.envs.SeatEnv("kingdomino", "mine", players=2, size=3, reward="score")
        _, info = env.reset(seed=3)
        over = False
        while not over:
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        points.append(info["scores"].tolist())
    assert points[0] == points[2] != points[1]


PLAYOUT = """
class Inner(NamedTuple):
    "Takes the legal action at one place."

@plays(Inner)
@kernel
def _inner(player, states, k, out, rng):
    return packed(out[{place} % legal(states[k], out)])

@named("same_names_playout")
class Mine(Playout):
    "Takes the legal action at one place."

    def player(self, view):
        return Inner()
"""


def test_playouts() -> None:
    table = dealt()
    view = table.view(table.seat or 0)
    means = []
    for place in (0, -1, 0):
        playout = run(PLAYOUT, place=place)["Mine"]()
        means.append(Mce(playout=playout, score="margin", playouts=40).search(view).means.tolist())
    assert means[0] == means[2] != means[1]


EVALUATION = """
class Mine(NamedTuple):
    "Points, or points upside down."

@answers(estimate, Mine)
@kernel
def _mine(evaluator, states, k, seat, numbers):
    scores(states[k], numbers)
    return {sign} * float(numbers[seat] - numbers[1 - seat])

@answers(reach, Mine)
@kernel
def _reach(evaluator, states, k, seat, numbers):
    return 200.0

kdenv.add_evaluator("kingdomino", "mine", Mine())
"""


def late() -> Table:
    """A position of few turns near the end of a small game."""
    table = kdenv.table("kingdomino", players=2, size=3, dominoes=8)
    rng = make_rng(1)
    table.run_chance(rng)
    while len(table.events()) < 12:
        table.decide(table.legal()[0], rng)
    return table


def test_evaluations() -> None:
    table = late()
    means = []
    for sign in (1, -1, 1):
        run(EVALUATION, sign=sign)
        means.append(Expectimax(evaluate="mine", depth=1).search(table.view(table.seat or 0)).means.tolist())
    assert means[0] == means[2] == [-mean for mean in means[1]]
    assert any(means[0])


ORDER = """
class Mine(NamedTuple):
    "The turns as their numbers go, up or down."

@answers(rank, Mine)
@kernel
def _mine(order, s, turn):
    return ({sign} * turn) % N_RANKS

kdenv.add_order("carcassonne", "mine", Mine())
"""


def test_orders() -> None:
    table, rng = kdenv.table("carcassonne", players=2), make_rng(1)
    table.run_chance(rng)
    for _ in range(16):
        table.decide(table.legal()[-1], rng)
    nodes = []
    for sign in (1, -1, 1):
        run(ORDER, sign=sign)
        found = Star2(order="mine", depth=2).search(table.view(table.seat or 0), thorough=False)  # for the best turn only, so it cuts
        nodes.append(found.cost["nodes"])
    assert nodes[0] == nodes[2] != nodes[1]


RULE = """
class Inner(NamedTuple):
    "Wants much, or little."

@answers(urgency, Inner)
@kernel
def _inner(rule, visits, total, squares, gain, log_n, rng):
    return {sign} * total / visits

@named("same_names_rule")
class Mine(SelectionRule):
    "Wants much, or little."

    def compiled(self):
        return Inner()
"""


def test_selection_rules() -> None:
    table = dealt()
    visits = []
    for sign in (1, -1, 1):
        rule = run(RULE, sign=sign)["Mine"]()
        visits.append(Uct(select=rule, score="margin", playouts=200).search(table.view(table.seat or 0)).visits.tolist())
    assert visits[0] == visits[2] != visits[1]


@question
def worth(part, at):
    """What a part of these tests answers."""


@kernel
def _asked(part, at):
    return worth(part, at)


@kernel
def _asked_inside(part, at):
    return worth(part.greedy, at)


WORTH = """
class {name}(NamedTuple):
    {field}: int = 1

@answers(worth, {name})
@kernel
def _worth(part, at):
    return {value}
"""


def made(value: int, name: str = "Mine", field: str = "a") -> Any:
    return run("from test_same_names import worth\n" + WORTH, value=value, name=name, field=field)[name]()


@pytest.mark.parametrize("ask", [lambda part: _asked(part, 0), lambda part: _asked_inside(EpsilonGreedyPlayer(part, 0.5), 0)])
def test_every_question_is_answered_by_the_kernel_of_the_class(ask: Callable[[Any], int]) -> None:
    parts = [made(value) for value in range(4)]
    assert [ask(part) for part in parts] == [0, 1, 2, 3]
    assert [ask(part) for part in reversed(parts)] == [3, 2, 1, 0]


def test_letters_that_numba_leaves_out_do_not_matter() -> None:
    """It keeps the ASCII letters of names only."""
    parts = [made(1, "Größe"), made(2, "Gre"), made(3, "Gre", "ä"), made(4, "Gre", "ö")]
    assert [_asked(part, 0) for part in parts] == [1, 2, 3, 4]


def test_a_class_keeps_its_name_where_no_other_has_it() -> None:
    assert type(made(1, "Only")).__name__ == "Only"
    assert type(FullGreedy().compiled(KINGDOMINO, 2)).__name__ == type(FullGreedy().compiled(KINGDOMINO, 2)).__qualname__
