"""Are games registered only if they are whole, and do verbs and parts find their kernels, compiled or not?"""

import dataclasses
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
import three_shells
from numba.core.errors import TypingError

import kdenv.games.kingdomino
from kdenv.compiler import state
from kdenv.compiler.digest import questions
from kdenv.compiler.errors import KernelError
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import make_rng
from kdenv.compiler.state import state_dtype
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.questions import Knowledge, choose, plays
from kdenv.core.table import Table
from kdenv.core.verbs import VERBS, register_rules
from kdenv.games import find_game, names
from kdenv.policies import policy
from kdenv.search.playout import play_out

REQUIRED = [name for name in VERBS if name not in ("truncated", "progress")]


def room_like_three_shells(**changes: object) -> ModuleType:
    """A room with the verbs of Three Shells and a state of its own; None takes a thing away."""
    room = ModuleType("room")
    room.STATE = state_dtype(("stage", np.int8), ("for_this_test_only", np.int8))
    for name in REQUIRED:
        setattr(room, name, getattr(three_shells, name))
    for name, change in changes.items():
        if change is None:
            delattr(room, name)
        else:
            setattr(room, name, change)
    return room


def test_the_verbs_are_those_of_the_design() -> None:
    chance = {"chances", "apply_chance", "sample_chance", "witnesses"}
    end = {"scores", "standings", "truncated"}
    assert VERBS.keys() == {"begin", "phase", "seat", "legal", "apply", "resample_hidden", "observe", "progress"} | chance | end


@pytest.mark.parametrize("verb", REQUIRED)
def test_help_shows_the_arguments_of_a_verb(verb: str) -> None:
    assert list(inspect.signature(VERBS[verb]).parameters) == questions[VERBS[verb]].takes


def test_a_state_with_python_objects_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^the field cards of a state holds Python objects; give a dtype of numbers"):
        state_dtype(("stage", np.int8), ("cards", list))


@pytest.mark.parametrize("verb", REQUIRED)
def test_a_game_without_a_verb_is_refused(verb: str) -> None:
    with pytest.raises(TypeError) as error:
        register_rules("lame", room_like_three_shells(**{verb: None}))
    assert str(error.value) == f"lame lacks the verb {verb}: a kernel of this name belongs in room"


def test_all_missing_verbs_are_named_at_once() -> None:
    with pytest.raises(TypeError) as error:
        register_rules("lame", room_like_three_shells(seat=None, legal=None))
    assert str(error.value) == "lame lacks the verbs seat, legal: a kernel of this name belongs in room"


def test_a_verb_may_be_in_any_module_of_the_room() -> None:
    rules, encoding = room_like_three_shells(observe=None), ModuleType("encoding")
    encoding.observe = three_shells.observe
    register_rules("whole", rules, encoding)
    assert questions[verbs.observe].kernel_for(rules.STATE) is three_shells.observe


@kernel
def _always(states, k):
    return True


def test_a_game_without_a_limit_may_leave_truncated_out() -> None:
    room = room_like_three_shells(STATE=state_dtype(("stage", np.int8), ("without_a_limit", np.int8)))
    states = np.zeros(1, register_rules("endless", room))
    assert not verbs.truncated(states, 0)
    assert not verbs.truncated_at(states, 0)


@pytest.mark.parametrize("in_room", [True, False])
def test_a_limit_is_a_verb_of_the_room_or_given(in_room: bool) -> None:
    room = room_like_three_shells(STATE=state_dtype(("stage", np.int8), (f"with_a_limit_{in_room:d}", np.int8)))
    if in_room:
        room.truncated = _always
    states = np.zeros(1, register_rules(f"limited_{in_room:d}", room, **({} if in_room else {"truncated": _always})))
    assert verbs.truncated(states, 0)
    assert verbs.truncated_at(states, 0)


