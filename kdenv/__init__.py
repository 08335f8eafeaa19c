"""Tabletop games of chance and hidden information as environments, with searches as policies.

>>> import kdenv
>>> kdenv.games()                                    # the names of all games
['kingdomino', 'dominion', 'dominoes', 'carcassonne']
>>> table = kdenv.table("kingdomino", players=3)     # one game
>>> policy = kdenv.policy("mce(playouts=200)")       # an agent, written as text
>>> kdenv.replay(table.record()).scores()            # the table at the end of a record
[10, 10, 10]

The functions add_game, add_policy, add_player, add_evaluator, add_order and add_encoding add your own work by a name. The module
kdenv.author has what to write it with.

`gymnasium.make("kdenv/Kingdomino-v0", opponents="full_greedy")` is a game for one learner, and `kdenv.kingdomino_v0.env()` is
the same game for all seats (PettingZoo). `import kdenv` registers these and compiles nothing. Other modules are imported at their first
use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from kdenv.envs.registration import register, register_all
from kdenv.games import TITLES
from kdenv.games import find_game as game

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Unpack

    from kdenv import carcassonne_v0 as carcassonne_v0
    from kdenv import dominion_v0 as dominion_v0
    from kdenv import dominoes_v0 as dominoes_v0
    from kdenv import kingdomino_v0 as kingdomino_v0
    from kdenv.arena.evaluation import evaluate
    from kdenv.author import Encoding, Policy, View
    from kdenv.core.game import Game
    from kdenv.core.table import Table
    from kdenv.games import CallableModule
    from kdenv.games.carcassonne.options import CarcassonneOptions
    from kdenv.games.dominion.options import DominionOptions
    from kdenv.games.dominoes.options import DominoesOptions
    from kdenv.games.kingdomino.options import KingdominoOptions
    from kdenv.policies import policy
    from kdenv.policies.model_file import save_network

    games: CallableModule
else:
    from kdenv import games

__version__ = "0.1.0"
__all__ = [
    "add_encoding",
    "add_evaluator",
    "add_game",
    "add_order",
    "add_player",
    "add_policy",
    "evaluate",
    "game",
    "games",
    "policy",
    "replay",
    "save_network",
    "table",
]

_HOMES = {  # __getattr__ imports these names at their first use, because their modules import numba
    "evaluate": "kdenv.arena.evaluation",
    "policy": "kdenv.policies",
    "save_network": "kdenv.policies.model_file",
}
_GAME_MODULES = tuple(f"{name}_v0" for name in TITLES)  # __getattr__ imports these modules at their first use

register_all()


@overload
def table(name: Literal["kingdomino"], players: int | None = None, **options: Unpack[KingdominoOptions]) -> Table: ...
@overload
def table(name: Literal["dominion"], players: int | None = None, **options: Unpack[DominionOptions]) -> Table: ...
@overload
def table(name: Literal["dominoes"], players: int | None = None, **options: Unpack[DominoesOptions]) -> Table: ...
@overload
def table(name: Literal["carcassonne"], players: int | None = None, **options: Unpack[CarcassonneOptions]) -> Table: ...
@overload
def table(name: str, players: int | None = None, **options: Any) -> Table: ...


def table(name: str, players: int | None = None, **options: Any) -> Table:
    """Make a table: one game of the game of this name, before anything has happened.

    Args:
        name: The name of a game.
        players: The number of seats; None is the usual number of the game.
        options: The options of the game's rules.

    >>> import kdenv
    >>> from kdenv.author import make_rng
    >>> table = kdenv.table("kingdomino", players=2, size=7)
    >>> table.run_chance(make_rng(1))                          # chance is never inside an action
    >>> table.play(table.legal()[0])
    >>> print(table.record())
    kdenv kingdomino players=2 size=7 dominoes=24 middle=yes harmony=yes tiebreak=shared
    * draw 15, draw 41, draw 19, draw 11, king 1
    1: pick 11
    = unfinished

    """
    from kdenv.core.table import Table

    return Table(game(name), players, **options)


def add_game(new: Game) -> None:
    """Add a game to those of kdenv. Gymnasium and PettingZoo then find it as kdenv/<Title>-v0.

    In a clone, `examples/three_shells.py` is a file with a game:

    >>> import kdenv, gymnasium
    >>> from examples.three_shells import GAME
    >>> kdenv.add_game(GAME)
    >>> kdenv.table("three_shells").players
    2
    >>> gymnasium.make("kdenv/ThreeShells-v0", opponents="random").action_space
    Discrete(7)
    """
    games.add_game(new)
    register(new.name, new.title)


def add_policy(name: str, policy: type[Policy] | Callable[[View], int]) -> None:
    """Add a policy, so that texts of policies can name it. Raises TypeError if the name is taken.

    Args:
        name: The name in texts of policies.
        policy: A class derived from kdenv.author.Policy, whose fields are its parameters, or a function of a view.

    >>> import kdenv
    >>> kdenv.add_policy("lowest", lambda view: view.legal()[0])
    >>> from kdenv.author import make_rng
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> table.name(kdenv.policy("lowest").act(table.view(table.seat)))
    'pick 11'

    """
    from kdenv.policies.plugins import add_policy

    add_policy(name, policy)


def add_player(game: str | Game, name: str, make: Callable[..., Any], meaning: str = "", source: str = "") -> None:
    """Add a compiled player to a game. It is then a policy and a playout of this name.

    Args:
        game: A game or its name.
        name: The name in texts of policies.
        make: The NamedTuple class of a kernel marked `plays`, or a function that returns such a tuple. Its arguments are the parameters
            of the player; each has a default.
        meaning: A description in one line; by default it is the first line of the docstring of `make`.
        source: The paper it comes from.

    >>> import kdenv
    >>> from typing import NamedTuple
    >>> from kdenv.author import kernel, legal, make_rng, packed, plays
    >>> class First(NamedTuple):
    ...     "takes the first legal action"
    >>> @plays(First)
    ... @kernel
    ... def choose_first(player, states, k, out, rng):
    ...     legal(states[k], out)
    ...     return packed(out[0])
    >>> kdenv.add_player("kingdomino", "first", First)
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> table.name(kdenv.policy("first").act(table.view(table.seat)))
    'pick 11'
    >>> print(kdenv.policy("mce(playout=first, playouts=100)"))
    mce(playout=first, playouts=100)

    """
    from kdenv.core.questions import RulePlayer

    _game(game).add_player(name, RulePlayer(make, meaning or _first_line(make), source))


def add_evaluator(game: str | Game, name: str, evaluator: Any) -> None:
    """Add an evaluation to a game: a NamedTuple whose class answers `estimate` and `reach`. Look-ahead then takes it as evaluate=name.

    `examples/own_evaluation.py` writes an evaluation. Here one of Carcassonne's own gets a second name:

    >>> import kdenv
    >>> kdenv.add_evaluator("carcassonne", "last_points", kdenv.game("carcassonne").knowledge.evaluators["final"])
    >>> print(kdenv.policy("expectimax(depth=3, evaluate=last_points)"))
    expectimax(depth=3, evaluate=last_points)
    """
    _game(game).add_evaluator(name, evaluator)


def add_order(game: str | Game, name: str, order: Any) -> None:
    """Add an order of turns to a game: a NamedTuple whose class answers `rank`. Look-ahead then takes it as order=name.

    >>> import kdenv
    >>> from typing import NamedTuple
    >>> from kdenv.author import answers, first_action, kernel, rank
    >>> class Backwards(NamedTuple):
    ...     "tries high actions first"
    >>> @answers(rank, Backwards)
    ... @kernel
    ... def rank_backwards(order, s, turn):
    ...     return 0 if first_action(turn) > 100 else 1
    >>> kdenv.add_order("carcassonne", "backwards", Backwards())
    >>> print(kdenv.policy("expectimax(depth=1, order=backwards)"))
    expectimax(depth=1, order=backwards)
    """
    _game(game).add_order(name, order)


def add_encoding(game: str | Game, encoding: Encoding) -> None:
    """Add an encoding to a game. Environments then take it as encoding=name.

    >>> import kdenv
    >>> from kdenv.author import Encoding, Part, kernel
    >>> def layout(players, options):
    ...     return {"first": Part((1,), "1 if seat 0 looks")}
    >>> @kernel
    ... def observe(states, k, seat, out):
    ...     out[0] = seat == 0
    >>> kdenv.add_encoding("kingdomino", Encoding("who", layout, observe, "who looks"))
    >>> kdenv.game("kingdomino").layout(encoding="who")["first"].meaning
    '1 if seat 0 looks'
    """
    _game(game).add_encoding(encoding)


def _game(game: str | Game) -> Game:
    return games.find_game(game) if isinstance(game, str) else game


def _first_line(documented: Any) -> str:
    from inspect import cleandoc

    return cleandoc(documented.__doc__ or "").partition("\n")[0].removesuffix(".")


def replay(text: str) -> Table:
    """Play a record again, check every line of it, and return the table at its end. Raises BadRecord for a line that is not possible.

    >>> import kdenv
    >>> from kdenv import dominoes_v0
    >>> env = dominoes_v0.env(mode="round")
    >>> env.reset(seed=1)
    >>> kdenv.replay(env.record()).position() == env.table.position()
    True
    """
    from kdenv.core.record import replay

    last = None
    for last in replay(text, game):  # noqa: B007
        pass
    assert last is not None  # a record that holds no table has been refused
    return last


if not TYPE_CHECKING:  # to a type checker, a name that is not there is an error

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        if name in _GAME_MODULES:
            return import_module(f"kdenv.{name}")
        raise AttributeError(f"kdenv has no {name}; it has {', '.join(sorted((*__all__, *_GAME_MODULES)))}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__, *_GAME_MODULES))
