"""A match, and one game of it: a line-up of policies plays the same deals from every seat.

The chance of a deal is drawn by one generator, which is seeded by the seed of the match and the number of the deal. So all rotations of
the line-up meet the same draws, as far as chance does not depend on what is played.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kdenv.compiler.random import below, derive_seed, make_rng
from kdenv.core.errors import BadOption, KdenvError
from kdenv.core.record import options_text
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.games import find_game
from kdenv.policies import Policy, policy

_TRIAL = 50  # the trial game ends after so many decisions for each seat, even if not every policy has decided

# A function that is called with a seat before its policy decides, and with None after that, so that another process can measure the time.
Deciding = Callable[[int | None], None]


class GameFailed(KdenvError):
    """A game cannot be played to its end. The message names the game, its seed, and the policy if it is the policy's mistake."""


@dataclass(frozen=True)
class Match:
    """Which policies play which game, how many games, and from which seed."""

    game: str
    line_up: Sequence[Any]  # policies, one per seat in the first rotation; kept as text, if they can be written
    games: int
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    other: Sequence[Any] = ()  # if it is not empty: a second line-up, which plays the same deals in the same seats as the first

    def __post_init__(self) -> None:
        """Take policies as `kdenv.policy` does."""
        for name in ("line_up", "other"):
            texts = [each if isinstance(each, str) else _written(policy(each)) for each in getattr(self, name)]
            object.__setattr__(self, name, texts)

    def check(self) -> None:
        """Raise a KdenvError if this match cannot be played. Nothing is played for that."""
        game = find_game(self.game)
        if not self.line_up:
            raise BadOption(f"a match of {self.game} needs a policy for every seat")
        game.variant(len(self.line_up), **self.options)
        if self.other and len(self.other) != len(self.line_up):
            raise BadOption(f"two line-ups of {len(self.line_up)} and {len(self.other)} policies cannot take the same seats")
        if self.games < 1:
            raise BadOption(f"games={self.games} is not possible; a match has at least one game")
        for text in dict.fromkeys([*self.line_up, *self.other]):
            policy(text)

    @property
    def line_ups(self) -> list[Sequence[Any]]:
        """The line-up, and the other one if there is one."""
        return [self.line_up, self.other] if self.other else [self.line_up]

    @property
    def games_of_a_deal(self) -> int:
        """Each line-up plays a deal once in every rotation."""
        return len(self.line_up) * len(self.line_ups)

    def find(self, number: int) -> tuple[int, int, int]:
        """The deal, the rotation, and the number of the line-up (0 or 1) of the game of this number."""
        deal, within = divmod(number, self.games_of_a_deal)
        return deal, *divmod(within, len(self.line_ups))

    def seats(self, rotation: int) -> list[int]:
        """For each seat, the place in the line-up of the policy that sits there. Over the rotations every place has every seat once."""
        n = len(self.line_up)
        return [(seat - rotation) % n for seat in range(n)]

    def who(self, number: int | None, seat: int) -> str:
        """The policy in this seat and the game of this number, in words for an error. None means the trial game."""
        _, rotation, which = (0, 0, 0) if number is None else self.find(number)
        return f"{self.line_ups[which][self.seats(rotation)[seat]]} in seat {seat} of {self.which(number)}"

    def which(self, number: int | None) -> str:
        """The game of this number, in words for an error, with what is needed to play it again. None means the trial game."""
        return f"{'the trial game' if number is None else f'game {number}'} ({self.game}, seed {self.seed})"

    def describe(self) -> str:
        """The match in one line."""
        options = options_text(self.options)
        return f"{self.game}, {len(self.line_up)} players{options}, {self.games} games, seed {self.seed}"


def _written(player: Policy) -> str | Policy:
    """The text of a policy; functions, and policies whose class has no name, stay as they are."""
    return player.text if player.kind else player


@dataclass
class Result:
    """The result of one game of a match. Lists are in the order of the line-up, not of the seats."""

    number: int
    deal: int
    scores: list[int]
    margins: list[int]
    wins: list[float]  # 1 for a sole win; teams that tie for it get equal shares of 1
    seconds: list[float]
    turns: list[int]
    playouts: list[int]
    record: str