@pytest.mark.parametrize("name", names())
def test_progress_grows_from_the_beginning_to_the_end_of_a_game(name: str) -> None:
    game, seen = find_game(name), []
    table, rng, dice = Table(game, **({"mode": "round"} if name == "dominoes" else {})), make_rng(1), np.random.default_rng(1)
    assert verbs.tells_progress(game.state_dtype) and not verbs.tells_progress(three_shells.GAME.state_dtype)
    while not table.over:
        seen.append(float(verbs.progress_at(table.states, 0)))
        table.run_chance(rng)
        if not table.over:
            table.play(int(dice.choice(table.legal())))
    assert seen[0] == 0 and seen == sorted(seen) and 0.4 < max(seen) <= 1 and len(set(seen)) > 3
    assert verbs.progress_at(table.states, 0) == 1


def lame(**changes: Any) -> Game:
    """Three Shells, made once more with other words, drawing or encodings."""
    game = three_shells.GAME
    fields = {field.name: getattr(game, field.name) for field in dataclasses.fields(game) if field.init}
    return Game(**{**fields, **changes})


def without(*names: str, **changes: Any) -> ModuleType:
    """The words and the drawing of Three Shells, less these functions."""
    words = ModuleType("words")
    vars(words).update({name: thing for name, thing in vars(three_shells).items() if name not in names} | changes)
    return words


def test_the_limit_that_a_game_is_given_is_the_verb() -> None:
    room = room_like_three_shells(STATE=state_dtype(("stage", np.int8), ("with_a_limit_given_to_the_game", np.int8)))
    game = lame(name="limited", room=(room,), truncated=_always)
    assert verbs.truncated(np.zeros(1, game.state_dtype), 0)


def test_a_game_without_a_word_is_refused_when_it_is_made() -> None:
    with pytest.raises(TypeError) as error:
        lame(notation=without("chance_text", "position_from"))
    assert str(error.value) == (
        "the notation of three_shells lacks chance_text, position_from; kdenv.author.Notation says what each function answers"
    )


def test_a_drawing_that_knows_no_seats_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        lame(drawing=without(svg=lambda states, k: "<svg/>"))
    assert str(error.value) == (
        "the drawing of three_shells has svg(states, k), which must take (states, k, seat=None); "
        "kdenv.author.Drawing says what each function answers"
    )


def test_a_game_without_an_encoding_is_refused() -> None:
    with pytest.raises(TypeError, match=r"three_shells has no encoding; give encodings=\(Encoding\(name, layout, observe\),\)"):
        lame(encodings=())


def test_an_option_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        lame(options=(("size", 5, "the size"),))
    assert str(error.value) == "('size', 5, 'the size') among the options of three_shells is no Option; write Option(...)"


def test_a_layout_of_no_parts_is_refused_when_the_game_is_made() -> None:
    encoding = dataclasses.replace(three_shells.GAME.encodings[0], name="bad", layout=lambda players, options: {"coin": (3,)})
    with pytest.raises(TypeError) as error:
        lame(encodings=(encoding,))
    assert str(error.value) == "the layout of three_shells's encoding bad has coin: (3,); write Part(shape, meaning)"


def test_a_greedy_player_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        lame(knowledge=Knowledge(greedy="timid"))
    assert str(error.value) == "the greedy player of three_shells is timid, which is not among the players of its knowledge"


def test_a_game_without_a_state_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        register_rules("lame", room_like_three_shells(STATE=None))
    assert str(error.value) == "lame lacks STATE, the dtype of a position: make it with state_dtype in room"


def test_a_game_that_shares_a_dtype_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        register_rules("copycat", room_like_three_shells(STATE=three_shells.STATE))
    assert str(error.value) == (
        "the states of copycat and three_shells have the same dtype, so the verbs cannot tell them apart; "
        "make the STATE of each game in a module of its own, or rename a field"
    )


