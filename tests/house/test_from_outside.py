"""Does each kind of thing work that an author adds from a file outside the package, with the names of kdenv.author alone?

A whole game from outside is examples/three_shells.py, which many tests play; a card is examples/dominion_new_card.py.
"""

import json
import math
from collections.abc import Callable
from typing import NamedTuple

import gymnasium
import numpy as np
import pytest
from matches import run_script

import kdenv
from kdenv.arena import Match, play
from kdenv.author import (
    BadOption,
    Encoding,
    Game,
    Part,
    Playout,
    Policy,
    RulePlayer,
    SelectionRule,
    TurnPolicy,
    Uniform,
    View,
    answers,
    below,
    estimate,
    kernel,
    legal,
    list_turns,
    make_rng,
    named,
    packed,
    param,
    play_out,
    play_turn,
    plays,
    rank,
    reach,
    resample_hidden,
    scores,
    seat,
    uniform,
    urgency,
)
from kdenv.games.dominion import ACTION, ANY, CURSE, MAY, OTHERS_GAIN, TRASH, Card, add_card
from kdenv.policies import Mce
from kdenv.policies.listing import entry_of
from kdenv.policies.text import value

pytestmark = pytest.mark.cold

KINGDOMINO, CARCASSONNE, DOMINOES = map(kdenv.game, ("kingdomino", "carcassonne", "dominoes"))


def decide(policy: str, game: str, players: int = 2, **options: object) -> int:
    """What a policy decides at the beginning of a game; it is legal."""
    table = kdenv.table(game, players, **options)
    table.run_chance(make_rng(1))
    assert table.seat is not None
    action = kdenv.policy(policy).act(table.view(table.seat))
    assert action in table.legal()
    return action


def undone(monkeypatch: pytest.MonkeyPatch, game: Game) -> Game:
    """The game; what a test adds to it is taken away when the test ends."""
    for name in ("knowledge", "encodings"):
        monkeypatch.setitem(vars(game), name, getattr(game, name))
    return game


# A policy in ten lines: text, Python, JSON, a match.


@named("from_outside")
class FromOutside(Policy):
    """The legal action at this place of the list."""

    place: int = param("counted from 0", default=0, least=0)
    other_end: bool = False

    def act(self, view: View) -> int:
        actions = view.legal()
        place = min(self.place, len(actions) - 1)
        return actions[-1 - place if self.other_end else place]


def test_a_policy_is_the_same_as_text_in_python_and_as_json() -> None:
    policy = FromOutside(place=2, other_end=True)
    assert kdenv.policy("from_outside(place=2, other_end=yes)") == policy
    assert kdenv.policy(json.loads(json.dumps(policy.to_json()))) == policy
    with pytest.raises(BadOption, match=r"^place=-1 is not possible; place is a whole number from 0 on$"):
        FromOutside(place=-1)


def test_a_match_takes_policies_in_any_form() -> None:
    policy = FromOutside(place=2)
    match = Match("dominoes", [policy, policy.to_json(), "from_outside(place=2)", FromOutside.act.__get__(policy)], games=1)
    results = []
    play(match, on_result=results.append, processes=1)
    assert match.line_up[:3] == ["from_outside(place=2)"] * 3
    assert len(results) == 1


def test_what_is_no_policy_is_told_what_it_lacks() -> None:
    class Unnamed(Policy):
        def act(self, view: View) -> int:
            return 0

    class Homeless:
        def act(self, view: View) -> int:
            return 0

    with pytest.raises(BadOption, match=r'^Unnamed has no name, so it cannot be written as JSON; mark the class @named\("a_name"\)$'):
        Unnamed().to_json()
    with pytest.raises(BadOption, match=r"^Homeless has act\(view\), but is no policy; derive it from kdenv\.author\.Policy$"):
        kdenv.policy(Homeless())