class Finished(Collection[int]):
    """The numbers of the games that are finished. Numbers from 0 up to the first gap take no memory."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._below = 0
        self._others: set[int] = set()
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        """Add the number of a game that is finished."""
        if number not in self:
            self._others.add(number)
        while self._below in self._others:
            self._others.remove(self._below)
            self._below += 1

    def __contains__(self, number: object) -> bool:
        return number in self._others or (isinstance(number, int) and 0 <= number < self._below)

    def __iter__(self) -> Iterator[int]:
        yield from range(self._below)
        yield from sorted(self._others)

    def __len__(self) -> int:
        return self._below + len(self._others)


def ready(match: Match, deciding: Deciding = lambda seat: None) -> list[Policy]:
    """The policies of every line-up, compiled and loaded, so that the time for this is not counted in any game.

    Every policy prepares, and every different policy makes one decision in a trial game that is thrown away. Nothing of the trial game
    remains, because every game begins by resetting its policies.
    """
    if match.other:
        return [player for line_up in match.line_ups for player in ready(replace(match, line_up=line_up, other=()), deciding)]
    players = [policy(text) for text in match.line_up]
    table, rng = Table(find_game(match.game), len(players), **match.options), make_rng(0)
    table.run_chance(rng)
    for seat, player in enumerate(players):
        player.reset(0)
        deciding(seat)
        try:
            player.prepare(_view(player, table, seat))
        except Exception as error:
            raise _failure(match, None, seat, error) from error
        deciding(None)
    waiting = set(match.line_up)
    for _ in range(_TRIAL * len(players)):
        if table.over or not waiting:
            break
        seat = _seat(table)
        if match.line_up[seat] in waiting:
            waiting.remove(match.line_up[seat])
            _decide(match, None, players[seat], table, deciding)
        else:
            legal = table.legal()
            table.play(legal[int(below(rng, len(legal)))])
        table.run_chance(rng)
    _outcome(table)
    table.record()
    return players


def play_game(match: Match, number: int, players: Sequence[Policy] | None = None, deciding: Deciding = lambda seat: None) -> Result:
    """Play the game of this number, from which its deal and its rotation follow. `players` are the policies that ready() returned."""
    n = len(match.line_up)
    deal, rotation, which = match.find(number)
    players = (ready(match) if players is None else players)[which * n : (which + 1) * n]
    for place, player in enumerate(players):
        player.reset(derive_seed("policy", match.seed, deal, rotation, place))
    table = Table(find_game(match.game), n, **match.options)
    chance = make_rng(derive_seed("chance", match.seed, deal))
    seats = match.seats(rotation)
    seconds, turns = [0.0] * n, [0] * n
    last = None  # the seat whose turn goes on until chance or another seat
    table.run_chance(chance)
    while not table.over:
        seat = _seat(table)
        place = seats[seat]
        events = len(table.log)
        seconds[place] += _decide(match, number, players[place], table, deciding)
        turns[place] += seat != last
        table.run_chance(chance)
        last = seat if len(table.log) == events + 1 else None
    outcome = _outcome(table)
    by_place = [outcome[seats.index(place)] for place in range(n)]
    return Result(
        number=number,
        deal=deal,
        scores=[score for score, _, _ in by_place],
        margins=[margin for _, margin, _ in by_place],
        wins=[win for _, _, win in by_place],
        seconds=seconds,
        turns=turns,
        playouts=[player.n_playouts for player in players],
        record=table.record(),
    )


def _decide(match: Match, number: int | None, player: Policy, table: Table, deciding: Deciding) -> float:
    """Let a policy decide, and carry out its action. Return the seconds that the decision took."""
    seat = _seat(table)
    view = _view(player, table, seat)
    try:
        deciding(seat)
        start = time.perf_counter()
        action = player.act(view)
        seconds = time.perf_counter() - start
        deciding(None)
        table.play(action)
    except Exception as error:
        raise _failure(match, number, seat, error) from error
    return seconds


def _failure(match: Match, number: int | None, seat: int, error: Exception) -> GameFailed:
    """The error for a policy that raises an error or returns an action that is not legal."""
    first_line = (str(error).splitlines() or [""])[0]
    what = first_line if isinstance(error, KdenvError) else f"{type(error).__name__}: {first_line}"
    return GameFailed(f"{match.who(number, seat)} cannot go on: {what}")


def _seat(table: Table) -> int:
    """The seat that decides, at a table where a seat decides."""
    seat = table.seat
    assert seat is not None
    return seat


def _view(player: Policy, table: Table, seat: int) -> View:
    """What the policy may see. Only an oracle sees everything."""
    return OracleView(table, seat) if player.is_oracle else View(table, seat)


def _outcome(table: Table) -> list[tuple[int, int, float]]:
    """Score, margin and share of the win of every seat."""
    n = table.players
    teams = table.game.teams(n)
    scores, standings = table.scores(), table.standings()
    best = max(standings)
    winners = {seat % teams for seat in range(n) if standings[seat] == best}
    outcome = []
    for seat in range(n):
        rivals = [scores[other] for other in range(n) if other % teams != seat % teams]
        win = 1 / len(winners) if seat % teams in winners else 0.0
        outcome.append((scores[seat], scores[seat] - max(rivals, default=0), win))
    return outcome