def twin_of_three_shells(folder: Path) -> ModuleType:
    """A module with the fields of three_shells and other rules: the pea is under each shell with equal odds."""
    text = Path(str(three_shells.__file__)).read_text(encoding="utf-8")
    for old, new in (
        ('name="three_shells"', 'name="twin_shells"'),
        ('title="ThreeShells"', 'title="TwinShells"'),
        ("ODDS = np.array([1, 2, 3]", "ODDS = np.array([5, 5, 5]"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "twin_shells.py").write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("twin_shells", folder / "twin_shells.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["twin_shells"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.cold
def test_two_games_with_equal_fields_live_in_one_process(tmp_path: Path) -> None:
    """Each has its own rules at a table and inside a search, although the fields of their states are the same."""
    twin = twin_of_three_shells(tmp_path)
    games = three_shells.GAME, twin.GAME
    assert twin.STATE != three_shells.STATE
    assert twin.STATE.itemsize == three_shells.STATE.itemsize
    assert [name for name in twin.STATE.names if name[0] != "_"] == [name for name in three_shells.STATE.names if name[0] != "_"]
    first = [Table(game) for game in games]
    assert [[6 * odds for _, odds in table.chances()] for table in first] == [pytest.approx([1, 2, 3]), pytest.approx([2, 2, 2])]
    for game in games:
        table, rng = Table(game), make_rng(1)
        table.run_chance(rng)
        search = policy("mce(playouts=2000, score=points)")
        table.decide(table.action("stake 3"), rng)
        found = search.search(table.view(1))
        means = [candidate.mean for candidate in sorted(found.candidates, key=lambda each: each.words) if "point" in candidate.words]
        assert len(means) == 3
        spread = max(means) - min(means)
        assert spread > 1 if game is three_shells.GAME else spread < 0.6  # by the odds, 2 * 3 * 1.25 * (3 / 6 - 1 / 6) = 2.5 and 0


def test_a_state_belongs_to_its_module_also_if_that_is_run_as_a_script() -> None:
    spec = importlib.util.spec_from_loader("mine.rules", None)
    assert state._home({"__spec__": spec, "__file__": "/x/rules.py"}) == "mine_rules"
    assert state._home({"__spec__": None, "__name__": "__main__", "__file__": "/x/shells.py"}) == "shells"
    assert state._home({"__name__": "__main__"}) == ""  # a notebook
    assert state._home(vars(kdenv.games.kingdomino.rules)) == ""


def test_a_refused_game_leaves_the_other_as_it_was() -> None:
    with pytest.raises(TypeError):
        register_rules("copycat", room_like_three_shells(STATE=three_shells.STATE))
    states = np.zeros(1, three_shells.STATE)
    assert verbs._games[states.dtype] == "three_shells"
    assert questions[verbs.legal].kernel_for(states.dtype) is three_shells.legal


def test_the_sources_of_a_game_that_names_them_are_part_of_its_type() -> None:
    """So what was compiled before an edit is not used after it, in the same process neither."""
    field = ("stage", np.int8)
    named = [(), __file__, three_shells.__file__, (three_shells.__file__, __file__)]
    assert len({state_dtype(field, source=source) for source in named}) == 4


def test_a_copy_of_a_state_has_the_same_bytes() -> None:
    """numpy copies fields, not the gaps that alignment leaves between them: bytes are compared and hashed, so there must be no gap."""
    states = np.zeros(1, state_dtype(("small", np.int8), ("wide", np.int64), ("several", np.int16, (3,)), ("last", np.int8)))
    copies = [states.copy() for _ in range(100)]
    assert {copy.tobytes() for copy in copies} == {states.tobytes()}
    covered = sum(of.itemsize for of, *_ in states.dtype.fields.values())
    assert covered == states.dtype.itemsize == 24


@pytest.mark.parametrize("name", names())
def test_no_state_has_gaps(name: str) -> None:
    dtype = find_game(name).state_dtype
    assert sum(of.itemsize for of, *_ in dtype.fields.values()) == dtype.itemsize


def test_a_state_of_no_game_is_told_so_in_python() -> None:
    with pytest.raises(TypingError, match="is not the state of a registered game"):
        verbs.phase(np.zeros(1, [("x", np.int8)])[0])


def test_a_state_of_no_game_is_told_so_in_kernels() -> None:
    with pytest.raises(KernelError, match=r"^a record of x is not the state of a registered game$"):
        verbs.phase_at(np.zeros(1, [("x", np.int8)]), 0)


def pointing() -> np.ndarray:
    """Three Shells with the pea under shell 1 and a stake of 2: seat 1 is to point."""
    states = np.zeros(2, three_shells.STATE)
    three_shells.position_from("stage=2 pea=1 stake=2 guess=-1 coin=-1", states, 0)
    states["most"] = 3
    return states


def walk(verbs: object, at: bool) -> list:
    """What every verb answers on the way from the start to the end of Three Shells, through this door."""
    states = np.zeros(1, three_shells.STATE)
    state = (states, 0) if at else (states[0],)
    out, weights, points, vector = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(2, np.int64), np.zeros(9, np.float32)
    said: list = []

    def ask(verb: str, *rest: object) -> None:
        answer = getattr(verbs, verb + "_at" * at)(*state, *rest)
        said.append((verb, None if answer is None else int(answer), states[0].tolist(), out.tolist(), weights.tolist(), points.tolist()))

    ask("begin", 2, np.array([3]))
    for outcome, action in ((1, 2), (1, 4)):
        ask("phase")
        ask("witnesses")
        ask("sample_chance", make_rng(7))
        ask("chances", out, weights)
        if action == 4:
            ask("seat")
            ask("apply", action)
        ask("apply_chance", outcome)
        if action == 2:
            ask("legal", out)
            ask("apply", action)
            ask("resample_hidden", 1, make_rng(3))
    ask("scores", points)
    ask("standings", points)
    verbs.observe_at(states, 0, 1, vector)
    return [*said, vector.tolist()]


def test_every_verb_answers_in_python_as_in_kernels() -> None:
    assert walk(verbs, at=False) == walk(verbs, at=True)


@kernel
def _legal_in_a_kernel(states, out):
    return verbs.legal(states[0], out)


def test_a_kernel_asks_the_game_of_the_state_it_is_given() -> None:
    kingdomino = find_game("kingdomino")
    states = np.zeros(1, kingdomino.state_dtype)
    verbs.begin_at(states, 0, *kingdomino.variant(4))
    verbs.apply_chance_at(states, 0, 5)
    assert _legal_in_a_kernel(pointing(), np.zeros(4, np.int64)) == 4
    for outcome in (1, 2, 3, 0):
        verbs.apply_chance_at(states, 0, outcome)
    assert _legal_in_a_kernel(states, kingdomino.buffer()) == 4


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="then nothing tells a kernel from a function")
def test_a_verb_that_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^legal of lame is not marked @kernel$"):
        register_rules("lame", room_like_three_shells(legal=lambda s, out: 0))


def test_a_verb_that_takes_other_arguments_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^apply of lame takes \(s\) and must take \(s, action\)$"):
        register_rules("lame", room_like_three_shells(apply=kernel(lambda s: None)))


def test_an_answer_that_takes_other_arguments_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        plays(Mute)(kernel(lambda player, states, out: 1))
    assert str(error.value) == (
        "the kernel by which Mute answers choose() takes (player, states, out) and must take (player, states, k, out, rng)"
    )


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="then nothing tells a kernel from a function")
def test_an_answer_that_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^the kernel by which Mute answers choose\(\) is not marked @kernel$"):
        plays(Mute)(lambda player, states, k, out, rng: 1)


