"""Is SeatEnv what Gymnasium, Stable-Baselines3 and a learner expect, and do the opponents play fairly? For every game."""

import copy
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium
import numba
import numpy as np
import pytest
import three_shells
from gymnasium.utils.env_checker import check_env

import kdenv
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, make_rng, next64
from kdenv.core import verbs
from kdenv.core.errors import BadOption, IllegalAction, NotSupported, WrongOrder
from kdenv.core.game import Game
from kdenv.core.questions import plays
from kdenv.core.table import Table
from kdenv.core.turns import packed, then
from kdenv.core.verbs import CHANCE, DECIDE, apply, apply_chance, legal, phase, sample_chance, seat
from kdenv.core.view import View
from kdenv.envs import step_kernel
from kdenv.envs.aec import TableEnv
from kdenv.envs.rewards import REWARDS
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import TITLES
from kdenv.policies import Policy

every_game = pytest.mark.parametrize("game", TITLES)
lost = pytest.mark.filterwarnings("ignore:an illegal action has ended a game")
without_window = pytest.mark.filterwarnings("ignore:.*nothing is shown. render_mode='human' needs a display")


def first_legal(view: View) -> int:
    return view.legal()[0]


def play(env: SeatEnv, dice: np.random.Generator | None = None, seed: int | None = None) -> dict[str, Any]:
    """A game from reset to its end, the learner at random; return the last info, with the sum of the rewards added."""
    dice = dice or np.random.default_rng(1)
    env.reset(seed=seed)
    total = 0.0
    while True:
        _, reward, terminated, truncated, info = env.step(int(dice.choice(np.flatnonzero(env.action_masks()))))
        total += reward
        if terminated or truncated:
            return {**info, "reward": total}
        assert reward == 0 or env.reward == "gains"


def rules_of(game: str) -> list[str]:
    """All opponents of a game that have a compiled form."""
    return ["random", *kdenv.game(game).knowledge.players]


# The checkers of other libraries


@pytest.mark.parametrize("title", TITLES.values())
@lost
@without_window
def test_gymnasium_finds_nothing_wrong(title: str) -> None:
    check_env(gymnasium.make(f"kdenv/{title}-v0").unwrapped)


