"""`evaluate`: the strength of a model or policy against the anchors of its game, in one call from a training loop.

The games are those of a match: shared deals, each from every seat. A match ends after the deal in which its time is up. The stop depends
on the clock and not on the results, and no deal is left out because it took long, so the intervals are those of every match.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kdenv.arena.compiled_games import first_compiled
from kdenv.arena.curve import seats_of_others
from kdenv.arena.match import Match, Result
from kdenv.arena.statistics import Estimate, row_json
from kdenv.arena.summary import Summary
from kdenv.arena.tables import note, time_text
from kdenv.arena.workers import play
from kdenv.core.columns import align
from kdenv.core.errors import BadOption, NotSupported, shown
from kdenv.core.fields import Field
from kdenv.core.game import Game, Variant
from kdenv.core.record import options_text
from kdenv.games import find_game
from kdenv.policies import Function, Learned, Policy, Ppo, policy
from kdenv.policies.model_file import VALUE, read_network, save_network
from kdenv.policies.strongest import anchors
from kdenv.policies.torch_models import best_action, check_sb3, evaluating, is_module, is_sb3, load_sb3, made_for, what_it_predicts

_MOST_DEALS = 1_000_000
_SECONDS = Field("seconds", 20.0, type=float, least=1e-3, most=1e6)
_DEALS = Field("deals", _MOST_DEALS, type=int, least=1, most=_MOST_DEALS)
_HEADINGS = ("against", "margin", "wins", "time a turn", "deals")


@dataclass(frozen=True)
class EvaluationRow:
    """The result against one policy, which had all seats of the other teams."""

    against: str
    margin: Estimate  # points of the evaluated policy minus those of its best opponent, in a game
    wins: Estimate  # its share of the games won, 0 to 1; a shared win counts in parts
    seconds_per_turn: Estimate
    deals: int
    games: int  # of these deals: each is played from every seat


@dataclass(frozen=True)
class Evaluation:
    """The results of `evaluate`, a row for each policy. `print` shows them as a table."""

    name: str  # of the policy or model
    game: str
    players: int
    teams: int
    options: dict[str, Any]  # those that are not the usual ones
    seed: int
    rows: list[EvaluationRow]

    def __getitem__(self, against: str) -> EvaluationRow:
        """Return the row of the policy of this text."""
        for row in self.rows:
            if row.against == against:
                return row
        raise KeyError(f"there is no row for {against}; there are rows for {', '.join(row.against for row in self.rows)}")

    def __str__(self) -> str:
        lines = [_HEADINGS, *map(_cells, self.rows)]
        about = f"{self.game}, {self.players} players{options_text(self.options)}, seed {self.seed}: {self.name}"
        even = f"An even share of wins is {100 / self.teams:.0f} %."
        return "\n".join([about, f"{note(min(row.deals for row in self.rows))} {even}", "", *align(lines)])

    def as_json(self) -> dict[str, Any]:
        """Return the settings and the rows for programs. A number that is not known is null."""
        about = {"name": self.name, "game": self.game, "players": self.players, "options": self.options, "seed": self.seed}
        return {**about, "rows": [row_json(row) for row in self.rows]}


def _cells(row: EvaluationRow) -> tuple[str, ...]:
    wins = row.wins.scaled(100).text(unit=" %", ends=True)
    return row.against, row.margin.text(sign=True), wins, time_text(Estimate(row.seconds_per_turn.mean)), f"{row.deals:,}"


def evaluate(
    model: Any,
    game: str | Game,
    *,
    against: Any = None,
    seconds: float = 20.0,
    deals: int = _MOST_DEALS,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    encoding: str | None = None,
    seed: int = 0,
) -> Evaluation:
    """Play a model or a policy against the anchors of a game, and return its margin and its share of wins with 95 % intervals.

    A model takes the action that it finds best. Networks of plain layers play in kernels, others decision by decision through torch.

    Args:
        model: A policy, its text, the path of a model file (.npz, or .zip of Stable-Baselines3), a MaskablePPO or PPO, or a TurnPPO or
            TurnNetwork. It may also be a module of torch. Such a module has an output for each action number, or one output for each row,
            the score of a position after an action.
        game: The name of a game, or a Game.
        against: A policy, or several, each of which gets all seats of the other teams in games of its own. The default is the rule
            players and the network of the game that `strongest` names.
        seconds: The time for games, shared equally by the policies of `against`, without compiling. The deal in which the time is up
            is played to its end.
        deals: The largest number of deals against each of them. If the time suffices, this makes the result reproducible.
        players: The number of seats. The default is that of a model that was trained for one number, or the usual one of the game.
        options: Options of the game. The default is those for which the model was trained, or the usual ones.
        encoding: The encoding of the rows that a module of torch takes. The default is the first of the game. Other models know theirs.
        seed: The seed of the deals. Evaluations with one seed have the same deals, which makes differences between them less noisy.

    >>> import kdenv
    >>> found = kdenv.evaluate("full_greedy", "kingdomino", against="random", deals=10, players=2, options={"size": 3})
    >>> found["random"].games
    20
    >>> print(found)
    kingdomino, 2 players size=3, seed 0: full_greedy
    ± and [low, high] are 95 % intervals over deals. An even share of wins is 50 %.
    ...

    """
    rules = find_game(game) if isinstance(game, str) else game
    seconds, deals = _SECONDS.check(seconds), _DEALS.check(deals)
    source = _source_of(model, rules, players, options, encoding)
    n, variant = rules.variant(source.players, **source.options)
    with _as_policy(source, rules, n, variant) as player:
        player.needs(rules, n, variant)
        opponents = _opponents(against, rules, n, variant, player)
        rows = []
        for opponent in opponents:
            others = seats_of_others(rules.name, n, [opponent])
            line_up = [others.get(place, player) for place in range(n)]
            match = Match(rules.name, line_up, deals * n, seed, source.options)
            rows.append(_row(opponent, _played(match, seconds / len(opponents))))
    usual = rules.options_of(rules.variant(n)[1])
    unusual = {name: value for name, value in rules.options_of(variant).items() if value != usual[name]}
    return Evaluation(source.name, rules.name, n, rules.teams(n), unusual, seed, rows)


def _opponents(against: Any, game: Game, players: int, variant: Variant, player: Policy) -> list[Any]:
    """The policies of `against`; by default the anchors of the game, without the evaluated policy itself if there are others."""
    if against is None:
        found = anchors(game, players, variant)
        return [text for text in found if policy(text) != player] or found
    is_single = isinstance(against, (str, Mapping, Policy)) or not isinstance(against, Iterable)
    given = [against] if is_single else list(against)
    if not given:
        raise BadOption("against=[] names no policy; name one, or leave it out for the anchors of the game")
    for each in given:
        policy(each).needs(game, players, variant)
    return given


def _played(match: Match, seconds: float) -> Summary:
    """Play whole deals of a match until this time is up. The games before which kernels are compiled do not count."""
    summary, used, last = Summary(match), 0.0, 0.0
    compiling = (0, first_compiled(match))

    def on_result(result: Result) -> bool:
        nonlocal used, last
        summary.add(result)
        now = time.monotonic()
        used += 0.0 if result.number in compiling else now - last
        last = now
        return (result.number + 1) % match.games_of_a_deal == 0 and used >= seconds

    if not play(match, processes=1, on_result=on_result):
        raise KeyboardInterrupt  # a training loop ends with it, too
    return summary


def _row(against: Any, summary: Summary) -> EvaluationRow:
    row = summary.rows()[0]
    return EvaluationRow(str(against), row.margin, row.wins, row.seconds_per_turn, summary.deals, summary.games)


class _Source(NamedTuple):
    """The model or policy that is evaluated, and the table at which it plays."""

    model: Any  # a policy, a model of Stable-Baselines3 or a module of torch
    name: str
    players: int | None
    options: dict[str, Any]
    encoding: str | None = None


def _source_of(model: Any, game: Game, players: int | None, options: Mapping[str, Any] | None, encoding: str | None) -> _Source:
    """Read the model. What the caller leaves out is what the model was trained for."""
    name, trained_for = type(model).__name__, getattr(model, "trained_for", None)
    if trained_for is not None:  # a training, such as TurnPPO
        model, encoding = model.network, encoding or trained_for["made_for"]["encoding"]
    elif isinstance(model, Path) or (isinstance(model, str) and Path(model).suffix in (".npz", ".zip")):
        path, name = Path(model), str(model)
        if not path.is_file():
            raise BadOption(f"there is no model {shown(path)}")
        if path.suffix == ".npz":
            stored = read_network(path)
            model = Learned(str(path)) if stored.predicts == VALUE else Ppo(str(path))
            trained_for = stored._asdict() if stored.players else None
        else:
            model = load_sb3(path)
    elif not is_sb3(model) and not is_module(model):
        model = policy(model)
        name = str(model)
    usual: Mapping[str, Any] = trained_for or {"made_for": {}, "players": None, "options": {}}
    about = usual["made_for"]
    if is_sb3(model):
        check_sb3(model)
        about = made_for(model)
        encoding = about.get("encoding")
    if about.get("game", game.name) != game.name:
        raise NotSupported(f"{name} was trained on {shown(about['game'])}, not on {game.name}; evaluate it there")
    chosen = usual["options"] if options is None else options
    return _Source(model, name, usual["players"] if players is None else players, dict(chosen), encoding)


@contextmanager
def _as_policy(source: _Source, game: Game, players: int, variant: Variant) -> Iterator[Policy]:
    """A context with the policy that plays a model: from a file with its layers, or through torch if they are not plain."""
    model = source.model
    if isinstance(model, Policy):
        yield model
        return
    observer = game.observer(players, variant, source.encoding)
    trained_for = {"made_for": observer.made_for, "players": players, "options": game.options_of(variant)}
    with tempfile.TemporaryDirectory() as folder, evaluating(model):
        predicts, file = what_it_predicts(model, observer, game.n_actions(players, variant)), Path(folder) / "model.npz"
        player: Policy
        try:
            save_network(file, model, trained_for, predicts=predicts)
            player = Ppo(str(file))
        except NotSupported:
            player = Function(best_action(model, observer, predicts))
        yield player
