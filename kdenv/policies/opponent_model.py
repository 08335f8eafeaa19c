"""What searches may be told about their rivals: the player that they are taken to be, from whose turns follows what they can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.core.questions import ExactDeals
from kdenv.core.view import View
from kdenv.games import find_game, names
from kdenv.policies.base import Policy
from kdenv.policies.playouts import Playout, Random
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value

_DOUBT = 0.1


@dataclass(frozen=True, kw_only=True, repr=False)
class Infers(Value):
    """A search that draws what is hidden, and can infer it from the turns of its rivals."""

    rivals: Playout | None = param(  # noqa: RUF009  (a Playout is never changed)
        "the player that the rivals are taken to be: what is hidden is drawn so that it makes their turns probable; if not given, whatever "
        "the rules allow is equally probable",
        default=None,
    )
    doubt: float = param("with rivals: the probability that they take a legal turn at random instead", default=_DOUBT, least=0.001, most=1)

    def __post_init__(self) -> None:
        """Refuse a doubt without rivals."""
        super().__post_init__()
        if self.rivals is None and self.doubt != _DOUBT:
            raise BadOption(f"doubt={self.doubt:g} is about the player that rivals are taken to be; give rivals=, too")

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Check also that the game can infer what is hidden, and that kernels can play as the rivals do."""
        super().needs(game, players, variant)
        if self.rivals is None:
            return
        if _likely(game) is None:
            having = " and ".join(name for name in names() if _likely(find_game(name)) is not None)
            raise NotSupported(f"rivals={self.rivals} is not possible in {game.name}, which infers nothing from turns; in {having} it is")
        if not isinstance(self.rivals, Policy) or self.rivals.compiled(game, players) is None:
            raise BadOption(f"rivals={self.rivals} is not possible; give a player that has a compiled form, such as a rule-based player")

    def dealer(self, view: View) -> Any:
        """What draws what is hidden in one search of such a view: a part that answers deal (core/questions.py)."""
        likely = _likely(view.game)
        if self.rivals is None or likely is None:
            return ExactDeals()
        assert isinstance(self.rivals, Policy)
        # Of a random player all is known without asking it what it takes now, which would only tell what the dice say.
        doubt = 1.0 if isinstance(self.rivals, Random) else self.doubt
        return likely(view.variant, self.rivals.compiled(view.game, view.players), doubt, view.game.buffer())


def _likely(game: Game) -> Any:
    """What makes the dealer of a game that can infer; None if there is none."""
    hidden = game.knowledge.hidden
    return None if hidden is None else hidden.likely