class Mute(NamedTuple):
    """A player whose kernel nobody has written."""


def test_a_part_without_a_kernel_says_so_in_python() -> None:
    with pytest.raises(TypingError) as error:
        choose(Mute(), pointing(), 0, np.zeros(4, np.int64), make_rng(1))
    assert str(error.value) == "Mute does not answer choose(): mark its kernel with @answers(choose, Mute)"


def test_a_part_without_a_kernel_says_so_in_kernels() -> None:
    with pytest.raises(KernelError, match=r"^Mute does not answer choose\(\): mark its kernel with @answers\(choose, Mute\)$"):
        play_out(Mute(), pointing(), 0, np.zeros(4, np.int64), make_rng(1))


@question
def twice(number, x):
    """A question asked by this test alone."""


class Two(NamedTuple):
    factor: int


@answers(twice, Two)
@kernel
def _twice(number, x):
    return number.factor * x


@kernel
def _ask_twice(number, x):
    return twice(number, x)


def test_a_part_answers_in_python_as_in_kernels() -> None:
    assert twice(Two(2), 21) == _ask_twice(Two(2), 21) == 42


def test_the_room_of_three_shells_is_a_module_like_any_other() -> None:
    """The tests above stand on it."""
    assert sys.modules["three_shells"] is three_shells
    assert three_shells.GAME.state_dtype is three_shells.STATE