@every_game
@lost
def test_stable_baselines_finds_nothing_wrong(game: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(SeatEnv(game))


@every_game
@lost
@pytest.mark.parametrize("parameters", [{"observation": "dict"}, {"observation": "parts"}, {"skip_forced": True, "reward": "gains"}])
@pytest.mark.filterwarnings(  # the parts have three or more dimensions, but they are no pictures
    "ignore:.*has an unconventional shape", "ignore:It seems that your observation", "ignore:The minimal resolution for an image"
)
def test_checkers_find_nothing_wrong_with_other_parameters(game: str, parameters: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    check_env(gymnasium.make(f"kdenv/{kdenv.game(game).title}-v0", **parameters).unwrapped, skip_render_check=True)
    checker.check_env(SeatEnv(game, **parameters))


@pytest.mark.cold
def test_maskable_ppo_learns_on_it() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    env = SeatEnv("kingdomino", "full_greedy", seat="rotate")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, seed=1)
    model.learn(32)
    assert model.num_timesteps == 32


def test_it_can_be_made_by_its_name_with_the_package_before_a_colon() -> None:
    env = gymnasium.make("kdenv:kdenv/Kingdomino-v0", opponents="full_greedy", players=2, size=7, dominoes=48)
    assert env.unwrapped.table.options["size"] == 7 and env.unwrapped.table.players == 2


@every_game
def test_it_renders_what_the_learner_sees(game: str) -> None:
    for mode, kind in (("ansi", str), ("svg", str), ("rgb_array", np.ndarray)):
        env = SeatEnv(game, seat=1, render_mode=mode)
        env.reset(seed=1)
        assert isinstance(env.render(), kind)


# What a learner gets


@every_game
@pytest.mark.parametrize("reward", [*REWARDS, lambda table: table.ranks()])
def test_the_learner_gets_what_its_seat_gets_at_the_table(game: str, reward: str) -> None:
    env = SeatEnv(game, seat=1, reward=reward)
    got = play(env, seed=3)["reward"]
    table = TableEnv(game, reward=reward)
    table.reset(options={"script": [event.number for event in env.table.events() if event.is_chance]})
    total = 0.0
    for event in env.table.events():
        if not event.is_chance:
            table.step(event.number)
            total += table.rewards["player_1"]
    assert got == pytest.approx(total, abs=1e-12)


@every_game
def test_the_mask_says_what_is_legal_for_the_learner_whose_turn_it_is(game: str) -> None:
    env = SeatEnv(game, opponents="random", seat=2 % kdenv.game(game).players[0], observation="dict")
    observation, info = env.reset(seed=1)
    done = False
    while not done:
        legal = env.table.legal()
        assert env.table.seat == env.seat == info["seat"]
        for mask in (observation["action_mask"], info["action_mask"], env.action_masks()):
            assert np.flatnonzero(mask).tolist() == legal
        assert info["action_mask"].dtype == np.int8 and env.action_masks().dtype == np.bool_
        assert np.array_equal(observation["observation"], env.view().observation())
        observation, _, terminated, truncated, info = env.step(legal[-1])
        done = terminated or truncated
    for mask in (observation["action_mask"], info["action_mask"], env.action_masks()):  # of zeros, logits would become NaN
        assert mask.all() and len(mask) == env.table.n_actions


@every_game
def test_the_last_info_has_the_scores_and_the_ranks_and_the_record_if_wanted(game: str) -> None:
    env = SeatEnv(game, record=True)
    info = play(env, seed=1)
    for name, numbers in (("scores", env.table.scores()), ("ranks", env.table.ranks())):
        assert info[name].dtype == np.int64 and info[name].tolist() == numbers
    assert kdenv.replay(info["record"]).scores() == info["scores"].tolist()
    assert "record" not in play(SeatEnv(game))


def test_a_mask_that_was_written_to_does_not_make_actions_legal() -> None:
    env = SeatEnv(illegal="raise")
    _, info = env.reset(seed=1)
    info["action_mask"][:] = 1
    with pytest.raises(IllegalAction):
        env.step(0)


@every_game
def test_a_learner_need_not_be_asked_where_one_action_is_legal(game: str) -> None:
    n_forced = 0
    for opponents in ("random", first_legal):
        env = SeatEnv(game, opponents, skip_forced=True)
        env.action_space.seed(1)
        for seed in range(2):
            _, info = env.reset(seed=seed)
            while env.table.legal():
                assert info["action_mask"].sum() > 1
                *_, info = env.step(env.action_space.sample(info["action_mask"]))
            plain = TableEnv(game)
            plain.reset(options={"script": [event.number for event in env.table.events() if event.is_chance]})
            for event in env.table.events():
                if not event.is_chance:
                    n_forced += plain.agent_selection == "player_0" and len(plain.table.legal()) == 1
                    plain.step(event.number)
            assert plain.record() == env.record()
    assert n_forced > 0 or game == "carcassonne"  # where there is almost always a choice


# Opponents


@pytest.mark.parametrize("game", [pytest.param(game, marks=[pytest.mark.cold] * (game == "dominion")) for game in TITLES])
def test_compiled_opponents_play_by_the_rules_whoever_sits_where(game: str) -> None:
    others = kdenv.game(game).players[0] - 1
    names = rules_of(game)
    for shift in range(len(names)):
        env = SeatEnv(game, opponents=[names[(shift + i) % len(names)] for i in range(others)], seat="rotate")
        for seed in (None, None):
            play(env, seed=seed)
            assert kdenv.replay(env.record()).scores() == env.table.scores()


class First(NamedTuple):
    """Inside kernels: the first legal action."""


@plays(First)
@kernel
def _choose_first(player, states, k, out, rng):
    legal(states[k], out)
    return packed(out[0])


class FirstLegal(Policy):
    """The first legal action; with a compiled form, or without."""

    def __init__(self, is_compiled: bool) -> None:
        self.is_compiled = is_compiled

    def act(self, view: View) -> int:
        return first_legal(view)

    def compiled(self, game: Game, players: int) -> First | None:
        return First() if self.is_compiled else None


@every_game
def test_opponents_play_alike_in_kernels_and_in_python(game: str) -> None:
    def record(is_compiled: bool) -> str:
        env = SeatEnv(game, FirstLegal(is_compiled), seat="random")
        play(env, seed=2)
        return env.record()

    assert record(True) == record(False)


def test_a_function_of_a_view_is_an_opponent_and_sits_where_the_list_says() -> None:
    asked = []

    def note(number: int) -> Callable[[View], int]:
        def choose(view: View) -> int:
            asked.append((number, view.seat))
            return first_legal(view)

        return choose

    play(SeatEnv(opponents=[note(1), note(2), note(3)], seat=2), seed=1)
    assert set(asked) == {(1, 3), (2, 0), (3, 1)}


def test_policies_and_functions_may_be_mixed_and_one_may_sit_at_all_seats() -> None:
    env = SeatEnv(opponents=["full_greedy", first_legal, kdenv.policy("uct(playouts=5)")])
    play(env, seed=1)
    assert env.table.over
    play(SeatEnv(opponents=first_legal), seed=1)


@every_game
def test_opponents_see_only_what_their_seats_see(game: str) -> None:
    env: SeatEnv

    def look(view: View) -> int:
        again = env.table.view(view.seat)
        assert view.to_move and (view.states == again.states).all() and not view.oracle
        return first_legal(view)

    env = SeatEnv(game, opponents=look)
    play(env, seed=1)


def test_an_oracle_may_not_be_an_opponent() -> None:
    class Omniscient(Policy):
        is_oracle = True
        act = staticmethod(first_legal)

    with pytest.raises(NotSupported, match="Omniscient looks at what is hidden"):
        SeatEnv(opponents=Omniscient())


def test_a_pool_is_drawn_from_anew_for_every_game() -> None:
    met: set[str] = set()

    def named(name: str) -> Callable[[View], int]:
        def choose(view: View) -> int:
            met.add(name)
            return first_legal(view)

        return choose

    env = SeatEnv(pool=[named("a"), named("b"), named("c")], players=2)
    of_games = []
    for _ in range(40):
        met.clear()
        play(env)
        of_games.append(frozenset(met))
    assert set(of_games) == {frozenset("a"), frozenset("b"), frozenset("c")}


def test_steps_by_machine_code_are_those_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With opponents of several types that sit elsewhere in every game, and a change of opponents."""
    told = []
    for calls in (1 << 30, 1, 5):
        monkeypatch.setattr(step_kernel, "_CALLS", calls)
        env = SeatEnv(pool=["random", "full_greedy", "gprd"], players=4, size=5, seat="rotate")
        ends = [play(env, np.random.default_rng(game), seed=game) for game in range(8)]
        env.set_opponents(opponents="full_greedy")
        ends += [play(env, np.random.default_rng(game), seed=game) for game in range(3)]
        told.append([end["scores"].tolist() for end in ends])
        if not numba.config.DISABLE_JIT:
            assert (env._compiled._code is step_kernel._step_with) == (calls > 5)
    assert told[0] == told[1] == told[2]


def test_opponents_may_be_changed_between_games() -> None:
    env = SeatEnv(opponents="random")
    asked = []
    env.set_opponents(lambda view: asked.append(view.seat) or first_legal(view))
    play(env)
    assert set(asked) == {1, 2, 3}
    env.set_opponents(pool=["random", "full_greedy"])
    play(env)


def test_a_change_of_opponents_waits_for_the_next_game() -> None:
    asked = []
    env = SeatEnv(opponents=lambda view: asked.append(view.seat) or first_legal(view))
    env.reset(seed=1)
    env.set_opponents(pool=["random"])
    before = len(asked)
    env.step(env.table.legal()[0])
    assert len(asked) > before
    env.reset()
    before = len(asked)
    env.step(env.table.legal()[0])
    assert len(asked) == before


def test_an_opponent_that_makes_a_mistake_is_named() -> None:
    def wrong(view: View) -> int:
        return 0

    with pytest.raises(IllegalAction, match=r"the opponent .*wrong.* at seat \d makes a mistake: action 0"):
        play(SeatEnv(opponents=wrong), seed=1)


@every_game
@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
def test_after_an_error_in_an_opponent_nothing_goes_on_before_reset(game: str, failure: type[BaseException]) -> None:
    """The learner used to be shown the opponent's actions and to move for it."""
    fails = [False]

    def opponent(view: View) -> int:
        if fails[0]:
            raise failure
        return first_legal(view)

    env = SeatEnv(game, opponents=opponent, seat=1)
    env.reset(seed=1)
    fails[0] = True
    with pytest.raises(failure):
        while True:
            env.step(env.table.legal()[0])
    for _ in range(2):
        assert env.action_masks().all()
        with pytest.raises(WrongOrder, match=rf"^the game was broken off by a {failure.__name__} in the opponent at seat \d; call reset"):
            env.step(env.table.legal()[0])
        with pytest.raises(failure):  # in a reset, too
            for seed in range(20):
                env.reset(seed=seed)
    fails[0] = False
    play(env)
    assert env.table.over


def test_an_opponent_that_changes_the_table_breaks_the_game_off() -> None:
    def meddler(view: View) -> int:
        env.table.play(first_legal(view))
        return first_legal(view)

    env = SeatEnv(opponents=meddler)
    with pytest.raises(WrongOrder, match="changed from outside"):
        for seed in range(20):  # until an opponent begins
            env.reset(seed=seed)
    with pytest.raises(WrongOrder, match=r"broken off by a WrongOrder in the opponent at seat \d"):
        env.step(0)


@pytest.mark.parametrize("game", ["dominion", "dominoes"])
def test_the_mistake_of_an_opponent_does_not_tell_its_hand(game: str) -> None:
    """The sentence is for the learner, so it has nothing that the learner does not see."""
    told = set()
    for seed in range(4):
        env = SeatEnv(game, opponents=lambda view: -1, seat=0)
        table = Table(env.table.game)
        table.run_chance(make_rng(3))
        while table.seat == 0:
            table.play(table.legal()[0])
            table.run_chance(make_rng(4))
        if seed:
            verbs.resample_hidden_at(table.states, 0, 0, make_rng(seed))
        with pytest.raises(IllegalAction) as caught:
            env.reset(seed=1, options={"position": table.position()})
        told.add(str(caught.value).partition(" makes a mistake: ")[2])
    assert len(told) == 1


class Cheat(NamedTuple):
    """Inside kernels: points at the shell where the record of the position has the pea."""


@plays(Cheat)
@kernel
def _choose_where_the_pea_is(player, states, k, out, rng):
    return packed(3 + int(states[k].pea)) if seat(states[k]) == 1 else packed(0)


class Cheater(Policy):
    """A cheat who decides in kernels."""

    def act(self, view: View) -> int:
        raise AssertionError("it has a compiled form")

    def compiled(self, game: Game, players: int) -> Cheat:
        return Cheat()


@pytest.mark.cold
def test_a_compiled_opponent_that_reads_the_position_learns_nothing() -> None:
    """The odds are 1 : 2 : 3, so a pea that is drawn with them is where another one is in 14 of 36 games."""
    env, n, found = SeatEnv(three_shells.GAME, Cheater(), seat=0, reward="score", record=True), 900, 0
    for deal in range(n):
        env.reset(seed=deal)
        *_, info = env.step(0)
        found += info["scores"][1] > 0
    assert abs(found - n * 14 / 36) < 5.2 * (n * 14 / 36 * 22 / 36) ** 0.5


class Planner(NamedTuple):
    """Inside kernels: plans the first legal action, and also the first legal action of whoever decides after that."""


@plays(Planner)
@kernel
def _choose_two(player, states, k, out, rng):
    legal(states[k], out)
    first = out[0]
    states[k + 1] = states[k]
    apply(states[k + 1], first)
    while phase(states[k + 1]) == CHANCE:
        apply_chance(states[k + 1], sample_chance(states[k + 1], rng))
    if phase(states[k + 1]) != DECIDE:
        return packed(first)
    legal(states[k + 1], out)
    return then(first, out[0])


class PlannerPolicy(FirstLegal):
    """A planner in kernels; in Python whoever always takes the first legal action."""

    def compiled(self, game: Game, players: int) -> Planner | None:
        return Planner() if self.is_compiled else None


@pytest.mark.parametrize("game", [pytest.param(game, marks=[pytest.mark.cold] * (game in ("carcassonne", "dominion"))) for game in TITLES])
def test_what_a_player_planned_for_another_seat_or_past_chance_is_not_carried_out(game: str) -> None:
    def record(is_compiled: bool, deal: int) -> str:
        env = SeatEnv(game, PlannerPolicy(is_compiled), seat=0)
        env.reset(seed=deal)
        for _ in range(12):
            if env.table.over:
                break
            env.step(env.table.legal()[-1])
        return env.record()

    for deal in range(3):
        assert record(True, deal) == record(False, deal)


class Counting(NamedTuple):
    """Inside kernels: plans its whole turn, always the first legal action, and counts how often it is asked."""

    asked: np.ndarray


@plays(Counting)
@kernel
def _count_and_choose(player, states, k, out, rng):
    player.asked[0] += 1
    states[k + 1] = states[k]
    legal(states[k], out)
    first = out[0]
    apply(states[k + 1], first)
    if phase(states[k + 1]) != DECIDE or seat(states[k + 1]) != seat(states[k]):
        return packed(first)
    legal(states[k + 1], out)
    return then(first, out[0])


class CountingPolicy(FirstLegal):
    def compiled(self, game: Game, players: int) -> Counting:
        self.counting = Counting(np.zeros(1, np.int64))
        return self.counting


def test_a_player_is_asked_once_a_turn() -> None:
    """In Kingdomino, four seats have thirteen turns each: a pick, eleven times a place and a pick, and a place."""
    counting = CountingPolicy(is_compiled=True)
    env = SeatEnv("kingdomino", counting, seat=2)
    play(env, seed=1)
    assert env.table.over
    assert counting.counting.asked[0] == 3 * 13


# Seats and seeds


def test_the_seat_rotates_or_is_random_or_fixed() -> None:
    def seats(rule: int | str) -> list[int]:
        env = SeatEnv(seat=rule)
        return [env.reset(seed=4 if i == 0 else None)[1]["seat"] for i in range(8)]

    assert seats(3) == [3] * 8
    assert seats("rotate") == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len(set(seats("random"))) > 1 and seats("random") == seats("random")


@every_game
@pytest.mark.parametrize("opponents", ["greedy in kernels", "greedy and a function"])
def test_a_seed_fixes_deals_seats_and_opponents(game: str, opponents: str) -> None:
    greedy = kdenv.game(game).knowledge.greedy or "random"

    def games(seed: int) -> list[str]:
        pool = [greedy, "random"] if opponents == "greedy in kernels" else [greedy, first_legal]
        env = SeatEnv(game, pool=pool, seat="random")
        dice = np.random.default_rng(2)
        play(env, dice, seed)
        first = env.record()
        play(env, dice)
        return [first, env.record()]

    assert games(5) == games(5)
    assert len({*games(5), *games(6)}) == 4


class Seeded(FirstLegal):
    """Takes the first legal action, and keeps its seed."""

    def reset(self, seed: int) -> None:
        self.seed = seed


def drawn_after(number: int) -> int:
    """The number that a generator of kernels draws after this one: the state is the number, divided by an odd constant (modulo 2**64)."""
    return int(next64(np.array([number * pow(0x2545F4914F6CDD1D, -1, 1 << 64) % (1 << 64)], np.uint64)))


def test_an_opponent_cannot_compute_the_seed_of_the_next_one() -> None:
    """Whoever is given a number that a generator has drawn knows all that follow, so no seed is such a number."""
    rng, opponents = make_rng(1), [Seeded(False) for _ in range(3)]
    assert drawn_after(int(next64(rng))) == next64(rng)
    SeatEnv(opponents=opponents, seat=0).reset(seed=1)
    for one, other in pairwise(opponents):
        assert one.seed != other.seed != drawn_after(one.seed)


def test_the_deal_does_not_depend_on_the_opponents() -> None:
    def dominoes(opponents: Any) -> list[int | None]:
        env = SeatEnv("kingdomino", opponents)
        play(env, seed=8)
        return [event.number for event in env.table.events() if event.is_chance]

    assert dominoes("random") == dominoes("full_greedy") == dominoes(first_legal)


def through_pickle(env: SeatEnv) -> SeatEnv:
    return pickle.loads(pickle.dumps(env))


@every_game
@pytest.mark.parametrize("how", [SeatEnv.clone, copy.deepcopy, through_pickle])
@pytest.mark.parametrize("opponents", ["random", first_legal], ids=["compiled", "python"])
def test_a_copy_made_in_mid_game_plays_on_identically(game: str, how: Callable[[SeatEnv], SeatEnv], opponents: Any) -> None:
    env = SeatEnv(game, opponents, seat="rotate")
    env.reset(seed=1)
    for _ in range(5):
        env.step(env.table.legal()[-1])
    twin = how(env)
    for each in (env, twin):
        while each.table.legal():
            each.step(each.table.legal()[-1])
    assert env.record() == twin.record()
    play(env)
    play(twin)
    assert env.record() == twin.record()


class Dicer(Policy):
    """Takes any legal action."""

    def act(self, view: View) -> int:
        legal = view.legal()
        return legal[int(below(self.rng, len(legal)))]


@pytest.mark.parametrize("how", [SeatEnv.clone, through_pickle])
def test_opponents_of_a_copy_remember_what_they_remembered(how: Callable[[SeatEnv], SeatEnv]) -> None:
    env = SeatEnv(opponents=Dicer())
    env.reset(seed=1)
    env.step(env.table.legal()[-1])
    twin = how(env)
    for each in (env, twin):
        for _ in range(5):
            each.step(each.table.legal()[-1])
    assert env.record() == twin.record()


@pytest.mark.parametrize("after", ["_observation", "_info"])
def test_after_ctrl_c_a_step_that_nobody_was_told_of_is_not_stepped_on(after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    env = SeatEnv()
    env.reset(seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(env, after, interrupt)
        with pytest.raises(KeyboardInterrupt):
            env.step(env.table.legal()[0])
    with pytest.raises(WrongOrder, match="call reset"):
        env.step(env.table.legal()[0])
    env.reset()
    env.step(env.table.legal()[0])


def test_a_script_fixes_chance_for_compiled_opponents_too() -> None:
    words = ["draw 8", "draw 20", "draw 30", "draw 34", "king 2", "king 1", "king 0"]
    env = SeatEnv(opponents="full_greedy")
    env.reset(seed=1, options={"script": words})
    assert [word for line in env.record().splitlines() if line.startswith("*") for word in line[2:].split(", ")] == words
    env.step(env.table.legal()[0])
    assert env.table.seat == 0


def test_a_game_may_start_from_a_position() -> None:
    table = TableEnv()
    table.reset(seed=1)
    while table.table.seat != 0 or table.table.states[0]["round"] < 3:
        table.step(table.table.legal()[0])
    env = SeatEnv(opponents="random")
    env.reset(options={"position": table.table.position()})
    assert env.table.position() == table.table.position()


def test_a_position_must_leave_something_to_the_learner() -> None:
    table = TableEnv()
    table.reset(seed=1)
    while (table.table.states[0]["round"], table.table.states[0]["turn"]) != (12, 3):  # the very last placement
        table.step(table.table.legal()[0])
    learner = (table.table.seat + 1) % 4
    with pytest.raises(BadOption, match=f"seat {learner} has nothing left to decide in this position"):
        SeatEnv(seat=learner).reset(options={"position": table.table.position()})


# Mistakes


def test_an_illegal_action_is_refused_or_loses() -> None:
    env = SeatEnv(illegal="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match=r"action 0 .*is not legal in kingdomino position"):
        env.step(0)
    assert env.step(env.table.legal()[0])[2] is False
    env = SeatEnv()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="^an illegal action has ended a game of kingdomino as a loss of its seat"):
        observation, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "is not legal" in info["illegal"] and info["action_mask"].all() and env.observation_space.contains(observation)


@lost
def test_there_is_no_step_without_a_game() -> None:
    env = SeatEnv()
    with pytest.raises(WrongOrder, match=r"call reset\(\) first"):
        env.step(0)
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(WrongOrder, match=r"call reset\(\) first"):
        env.step(0)


@pytest.mark.parametrize(
    "parameters, sentence",
    [
        ({"opponents": ["random"]}, "opponents= lists 1 policies for 3 other seats; give one for each, or one for all"),
        (
            {"opponents": 3},
            "3 is no policy; a policy is a text such as 'random', a Policy, a function of a view, or an object with act_batch",
        ),
        (
            {"opponents": "random", "pool": ["random"]},
            "give either opponents=, the policies of the other seats, or pool=, a list from which they are drawn",
        ),
        ({"pool": []}, "pool=[] holds no policy to draw; list at least one"),
        ({"pool": "random"}, "pool='random' is not a list of policies, or a dict of policies with their weights"),
        ({"seat": 4}, "seat=4 is not possible; seat may be 0 to 3, random or rotate"),
        ({"seat": "best"}, "seat=best is not possible; seat may be 0 to 3, random or rotate"),
        ({"skip_forced": "maybe"}, "skip_forced=maybe is not possible; skip_forced may be True or False"),
        ({"observation": "planes"}, "observation=planes is not possible; observation may be vector, dict or parts"),
        ({"opponents": "rule_of_thumb"}, "there is no policy rule_of_thumb; 'kdenv policies <game>' lists them"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as caught:
        SeatEnv(**parameters)
    assert str(caught.value) == sentence


def test_a_player_of_another_game_is_refused() -> None:
    with pytest.raises(NotSupported, match="full_greedy plays kingdomino, not dominoes"):
        SeatEnv("dominoes", opponents="full_greedy")
