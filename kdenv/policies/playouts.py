"""How playouts are played: at random, by the greedy player of the game, by one that learns, or by any rule-based player (players.py)."""

from __future__ import annotations

from typing import Any, ClassVar

from kdenv.compiler.random import below
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named, names_of
from kdenv.search.playout import EpsilonGreedy as CompiledEpsilonGreedy
from kdenv.search.playout import Split, Uniform


class Playout(Value):
    """A way to play a position to its end."""

    called = "playout"
    learns: ClassVar[bool] = False  # whether it must be told by a tree search what was played, and with what result

    def player(self, view: View) -> Any:
        """The compiled player (core.questions) for all seats, when the seat of this view searches."""
        raise NotImplementedError(f"{type(self).__name__} has no method player(self, view), which a playout needs")

    @classmethod
    def which(cls) -> str:
        """The playouts of all games, and that the players of a game are playouts too."""
        return f"a playout is {', '.join(names_of(cls, asking_games=False))} or a rule-based player"


@named("random")
class Random(Policy, Playout):
    """Every legal action is equally probable."""

    def act(self, view: View) -> int:
        """Any legal action."""
        legal = view.legal()
        return legal[int(below(self.rng, len(legal)))]

    def compiled(self, game: Game) -> Uniform:
        """The same inside kernels."""
        return Uniform()

    def player(self, view: View) -> Uniform:
        """Random for all seats."""
        return Uniform()


class _Greedy(Playout):
    """Playouts that ask the player which the game calls greedy."""

    def greedy_of(self, game: Game) -> Any:
        """The compiled greedy player of this game."""
        self.refuse(game)
        return game.knowledge.players[game.knowledge.greedy].make()

    @classmethod
    def obstacle(cls, game: Game) -> str:
        """It needs a greedy player."""
        return "" if game.knowledge.greedy else f"needs a greedy player, which {game.name} does not have; use playout=random"


@named("player_greedy", "Gedda et al. 2018, PG")
class PlayerGreedy(_Greedy):
    """Playouts in which the searching seat plays as the greedy player of the game does, and all others at random."""

    def player(self, view: View) -> Any:
        """Greedy at the seat of the view only."""
        return Split(int(view.seat), self.greedy_of(view.game), Uniform())


@named("epsilon_greedy", "Gedda et al. 2018, eG")
class EpsilonGreedy(_Greedy):
    """Playouts of the greedy player of the game for all seats, with some turns at random."""

    epsilon: float = param("the probability that a turn is played at random", default=0.75, least=0, most=1)

    def player(self, view: View) -> Any:
        """The same player for all seats."""
        return CompiledEpsilonGreedy(self.greedy_of(view.game), self.epsilon)


@named("mast", "Finnsson and Björnsson 2008, MAST")
class Mast(Playout):
    """Playouts that take the actions which have done well in the tree search so far, and some actions at random."""

    learns = True
    epsilon: float = param("the probability that an action is taken at random", default=0.4, least=0, most=1)

    def player(self, view: View) -> Any:
        """Random, until the search tells it what it has learned."""
        return Uniform()