SCRIPT = """
import kdenv
from kdenv.arena import Match, play
from kdenv.author import Policy, named

@named("of_a_script")
class OfAScript(Policy):
    \"\"\"The first or last legal action.\"\"\"
    last: bool = False

    def act(self, view):
        return view.legal()[-1 if self.last else 0]

def first(view):
    return view.legal()[0]

if __name__ == "__main__":
    play(Match("kingdomino", ["of_a_script(last=yes)", OfAScript(), first], games=3), processes=2, on_result=print)
"""


def test_processes_know_the_policies_and_functions_of_a_script(tmp_path) -> None:
    done = run_script(tmp_path, SCRIPT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Result(") == 3


def test_what_processes_cannot_be_given_is_told() -> None:
    sentence = r"lambda> cannot be given to the processes that play .*; define it at the top of your script or of a module, or play with "
    with pytest.raises(BadOption, match=sentence + "processes=1 and no move limit$"):
        play(Match("kingdomino", [lambda view: view.legal()[0], "random"], games=4), processes=2, on_result=print)


# A rule player of a game of the package; a playout that is none.


class Mostly(NamedTuple):
    """The first or last legal action with this probability, else any."""

    chance: float = 1.0
    last: bool = False


@plays(Mostly)
@kernel
def _mostly(player, states, k, out, rng):
    n = legal(states[k], out)
    if uniform(rng) < player.chance:
        return packed(out[n - 1 if player.last else 0])
    return packed(out[below(rng, n)])


@named("mostly_first")
class MostlyFirst(Playout):
    """The first legal action with a probability, else any."""

    chance: float = param("of the first action", default=0.5, least=0, most=1)

    def player(self, view: View) -> Mostly:
        return Mostly(self.chance)


def test_a_rule_player_is_a_policy_and_a_playout(monkeypatch: pytest.MonkeyPatch) -> None:
    undone(monkeypatch, KINGDOMINO).add_player("mostly", RulePlayer(Mostly, "the first or last legal action with a probability"))
    first, last = decide("mostly", "kingdomino"), decide("mostly(last=yes)", "kingdomino")
    assert first < last
    decide("mce(playout=mostly(chance=0.5), playouts=20)", "kingdomino")


def test_a_name_that_the_game_has_is_not_taken_away() -> None:
    with pytest.raises(TypeError, match=r"^kingdomino already has full_greedy among its players; choose another name$"):
        KINGDOMINO.add_player("full_greedy", RulePlayer(Mostly, "another"))


CELL = """
from typing import NamedTuple
import kdenv
from kdenv.author import RulePlayer, kernel, legal, packed, plays

class Mine(NamedTuple):
    {field}: int = {value}

@plays(Mine)
@kernel
def _mine(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[player.{field} % n])

kdenv.game("kingdomino").add_player("mine", RulePlayer(Mine, "the legal action at one place"))
"""


def test_a_cell_of_a_notebook_may_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    undone(monkeypatch, KINGDOMINO)
    cell = {"__name__": "__main__"}
    exec(CELL.format(field="place", value=0), cell)
    first = decide("mine", "kingdomino")
    exec(CELL.format(field="place", value=-1), cell)
    assert decide("mine", "kingdomino") > first
    exec(CELL.format(field="corner", value=0), cell)
    assert decide("mine(corner=0)", "kingdomino") == first
    with pytest.raises(TypeError, match=r"^kingdomino already has mine among its players; choose another name$"):
        exec(CELL.format(field="place", value=0), {"__name__": "another"})


def test_a_class_that_lacks_a_method_is_refused_when_it_is_made() -> None:
    def bare(base: type) -> type:
        return named("bare")(type("Bare", (base,), {"__doc__": "Nothing."}))

    for base, message in {
        Policy: "Bare has no method act(self, view), which a policy of this kind needs",
        TurnPolicy: "Bare has no method choose_turn(self, view), which a policy of this kind needs",
        Playout: "Bare has no method player(self, view), which a playout of this kind needs",
        SelectionRule: "Bare has no method compiled(self), which a selection rule of this kind needs",
    }.items():
        with pytest.raises(TypeError) as error:
            bare(base)
        assert str(error.value) == message

    class Unmarked(Policy):
        """It has no name and no method."""

    with pytest.raises(TypeError, match=r"^Can't instantiate abstract class Unmarked with abstract method act$|'act'$"):
        Unmarked()  # type: ignore[abstract]


def test_a_player_is_added_by_the_name_of_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    undone(monkeypatch, KINGDOMINO)
    kdenv.add_player("kingdomino", "mostly", Mostly)
    assert decide("mostly", "kingdomino") < decide("mostly(last=yes)", "kingdomino")
    assert entry_of("mostly", KINGDOMINO).meaning == "The first or last legal action with this probability, else any"


class Silent(NamedTuple):
    """Has no kernel."""


class Demanding(NamedTuple):
    """Has a field without a default."""

    chance: float


UNFIT = [
    (lambda: kdenv.add_player("kingdomino", "x", Silent), r"Silent does not answer choose\(\): mark its kernel with .*"),
    (lambda: kdenv.add_player("kingdomino", "x", Demanding), r"the player x has a parameter chance without a default; .*"),
    (lambda: kdenv.add_evaluator("carcassonne", "x", Silent()), r"Silent does not answer estimate\(\): mark its kernel with .*"),
    (lambda: kdenv.add_order("carcassonne", "x", Silent()), r"Silent does not answer rank\(\): mark its kernel with .*"),
]


@pytest.mark.parametrize("add, sentence", UNFIT, ids=["player", "parameter", "evaluator", "order"])
def test_what_has_no_kernel_is_refused_when_it_is_added(add: Callable[[], None], sentence: str) -> None:
    with pytest.raises(TypeError, match=rf"^{sentence}$"):
        add()


def test_a_playout_is_known_by_its_text() -> None:
    assert kdenv.policy("mce(playout=mostly_first(chance=0.25), playouts=20)") == Mce(playout=MostlyFirst(chance=0.25), playouts=20)
    decide("mce(playout=mostly_first(chance=0.25), playouts=20)", "kingdomino")


# A selection rule.


class Fading(NamedTuple):
    bonus: float


@answers(urgency, Fading)
@kernel
def _fading(rule, visits, total, squares, gain, log_n, rng):
    return total / visits + rule.bonus / math.sqrt(visits)


@named("fading")
class FadingBonus(SelectionRule):
    """The mean, and a bonus that falls with the root of the visits."""

    bonus: float = param("after one visit", default=1.0, least=0)

    def compiled(self) -> Fading:
        return Fading(self.bonus)


def test_a_selection_rule_is_known_by_its_text() -> None:
    greedy, curious = (kdenv.policy(f"uct(select=fading(bonus={bonus}), playouts=400)") for bonus in (0, 100))
    table = kdenv.table("kingdomino", 2)
    table.run_chance(make_rng(1))
    view = table.view(table.seat or 0)
    assert greedy.search(view).visits.max() > 2 * curious.search(view).visits.max()  # a large bonus spreads the visits


# An evaluation and an order of turns.


class Target(NamedTuple):
    """Ends at this lead."""

    lead: float


@answers(estimate, Target)
@kernel
def _estimate(evaluator, states, k, seat, numbers):
    scores(states[k], numbers)
    return evaluator.lead + numbers[seat] - numbers[1 - seat]


@answers(reach, Target)
@kernel
def _reach(evaluator, states, k, seat, numbers):
    return 1000.0


class Reversed(NamedTuple):
    """The last action first."""


@answers(rank, Reversed)
@kernel
def _rank(order, s, turn):
    return 15 - turn % 16


def test_an_evaluation_and_an_order_are_known_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    undone(monkeypatch, CARCASSONNE)
    kdenv.add_evaluator("carcassonne", "target", Target(3.0))
    kdenv.add_order("carcassonne", "reversed", Reversed())
    table = kdenv.table("carcassonne", 2)
    table.run_chance(make_rng(1))
    policy = kdenv.policy("expectimax(evaluate=target, order=reversed, depth=1)")
    assert max(candidate.mean for candidate in policy.search(table.view(table.seat)).candidates) >= 3
    with pytest.raises(BadOption, match=r"^evaluate=targt is not possible \(did you mean target\?\); "):
        kdenv.policy("expectimax(evaluate=targt)").check(CARCASSONNE)


# An encoding.


@kernel
def _observe(states, k, looker, out):
    for i in range(4):
        out[i] = 0.0
    out[(seat(states[k]) - looker) % 4] = 1.0


def _layout(players, options):
    return {"mover": Part((4,), "1 for who is to move, from me on")}


def test_an_encoding_is_what_an_environment_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    undone(monkeypatch, DOMINOES)
    kdenv.add_encoding("dominoes", Encoding("mover", _layout, _observe))
    environment = gymnasium.make("kdenv/Dominoes-v0", encoding="mover", opponents="random")
    observation, info = environment.reset(seed=1)
    assert observation.tolist() == [1, 0, 0, 0]
    action = int(np.flatnonzero(info["action_mask"])[0])
    assert environment.step(action)[0].tolist() == [1, 0, 0, 0]


# A search over the verbs.


@kernel
def _halve(states, mover, turns, n, playouts, out, numbers, totals, rng):
    while n > 1:
        for i in range(n):
            totals[i] = 0
            for _ in range(playouts):
                states[1] = states[0]
                resample_hidden(states[1], mover, rng)
                play_turn(states[1], turns[i])
                play_out(Uniform(), states, 1, out, rng)
                scores(states[1], numbers)
                totals[i] += numbers[mover]
        for i in range(1, n):  # the best to the front
            j = i
            while j > 0 and totals[j] > totals[j - 1]:
                totals[j], totals[j - 1] = totals[j - 1], totals[j]
                turns[j], turns[j - 1] = turns[j - 1], turns[j]
                j -= 1
        n, playouts = (n + 1) // 2, playouts * 2
    return turns[0]


@named("halving")
class Halving(TurnPolicy):
    """Plays out all turns, then the better half of them twice as often, until one is left."""

    playouts: int = param("of each turn at first", default=4, least=1)

    def choose_turn(self, view: View) -> int:
        game, states = view.game, view.scratch(8)
        turns, totals = np.zeros((2, game.max_turns), np.int64)
        n = int(list_turns(states, 0, game.most_decisions, game.max_legal, turns))
        numbers = np.zeros(view.players, np.int64)
        return int(_halve(states, view.seat, turns, n, self.playouts, game.buffer(), numbers, totals, self.rng))


def test_a_search_is_a_policy() -> None:
    results = []
    play(Match("kingdomino", ["halving(playouts=2)", "random"], games=4, seed=1), on_result=results.append, processes=1)
    assert sum(result.margins[0] for result in results) > 0


# A card.


def test_a_card_is_played() -> None:
    steps = ((OTHERS_GAIN, CURSE), (TRASH, 1, ANY, MAY))
    add_card(Card("Haunted Chapel", 5, (ACTION,), cards=1, steps=steps, text="Others gain a Curse; you may trash a card"))
    table = kdenv.table("dominion", kingdom=["Haunted Chapel", "Village", "Smithy", "Market"])
    rng, policy = make_rng(4), kdenv.policy("rollout(epsilon=0)")
    table.run_chance(rng)
    words = []
    while not table.over and "play Haunted Chapel" not in words:
        action = policy.act(table.view(table.seat))
        words.append(table.name(action))
        table.decide(action, rng)
    assert "play Haunted Chapel" in words


# Other tests ask for all policies there are, so the classes of this file are known only while its tests run.
NAMED_HERE = {name: cls for name, cls in value._classes.items() if cls.__module__ == __name__}
for name in NAMED_HERE:
    del value._classes[name]


@pytest.fixture(autouse=True)
def known_while_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, cls in NAMED_HERE.items():
        monkeypatch.setitem(value._classes, name, cls)
