"""The opponent model of a search, as parameters: a player that the opponents are assumed to be, by which their hands are inferred."""

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
class OpponentModel(Value):
    """A search that draws hidden information, and can infer it from the turns of its opponents."""

    rivals: Playout | None = param(  # noqa: RUF009  (a Playout is never changed)
        "the player that the opponents are assumed to be; deals are drawn in proportion to the probability of their turns. "
        "If not given, all deals that the rules allow are equally probable",
        default=None,
    )
    doubt: float = param(
        "with rivals: the probability that opponents take a random legal turn instead", default=_DOUBT, least=0.001, most=1
    )

    def __post_init__(self) -> None:
        """Refuse a doubt without an opponent model."""
        super().__post_init__()
        if self.rivals is None and self.doubt != _DOUBT:
            raise BadOption(f"doubt={self.doubt:g} is about the player that opponents are assumed to be; give rivals=, too")

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Check also that the game can infer hidden information, and that the opponents' player has a compiled form."""
        super().needs(game, players, variant)
        if self.rivals is None:
            return
        if _likely(game) is None:
            having = " and ".join(name for name in names() if _likely(find_game(name)) is not None)
            raise NotSupported(f"rivals={self.rivals} is not possible in {game.name}, which infers nothing from turns; in {having} it is")
        if not isinstance(self.rivals, Policy) or self.rivals.compiled(game, players) is None:
            raise BadOption(f"rivals={self.rivals} is not possible; give a player that has a compiled form, such as a rule-based player")

    def dealer(self, view: View) -> Any:
        """Make the dealer that draws hidden information in one search of such a view. It answers deal (core/questions.py)."""
        likely = _likely(view.game)
        if self.rivals is None or likely is None:
            return ExactDeals()
        assert isinstance(self.rivals, Policy)
        # A random player's move probabilities are known, so it need not be simulated.
        doubt = 1.0 if isinstance(self.rivals, Random) else self.doubt
        return likely(view.variant, self.rivals.compiled(view.game, view.players), doubt, view.game.buffer())


def _likely(game: Game) -> Any:
    """The function that makes the dealer of a game that can infer; None if there is none."""
    hidden = game.knowledge.hidden
    return None if hidden is None else hidden.likely
