"""Playouts: ways to play a game from a position to its end. Each rule-based player of a game is also a playout (players.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from kdenv.compiler.random import below
from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named, names_of
from kdenv.search.playout import EpsilonGreedyPlayer as CompiledEpsilonGreedy
from kdenv.search.playout import Split, Uniform


class Playout(Value, ABC):
    """A way to play a game from a position to its end."""

    family = "playout"
    learns: ClassVar[bool] = False  # whether it learns from the iterations of a tree search

    @abstractmethod
    def player(self, view: View) -> Any:
        """The compiled player (core/questions.py) that decides for all seats in playouts. The seat of the view is the one that searches."""

    @classmethod
    def members(cls) -> str:
        """The end of an error about an unknown playout; it lists the playouts."""
        return f"a playout is {', '.join(names_of(cls, asking_games=False))} or a rule-based player"


@named("random")
class Random(Policy, Playout):
    """Takes any legal action; all are equally probable."""

    def act(self, view: View) -> int:
        """Choose a legal action at random."""
        legal = view.legal()
        return legal[int(below(self.memory.rng, len(legal)))]

    def compiled(self, game: Game, players: int) -> Uniform:
        """The compiled player that decides at random."""
        return Uniform()

    def player(self, view: View) -> Uniform:
        """The compiled player that decides at random for all seats."""
        return Uniform()


class _Greedy(Playout):
    """Playouts that need the greedy player of the game (Knowledge.greedy)."""

    def greedy_of(self, game: Game) -> Any:
        """The compiled greedy player of this game."""
        self.refuse(game)
        return game.knowledge.players[game.knowledge.greedy].make()

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game without a greedy player."""
        return "" if game.knowledge.greedy else f"needs a greedy player, which {game.name} does not have; use playout=random"


@named("player_greedy", "Gedda et al. 2018, PG")
class PlayerGreedy(_Greedy):
    """Playouts in which the searching seat plays as the greedy player of the game, and all other seats play at random."""

    def player(self, view: View) -> Any:
        """The greedy player for the seat of the view, and a random one for all others."""
        return Split(int(view.seat), self.greedy_of(view.game), Uniform())


@named("by_seat")
class BySeat(Playout):
    """Playouts in which the searching seat plays as one player, and all other seats as another."""

    mine: Playout = param("the player of the searching seat", kw_only=False)
    others: Playout = param("the player of all other seats", kw_only=False)

    def __post_init__(self) -> None:
        """Refuse playouts that learn, and those made of two players, because a kernel may not call itself."""
        super().__post_init__()
        for each in (self.mine, self.others):
            if each.learns or isinstance(each, (BySeat, PlayerGreedy, EpsilonGreedy)):
                raise BadOption(f"by_seat cannot be made of {each}; give players, such as random or full_greedy")

    def player(self, view: View) -> Any:
        """One compiled player for the seat of the view, and one for all others."""
        return Split(int(view.seat), self.mine.player(view), self.others.player(view))


@named("epsilon_greedy", "Gedda et al. 2018, eG")
class EpsilonGreedy(_Greedy):
    """Playouts in which every seat plays as the greedy player of the game, but some turns are random."""

    epsilon: float = param("the probability that a turn is random", default=0.75, least=0, most=1)

    def player(self, view: View) -> Any:
        """The compiled player for all seats: greedy, with some random turns."""
        return CompiledEpsilonGreedy(self.greedy_of(view.game), self.epsilon)


@named("mast", "Finnsson and Björnsson 2008, MAST")
class Mast(Playout):
    """Playouts that learn: they take the actions that have done best in the tree search so far; some actions are random. Only with uct."""

    learns = True
    epsilon: float = param("the probability that an action is random", default=0.4, least=0, most=1)

    def player(self, view: View) -> Any:
        """A random player; the tree search replaces it by one that learns."""
        return Uniform()
