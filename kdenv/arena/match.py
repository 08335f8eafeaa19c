"""A match, and one game of it: a line-up of policies plays the same deals from every seat.

The chance of a deal is drawn by one generator, seeded by the seed of the match and the number of the deal. So all rotations of the
line-up have the same random draws, as far as chance does not depend on the actions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.errors import KernelError
from kdenv.compiler.random import Rng, below, derive_seed, make_rng
from kdenv.core.errors import BadOption, KdenvError, describe_error
from kdenv.core.record import options_text, record_of, replay
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.games import find_game
from kdenv.policies import Learned, Policy, policy

_TRIAL = 50  # the longest trial game, in decisions for each seat

_clock = time.perf_counter  # measures the time of a decision

# A function that is called with a seat before its policy decides, and with None after that, so that another process can measure the time.
Deciding = Callable[[int | None], None]


@contextmanager
def processor_time() -> Iterator[None]:
    """Measure CPU time in this context, so that other programs do not count. It holds for this process and for nodes of a cluster.

    >>> from kdenv.arena import Match, Summary, play, processor_time
    >>> summary = Summary(Match("kingdomino", ["full_greedy", "random"], games=4, options={"size": 3}))
    >>> with processor_time():
    ...     play(summary.match, processes=1, on_result=summary.add)
    True
    """
    global _clock
    _clock = time.process_time
    try:
        yield
    finally:
        _clock = time.perf_counter


def measures_processor_time() -> bool:
    """True in the context of processor_time()."""
    return _clock is time.process_time


class GameFailed(KdenvError):
    """A game cannot be played to its end. The message names the game, its seed, and the policy that failed, if one did.

    An error that a policy raised is its `__cause__`, also from another process.
    """


@dataclass(frozen=True)
class Match:
    """The game, the policies, the number of games and the seed of a match.

    >>> from kdenv.arena import Match, Summary, play
    >>> summary = Summary(Match("kingdomino", ["full_greedy", "random"], games=40, seed=1, options={"size": 3}))
    >>> play(summary.match, processes=1, on_result=summary.add)
    True
    >>> print(summary)
    kingdomino, 2 players size=3, 40 games, seed 1
    20 deals, seats rotated, deals shared. ± and [low, high] are 95 % intervals over deals.
    ...
    full_greedy  +4.5 ± 3.0  14.7 ± 2.0  66.2 % [49.1, 80.0] ...
    random       -4.5 ± 3.0  10.2 ± 1.9  33.8 % [20.0, 50.9] ...
    ...
    """

    game: str
    line_up: Sequence[Any]  # a policy for each seat of the first rotation; kept as text, if it can be written
    games: int
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    other: Sequence[Any] = ()  # a second line-up, which plays the same deals in the same seats as the first; empty if there is none
    luck: str = ""  # the policy of values, such as learned(dominion), by which luck is measured (luck.py); empty if it is not

    def __post_init__(self) -> None:
        """Take policies in every form that `kdenv.policy` takes."""
        for name in ("line_up", "other"):
            texts = [each if isinstance(each, str) else _written(policy(each)) for each in getattr(self, name)]
            object.__setattr__(self, name, texts)

    def check(self) -> None:
        """Raise a KdenvError if this match cannot be played. Nothing is played."""
        game = find_game(self.game)
        if not self.line_up:
            raise BadOption(f"a match of {self.game} needs a policy for every seat")
        players, variant = game.variant(len(self.line_up), **self.options)
        if self.other and len(self.other) != len(self.line_up):
            raise BadOption(f"two line-ups of {len(self.line_up)} and {len(self.other)} policies cannot take the same seats")
        if self.games < 1:
            raise BadOption(f"games={self.games} is not possible; a match has at least one game")
        for text in dict.fromkeys([*self.line_up, *self.other]):
            policy(text)
        if self.luck:
            values = policy(self.luck)
            if not isinstance(values, Learned):
                raise BadOption(f"luck cannot be measured by {self.luck}, which gives no value of a position; write learned(MODEL)")
            values.needs(game, players, variant)

    @property
    def line_ups(self) -> list[Sequence[Any]]:
        """The line-up, and the second one if there is one."""
        return [self.line_up, self.other] if self.other else [self.line_up]

    @property
    def games_of_a_deal(self) -> int:
        """The number of games of a deal: each line-up plays it once in every rotation."""
        return len(self.line_up) * len(self.line_ups)

    def find(self, number: int) -> tuple[int, int, int]:
        """The deal, the rotation, and the number of the line-up (0 or 1) of the game of this number."""
        deal, within = divmod(number, self.games_of_a_deal)
        return deal, *divmod(within, len(self.line_ups))

    def seats(self, rotation: int) -> list[int]:
        """For each seat, the place of its policy in the line-up. Over all rotations every place has every seat once."""
        n = len(self.line_up)
        return [(seat - rotation) % n for seat in range(n)]

    def who(self, number: int | None, seat: int) -> str:
        """The policy in this seat of the game of this number, in words for an error. None means the trial game."""
        _, rotation, which = (0, 0, 0) if number is None else self.find(number)
        return f"{self.line_ups[which][self.seats(rotation)[seat]]} in seat {seat} of {self.name_of_game(number)}"

    def name_of_game(self, number: int | None) -> str:
        """The game of this number with its seed, in words for an error. None means the trial game."""
        return f"{'the trial game' if number is None else f'game {number}'} ({self.game}, seed {self.seed})"

    def describe(self) -> str:
        """The match in one line."""
        options = options_text(self.options)
        return f"{self.game}, {len(self.line_up)} players{options}, {self.games} games, seed {self.seed}"


def _written(player: Policy) -> str | Policy:
    """The text of a policy. Functions, and policies whose class has no name, are returned as they are."""
    return player.text if player.kind else player


class Events(NamedTuple):
    """The events of a game, from which its record can be written: numbers as in a Log, and the set-up of the table."""

    game: str
    players: int
    variant: bytes
    numbers: bytes

    def record(self) -> str:
        """The record of the game."""
        game = find_game(self.game)
        options = game.options_of(np.frombuffer(self.variant, np.int64))
        return record_of(game, self.players, options, np.frombuffer(self.numbers, np.int32))


class _TurnLog:
    """The field `record` of a Result: a text. If it is set to Events, the text is written when it is first read."""

    def __set__(self, result: Result, given: str | Events) -> None:
        result.__dict__["record"] = given

    def __get__(self, result: Result | None, kind: type[Result]) -> str:
        if result is None:
            raise AttributeError("record has no default")  # this is how dataclass asks for one
        found = result.__dict__["record"]
        if not isinstance(found, str):
            found = result.__dict__["record"] = found.record()
        return str(found)


@dataclass
class Result:
    """The result of one game of a match. Lists are in the order of the line-up, not of the seats."""

    number: int
    deal: int
    scores: list[int]
    margins: list[int]
    wins: list[float]  # 1 for a sole win; teams that tie for it get equal shares of 1
    seconds: list[float] | None  # of all decisions; None if the game was played without a clock (compiled_games.py)
    turns: list[int]
    playouts: list[int]
    record: _TurnLog = _TurnLog()
    pace: list[list[list[float]]] | None = None  # for every turn its seconds and its playouts; None as for seconds
    luck: list[float] | None = None  # by the network of Match.luck, in its unit; None if the match measures none

    def events(self) -> list[int]:
        """The events of the game as numbers, as in a Log: an outcome of chance is ~outcome."""
        held = self.__dict__["record"]
        if isinstance(held, Events):
            return list(map(int, np.frombuffer(held.numbers, np.int32)))
        for table in replay(held, find_game):
            last = table
        return list(map(int, last.log.rows[0, : last.log.n]))

    def with_record(self) -> Result:
        """Write the record now, and return the result."""
        _ = self.record
        return self


class Finished(Collection[int]):
    """The numbers of the finished games. Numbers from 0 up to the first gap take no memory."""

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


def ready(match: Match, deciding: Deciding | None = None) -> list[Policy]:
    """The policies of every line-up, compiled and loaded, so that this time is not counted in any game.

    Every policy prepares, and every different policy makes one decision in a trial game. The trial game has no effect on others, because
    every game begins by resetting its policies.
    """
    if match.other:
        return [player for line_up in match.line_ups for player in ready(replace(match, line_up=line_up, other=()), deciding)]
    players = [policy(text) for text in match.line_up]
    table, rng = Table(find_game(match.game), len(players), **match.options), make_rng(0)
    table.run_chance(rng)
    for seat, player in enumerate(players):
        if deciding is not None:
            deciding(seat)
        reset(player, 0, match.who(None, seat))
        try:
            player.prepare(_view(player, table, seat))
        except (Exception, SystemExit) as error:
            raise failed(match.who(None, seat), error) from error
        if deciding is not None:
            deciding(None)
    waiting = set(match.line_up)
    for _ in range(_TRIAL * len(players)):
        mover = table.seat
        if mover is None or not waiting:
            break
        if match.line_up[mover] in waiting:
            waiting.remove(match.line_up[mover])
            _decide(match, None, players[mover], table, mover, rng, deciding)
        else:
            legal = table.legal()
            table.decide(legal[int(below(rng, len(legal)))], rng)
    table.scores(), table.standings(), table.record()
    return players


def policy_seeds(match: Match, deal: int, rotation: int) -> list[int]:
    """The seeds of the policies of the line-up in a game of this deal in this rotation."""
    return [derive_seed("policy", match.seed, deal, rotation, place) for place in range(len(match.line_up))]


def chance_of(match: Match, deal: int) -> Rng:
    """The generator from which all chance of this deal is drawn."""
    return make_rng(derive_seed("chance", match.seed, deal))


def play_game(match: Match, number: int, players: Sequence[Policy] | None = None, deciding: Deciding | None = None) -> Result:
    """Play the game of this number, which determines its deal and its rotation. `players` are the policies that ready() returned.

    >>> from kdenv.arena import Match, play_game
    >>> match = Match("kingdomino", ["full_greedy", "random"], games=4, seed=1)
    >>> result = play_game(match, 3)
    >>> result.deal, len(result.scores), result.scores == play_game(match, 3).scores
    (1, 2, True)
    """
    n = len(match.line_up)
    deal, rotation, which = match.find(number)
    players = (ready(match) if players is None else players)[which * n : (which + 1) * n]
    seats, seeds = match.seats(rotation), policy_seeds(match, deal, rotation)
    for seat, place in enumerate(seats):
        reset(players[place], seeds[place], match.who(number, seat))
    table = Table(find_game(match.game), n, **match.options)
    chance = chance_of(match, deal)
    turns, playouts = [0] * n, [player.n_playouts for player in players]
    pace: list[list[list[float]]] = [[] for _ in range(n)]
    last = None  # the seat of the present turn, which ends with chance or another seat
    table.run_chance(chance)
    while (mover := table.seat) is not None:
        events, place = table.log.n, seats[mover]
        player, of_player = players[place], pace[place]
        if mover != last:
            turns[mover] += 1
            of_player.append([0.0, 0])
        of_player[-1][0] += _decide(match, number, player, table, mover, chance, deciding)
        n_playouts = player.n_playouts
        of_player[-1][1] += n_playouts - playouts[place]
        playouts[place] = n_playouts
        last = mover if table.log.n == events + 1 else None
    log = Events(match.game, n, table.variant.tobytes(), table.log.rows[0, : table.log.n].tobytes())
    seconds = [sum(of_turn for of_turn, _ in of_player) for of_player in pace]
    result = result_of_game(match, number, table.scores(), table.standings(), turns, playouts, seconds, log)
    result.pace = [[[round(of_turn, 6), n] for of_turn, n in of_player] for of_player in pace]
    return result


def result_of_game(
    match: Match,
    number: int,
    scores: list[int],
    standings: list[int],
    turns: list[int],
    playouts: list[int],
    seconds: list[float] | None,
    events: Events,
) -> Result:
    """The result of a game that is over. Scores, standings and turns are given by seat, playouts and seconds by place in the line-up."""
    n = len(match.line_up)
    deal, rotation, _ = match.find(number)
    teams = find_game(match.game).teams(n)
    best = max(standings)
    winners = {seat % teams for seat in range(n) if standings[seat] == best}
    best_of_team = [max(scores[team::teams]) for team in range(teams)]
    seat_of = [(place + rotation) % n for place in range(n)]  # see Match.seats
    return Result(
        number=number,
        deal=deal,
        scores=[scores[seat] for seat in seat_of],
        margins=[scores[seat] - max((best_of_team[team] for team in range(teams) if team != seat % teams), default=0) for seat in seat_of],
        wins=[1 / len(winners) if seat % teams in winners else 0.0 for seat in seat_of],
        seconds=seconds,
        turns=[turns[seat] for seat in seat_of],
        playouts=playouts,
        record=events,
    )


def _decide(match: Match, number: int | None, player: Policy, table: Table, seat: int, chance: Rng, deciding: Deciding | None) -> float:
    """Let the policy in this seat decide; carry out its action and the chance after it. Return the seconds that the decision took."""
    view = _view(player, table, seat)
    try:
        if deciding is not None:
            deciding(seat)
        start = _clock()
        action = player.act(view)
        seconds = _clock() - start
        if deciding is not None:
            deciding(None)
        action = table.checked_action(action)
    except (Exception, SystemExit) as error:
        raise failed(match.who(number, seat), error) from error
    table.decide(action, chance)
    return seconds


def reset(player: Policy, seed: int, who: str = "") -> None:
    """Reset a policy before a game. `who` describes the policy in an error."""
    try:
        player.reset(seed)
    except (Exception, SystemExit) as error:
        raise failed(who or str(player), error) from error


def failed(who: str, error: BaseException) -> GameFailed:
    """The error for a policy that raises an error or returns an illegal action. `who` describes the policy."""
    return GameFailed(f"{who} cannot go on: {reason(error)}")


def reason(error: BaseException) -> str:
    """The first line of the message of kdenv, or the error of code from outside with its place."""
    return (str(error).splitlines() or [""])[0] if isinstance(error, (KdenvError, KernelError)) else describe_error(error)


def _view(player: Policy, table: Table, seat: int) -> View:
    """The view of this seat. Only an oracle sees everything."""
    return OracleView(table, seat) if player.is_oracle else View(table, seat)
