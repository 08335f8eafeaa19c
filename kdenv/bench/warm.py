"""What `kdenv warm` compiles: one small use of everything a game is usually used for."""

from __future__ import annotations

from collections.abc import Callable

from kdenv.core.game import Game
from kdenv.core.random import make_rng
from kdenv.core.table import Table
from kdenv.policies import policy
from kdenv.policies.kinds import PLAYOUTS


def tasks(game: Game) -> list[Callable[[], object]]:
    """What to compile for a game, in parts."""
    searches = [f"mce(playout={playout}, score=relative, playouts=1)" for playout in PLAYOUTS if playout == "random" or game.greedy]
    searches += ["star2.5"] * bool(game.evaluators)
    if game.hidden:
        searches += ["ismcts(playouts=1)", "flat_deals(playouts=1)", "pimc(playouts=1)", "ims"]
    return [
        lambda: _play_a_little(game),
        *(lambda text=text: _decide(game, text) for text in [*game.rule_players, *searches]),
        lambda: _environments(game),
    ]


def _started(game: Game) -> Table:
    table = Table(game)
    table.run_chance(make_rng(1))
    return table


def _play_a_little(game: Game) -> None:
    """Tables, views and drawings."""
    table = _started(game)
    seat = table.seat
    assert seat is not None
    view = table.view(seat)
    table.observation(seat)
    table.decide(view.legal()[0], make_rng(1))
    table.play(policy("random").act(table.view(table.seat or seat)))
    table.svg()
    table.record()


def _decide(game: Game, text: str) -> None:
    """A policy."""
    table = _started(game)
    seat = table.seat
    assert seat is not None
    policy(text).prepare(table.view(seat))


def _environments(game: Game) -> None:
    """The PettingZoo environment and the learner's seat."""
    from kdenv.envs.aec import TableEnv
    from kdenv.envs.seat import SeatEnv

    env = TableEnv(game.name)
    env.reset(seed=1)
    observation, *_ = env.last()
    env.step(int(observation["action_mask"].argmax()))
    for opponents in ("random", *list(game.rule_players)[:1]):
        seat_env = SeatEnv(game.name, opponents=opponents)
        seat_env.reset(seed=1)
        seat_env.step(int(seat_env.action_masks().argmax()))
