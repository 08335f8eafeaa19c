"""The checks of `check_game` at one position of a random game. Each check notes the faults that it finds, and play continues."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, below, derive_seed, make_rng
from kdenv.core import verbs
from kdenv.core.bounds import Findings, Guarded, Lists, Where, check_seat
from kdenv.core.errors import KdenvError
from kdenv.core.game import Game, States, Variant
from kdenv.core.questions import RulePlayer, choose_at
from kdenv.core.turns import actions_of, first_action, rest_of
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.core.view import ONLOOKER

_AT = 1  # the index of the position; the records before and behind it are guards
_SAMPLES = 10_000  # draws of an outcome of chance, whose frequencies are compared with the odds
_SURE = 30.0  # a frequency is wrong if its probability is below exp(-30): one false alarm in 10 ** 13
_MOST_WORDS = 30  # the most actions or outcomes of a position whose words are read back
_MOST_UNSEEN = 6  # the most unseen outcomes of chance after which the views of a seat are compared
_BOUND = 1000.0  # the largest number in an observation (envs/spaces.py)
_NONSENSE = ("", "nonsense", "-1", "9" * 30, "=, :")

# By the number of players, the number of outcomes, the seats that see them, and a seat that does not: for each time, the position if this
# seat sees a different one after each outcome, else an empty text.
Inferred = dict[tuple[int, int, int, int], list[str]]
Text = Callable[[States, int, int], str]
Reader = Callable[[States, int, str], int]


class Checker:
    """Plays a random game with these players and options, and checks the positions that it reaches."""

    def __init__(self, game: Game, players: int, variant: Variant, findings: Findings, number: int, inferred: Inferred) -> None:
        self.game, self.players, self.variant, self.findings = game, players, variant, findings
        self.inferred = inferred
        self.lists = Lists(game, players, variant, findings)
        self.states = self._states_of(0)
        options = " ".join(f"{name}={value}" for name, value in game.options_of(variant).items())
        self._more = f" (game {number}: {f'{players} players {options}'.strip()})"
        self._n_sampled = 0

    def _states_of(self, fill: int) -> States:
        states = np.zeros(3, self.game.state_dtype)
        as_bytes = states.view(np.uint8).reshape(3, -1)
        as_bytes[:] = 0xA5
        as_bytes[_AT] = fill
        return states

    # Tools of the checks

    def note(self, kind: str, fault: str, right: str, states: States | None = None) -> None:
        """Note a fault in this position, and the right behaviour."""
        where = "" if kind in self.findings else Where(self.game, self.states if states is None else states, _AT, self._more)
        self.findings.note(kind, f"{fault} {where}; {right}")

    @property
    def where(self) -> Where:
        return Where(self.game, self.states, _AT, self._more)

    def ask(self, verb: str, *rest: Any, states: States | None = None) -> Any:
        """Return the answer of a verb that may not change the position. It is noted if the verb does."""
        looked_at = self.states if states is None else states
        before = looked_at.tobytes()
        answer = getattr(verbs, f"{verb}_at")(looked_at, _AT, *rest)
        if looked_at.tobytes() != before:
            self.note(f"{verb} looks", f"{verb} changes the position", "it may only look")
            looked_at[:] = np.frombuffer(before, looked_at.dtype)
        return answer

    def after(self, verb: str, *rest: Any) -> States:
        """Return a copy of the position in which a verb that changes it has been carried out."""
        states = self.states.copy()
        getattr(verbs, f"{verb}_at")(states, _AT, *rest)
        if states[[0, 2]].tobytes() != self.states[[0, 2]].tobytes():
            self.note(f"{verb} outside", f"{verb} writes to memory outside of its state", "an index into one of its arrays is too large")
            states[[0, 2]] = self.states[[0, 2]]
        return states

    def call(self, what: str, function: Callable[..., Any], *rest: Any, **named: Any) -> Any:
        """Return the answer of a function of the notation or the drawing; None if it raises an error, which is noted."""
        before = self.states.tobytes()
        try:
            answer = function(*rest, **named)
        except Exception as error:
            self.note(what, f"{what} raises {at_line(error)}", "it must answer in every position")
            return None
        if self.states.tobytes() != before:
            self.note(f"{what} looks", f"{what} changes the position", "it may only look")
            self.states[:] = np.frombuffer(before, self.states.dtype)
        return answer

    # The game

    def begin(self) -> None:
        """Set the game up, once in memory of zeros and once in memory of ones; the results must be equal."""
        before, used = self.variant.copy(), self._states_of(0xFF)
        for states in (self.states, used):
            verbs.begin_at(states, _AT, self.players, self.variant)
        if not np.array_equal(before, self.variant):
            self.note("begin writes", "begin changes the variant", "it may only read it")
            self.variant[:] = before
        rest = [name for name in self.states.dtype.names or () if not name.startswith("_")]
        left = [name for name in rest if self.states[name][_AT].tobytes() != used[name][_AT].tobytes()]
        if left:
            self.note("begin", f"begin leaves the field{'s' * (len(left) > 1)} {', '.join(left)} as before", "it must set every field")

    def check(self, rng: Rng, *, closely: bool) -> tuple[str, int] | None:
        """Check the lists of the position, and all else if `closely`. Return the next verb and its random argument; None at the end."""
        now = self.ask("phase")
        if now not in (CHANCE, DECIDE, OVER):
            self.note("phase", f"phase returns {now}", "it must return CHANCE, DECIDE or OVER")
            return None
        if closely:
            self._check_points()
            self._check_hidden(int(now))
            self._check_position_words()
            self._check_drawing()
        if now == OVER:
            return None
        step = self._check_chance(rng, closely=closely) if now == CHANCE else self._check_decision(rng, closely=closely)
        self.lists.check_guards()
        return step

    def advance(self, step: tuple[str, int]) -> None:
        """Carry out the verb that check() returned."""
        after = self.after(*step)
        if after.tobytes() == self.states.tobytes():
            self.note(f"{step[0]} changes", f"{step[0]}({step[1]}) changes nothing", "the game would stand still")
        self.states = after

    # Decisions

    def _check_decision(self, rng: Rng, *, closely: bool) -> tuple[str, int] | None:
        check_seat(self.game, int(self.ask("seat")), self.players, self.findings, self.where)
        actions = self._twice("legal", lambda: self.lists.legal_in(self.states, _AT, self.where))
        if sorted(set(actions)) != actions:
            self.note("ascending", f"legal lists {_some(actions)}", "actions must be ascending, each once")
        if closely:
            self.lists.turns_in(self.states, _AT, self.where)
            self._check_outcomes(actions)
            self._check_words("action", actions, self.game.notation.action_text, self.game.notation.action_from)
            for name, player in self.game.knowledge.players.items():
                self._check_player(name, player, actions, rng)
        return ("apply", actions[int(below(rng, len(actions)))]) if actions and "actions" not in self.findings else None

    def _twice(self, verb: str, ask: Callable[[], Any]) -> Any:
        """Return the answer of a verb, which must be the same at a second call and must not change the position."""
        before = self.states.tobytes()
        first, again = ask(), ask()
        if self.states.tobytes() != before:
            self.note(f"{verb} looks", f"{verb} changes the position", "it may only look")
            self.states[:] = np.frombuffer(before, self.states.dtype)
        elif first != again:
            self.note(f"{verb} twice", f"{verb} answers {_some(first)} and then {_some(again)}", "the same position has one answer")
        return first

    def _check_outcomes(self, actions: Sequence[int]) -> None:
        """Carry out every legal action: each must lead to a different position."""
        seen: dict[bytes, int] = {self.states.tobytes(): -1}
        for action in actions:
            after = self.after("apply", action)
            now, known = verbs.phase_at(after, _AT), seen.setdefault(after.tobytes(), action)
            if known == -1:
                self.note("apply changes", f"apply({action}) changes nothing", "the game would stand still")
            elif known != action and now == DECIDE:  # at the end of a round or game, a state may keep no more than the result
                self.note("distinct", f"actions {known} and {action} lead to the same position", "legal must list one of them")
            if now not in (CHANCE, DECIDE, OVER):
                self.note("phase", f"after apply({action}) phase returns {now}", "it must return CHANCE, DECIDE or OVER")

    def _check_player(self, name: str, player: RulePlayer, actions: Sequence[int], rng: Rng) -> None:
        """Check that the turn of a rule-based player is legal, action by action."""
        states, room = np.concatenate([self.states[:2], self.states]), Guarded(len(self.game.buffer()))
        before = states.tobytes()[: 2 * states.itemsize], states[3:].tobytes()
        turn = int(choose_at(player.make(), states, 1, room.array, rng))  # it may write to states[2]
        if (states.tobytes()[: 2 * states.itemsize], states[3:].tobytes()) != before:
            self.note(f"{name} looks", f"the player {name} changes a position", "it may write only to the state behind the one it is given")
        if room.n_written() > room.size:
            wrote = f"the player {name} writes to place {room.n_written() - 1} of its buffer, which has {room.size}"
            self.note(f"{name} scratch", wrote, "declare a larger `scratch` in the Knowledge")
        action = int(first_action(turn))
        if turn <= 0 or action not in actions:
            self.note(f"{name} legal", f"the player {name} chooses action {action}", f"legal lists {_some(actions)}")
            return
        mover, states = int(verbs.seat_at(self.states, _AT)), self.after("apply", action)
        for action in actions_of(int(rest_of(turn))):
            decides = verbs.phase_at(states, _AT) == DECIDE and verbs.seat_at(states, _AT) == mover
            if not decides or action not in self.lists.legal_in(states, _AT, self.where):
                self.note(f"{name} legal", f"the player {name} goes on with action {action}", "it is not legal then")
                return
            verbs.apply_at(states, _AT, action)

    # Chance

    def _check_chance(self, rng: Rng, *, closely: bool) -> tuple[str, int] | None:
        outcomes, odds = self._twice("chances", lambda: self.lists.chances_in(self.states, _AT, self.where))
        if len(set(outcomes)) < len(outcomes):
            self.note("outcomes", f"chances lists {_some(outcomes)}", "each outcome may be listed once")
        if any(not 0 <= outcome < 1 << 31 for outcome in outcomes):
            self.note("outcomes", f"chances lists {_some(outcomes)}", "outcomes are numbers from 0 to 2 ** 31 - 1")
        if any(odd < 1 for odd in odds):
            self.note("odds", f"chances gives the odds {_some(odds)}", "list what cannot happen nowhere: odds are whole numbers above 0")
        elif sum(odds) >= 1 << 32:
            self.note("odds", f"the odds of chances add up to {sum(odds):,}", "they must add up to less than 2 ** 32")
        seen_by = int(self.ask("witnesses"))
        if seen_by != -1 and not 0 <= seen_by < 1 << self.players:
            self.note("witnesses", f"witnesses returns {seen_by}", f"it must return -1 or one bit for each of {self.players} seats")
        if self.game.open_information and seen_by not in (-1, (1 << self.players) - 1):
            self.note("witnesses", f"witnesses returns {seen_by} in a game with open_information", "all seats must see all outcomes")
        outcome = int(self.ask("sample_chance", rng))
        if outcome not in outcomes:
            self.note("sample", f"sample_chance returns {outcome}", f"chances lists {_some(outcomes)}")
            return ("apply_chance", outcomes[0]) if outcomes else None
        if closely:
            self._check_words("chance", outcomes, self.game.notation.chance_text, self.game.notation.chance_from)
            self._check_unseen(outcomes, seen_by)
            self._check_seen(outcomes, seen_by)
            if len(outcomes) > 1 and self._n_sampled < 3 and "odds" not in self.findings:
                self._n_sampled += 1
                self._check_frequencies(outcomes, odds)
        return "apply_chance", outcome

    def _check_frequencies(self, outcomes: Sequence[int], odds: Sequence[int]) -> None:
        """Draw many outcomes, and compare each frequency with the odds by the Chernoff-Hoeffding bound."""
        rng, counts = make_rng(derive_seed("sample", self._n_sampled)), dict.fromkeys(outcomes, 0)
        for _ in range(_SAMPLES):
            outcome = int(verbs.sample_chance_at(self.states, _AT, rng))
            counts[outcome] = counts.get(outcome, 0) + 1
        for outcome, odd in zip(outcomes, odds, strict=True):
            expected, found = odd / sum(odds), counts[outcome] / _SAMPLES
            if _SAMPLES * _divergence(found, expected) > _SURE:
                drawn = f"sample_chance draws outcome {outcome} {counts[outcome]} times of {_SAMPLES}"
                self.note("sample", drawn, f"by the odds of chances it would be about {expected * _SAMPLES:.0f} times")

    def _check_unseen(self, outcomes: Sequence[int], seen_by: int) -> None:
        """Check that a seat which does not see the outcome cannot infer it, unless the position shows it at once."""
        for seat in (seat for seat in range(self.players) if not seen_by >> seat & 1):
            views: dict[str, bytes] = {}  # the seat's observations and drawing -> its view
            tried = outcomes[:_MOST_UNSEEN]
            for outcome in tried:
                after = self.after("apply_chance", outcome)
                sees = f"{self._observations(after, seat)} {self.call('ansi', self.game.drawing.ansi, after, _AT, seat=seat)}"
                view = self._drawn(after, seat, 1).tobytes()
                if views.setdefault(sees, view) != view:
                    fault = f"the view of seat {seat} tells what chance did, which it does not see"
                    self.note("hidden", fault, "resample_hidden must draw anew what a seat cannot know")
            if len(tried) > 1:
                place = str(self.where) if len(views) == len(tried) else ""
                self.inferred.setdefault((self.players, len(outcomes), seen_by, seat), []).append(place)

    def _check_seen(self, outcomes: Sequence[int], seen_by: int) -> None:
        """Check that a seat which sees the outcome still knows it when all that it cannot know is drawn anew."""
        positions = {self.after("apply_chance", outcome).tobytes(): outcome for outcome in outcomes[:_MOST_UNSEEN]}
        for seat in (seat for seat in range(self.players) if seen_by >> seat & 1):
            views: dict[bytes, int] = {}  # a view of the seat -> the outcome that led to it
            for position, outcome in positions.items():
                view = self._drawn(np.frombuffer(position, self.states.dtype), seat, 1).tobytes()
                if (other := views.setdefault(view, outcome)) != outcome:
                    fault = (
                        f"witnesses lets seat {seat} see what chance does, but its view is the same after outcomes {other} and {outcome}"
                    )
                    self.note("witnesses", fault, "resample_hidden must keep what a seat has seen, or witnesses must leave the seat out")

    # What is hidden

    def _drawn(self, states: States, seat: int, seed: int) -> States:
        """Return a copy in which all that the seat cannot know is replaced by a random draw."""
        drawn = states.copy()
        verbs.resample_hidden_at(drawn, _AT, seat, make_rng(derive_seed("hidden", seed)))
        return drawn

    def _check_hidden(self, now: int) -> None:
        for seat in range(self.players):
            seen, drawings = self._observations(self.states, seat), list(self._drawings(self.states, seat))
            for seed in range(2):
                drawn = self._drawn(self.states, seat, seed)
                if drawn[[0, 2]].tobytes() != self.states[[0, 2]].tobytes():
                    self.note("resample outside", "resample_hidden writes to memory outside of its state", "an index is too large")
                    return
                if self.game.open_information and drawn.tobytes() != self.states.tobytes():
                    self.note("resample", f"resample_hidden changes something for seat {seat}", "the game says open_information=True")
                    return
                self._check_draw(now, seat, drawn, seen, drawings)
            other = self._drawn(self._drawn(self.states, seat, 2), seat, 0)
            if other.tobytes() != self._drawn(self.states, seat, 0).tobytes():
                fault = f"what resample_hidden draws for seat {seat} depends on what was hidden"
                self.note("depends", fault, "views would tell the truth")

    def _check_draw(self, now: int, seat: int, drawn: States, seen: dict[str, bytes], drawings: list[str]) -> None:
        """Check that a draw of what a seat cannot know has left what it knows as it was."""
        if verbs.phase_at(drawn, _AT) != now:
            self.note("resample", f"resample_hidden for seat {seat} changes what happens next", "every seat knows the phase")
        elif now == DECIDE:
            mover = verbs.seat_at(self.states, _AT)
            if verbs.seat_at(drawn, _AT) != mover:
                self.note("resample", f"resample_hidden for seat {seat} changes the seat that decides", "every seat knows it")
            elif mover == seat and self.lists.legal_in(drawn, _AT, self.where) != self.lists.legal_in(self.states, _AT, self.where):
                self.note("resample", f"resample_hidden for seat {seat} changes its legal actions", "a seat knows what it may do")
        for name, vector in self._observations(drawn, seat).items():
            if vector != seen[name]:
                fault = f"the encoding {name} shows seat {seat} something that resample_hidden draws anew for it"
                self.note(f"{name} peeks", fault, "write only what the seat can know, or leave it as it is in resample_hidden")
        if list(self._drawings(drawn, seat)) != drawings:
            self.note("drawing peeks", f"the drawing shows seat {seat} something that resample_hidden draws anew for it", "hide it")

    def _observations(self, states: States, seat: int) -> dict[str, bytes]:
        """Return the observations of the seat, by encoding. Faults in the vectors are noted."""
        seen: dict[str, bytes] = {}
        for encoding in self.game.encodings:
            observer = self.game.observer(self.players, self.variant, encoding.name)
            vectors = []
            for fill in (7.0, math.nan):
                vector = Guarded(observer.size, np.float32)
                vector.array[:] = fill if encoding.trusted else 0
                before = states.tobytes()
                encoding.observe(states, _AT, seat, vector.array)
                if states.tobytes() != before:
                    self.note("observe looks", f"the encoding {encoding.name} changes the position", "it may only look")
                    states[:] = np.frombuffer(before, states.dtype)
                if vector.n_written() > vector.size:
                    wrote = f"the encoding {encoding.name} writes {vector.n_written()} numbers, and its layout has {vector.size}"
                    self.note(f"{encoding.name} size", wrote, "lay out all that observe writes")
                vectors.append(vector.array)
            self._check_vectors(encoding.name, *vectors)
            seen[encoding.name] = vectors[0].tobytes() if encoding.trusted else b""
        return seen

    def _check_vectors(self, name: str, one: NDArray[np.float32], other: NDArray[np.float32]) -> None:
        """Check two vectors of the same position: one was written over sevens, the other over NaN."""
        parts = np.flatnonzero(~np.isclose(one, other, rtol=0, atol=0))
        if len(parts):
            self.note(f"{name} writes", f"the encoding {name} does not write number {parts[0]} of its vector", "it must write all")
        elif not np.isfinite(one).all() or np.abs(one).max(initial=0) > _BOUND:
            self.note(f"{name} bounds", f"the encoding {name} writes {np.abs(one).max()}", f"numbers may be -{_BOUND:g} to {_BOUND:g}")

    # Points

    def _check_points(self) -> None:
        for verb in (verbs.scores_at, verbs.standings_at):
            name, written = verb.__name__.removesuffix("_at"), []
            before = self.states.tobytes()
            for fill in (-7777777, 7777777):
                self.lists.points.array[:] = fill
                written.append(self.lists.points_of(verb, self.states, _AT))
            if written[0] != written[1]:
                self.note(name, f"{name} does not write the number of every seat", f"out has a place for each of {self.players} seats")
            if self.states.tobytes() != before:
                self.note(f"{name} looks", f"{name} changes the position", "it may only look")

    # Words and drawings

    def _check_words(self, what: str, numbers: Sequence[int], text_of: Text, number_from: Reader) -> None:
        """Check that words of actions or outcomes differ, fit into a line of a record, and are read back."""
        writes, reads, known = f"{what}_text", f"{what}_from", dict[str, int]()
        for number in numbers[:_MOST_WORDS]:
            text = self.call(writes, text_of, self.states, _AT, number)
            if text is None:
                continue
            if not _is_line(text) or (what == "chance" and "," in text):
                right = "records need one line" + " without a comma" * (what == "chance") + " that does not begin or end with a space"
                self.note(f"{writes} line", f"{writes}({number}) is {text!r}", right)
                continue
            if known.setdefault(text, number) != number:
                self.note(f"{writes} twice", f"{writes} writes {text!r} for {known[text]} and for {number}", "words must differ")
                continue
            back = self.call(reads, number_from, self.states, _AT, text)
            if back is not None and back != number:
                self.note(f"{reads} back", f"{reads} reads {text!r} as {back}", f"{writes} writes it for {number}")
        self._check_nonsense(reads, lambda text: number_from(self.states, _AT, text))

    def _check_nonsense(self, reads: str, read: Callable[[str], Any]) -> None:
        """Check that text which cannot be read raises BadRecord and no other error."""
        before = self.states.tobytes()
        for text in _NONSENSE:
            try:
                read(text)
            except KdenvError:
                continue
            except Exception as error:
                fault = f"{reads} of {text!r} raises {at_line(error)}"
                self.note(f"{reads} nonsense", fault, "raise BadRecord for text that cannot be read")
            finally:
                self.states[:] = np.frombuffer(before, self.states.dtype)

    def _check_position_words(self) -> None:
        notation, other = self.game.notation, self._states_of(0)
        text = self.call("position_text", notation.position_text, self.states, _AT)
        if text is None:
            return
        if not isinstance(text, str) or len(text.splitlines()) != 1:
            self.note("position_text line", f"position_text is {text!r}", "records need one line of text")
            return
        text = " ".join(text.split())  # as records have it
        verbs.begin_at(other, _AT, self.players, self.variant)
        try:
            notation.position_from(text, other, _AT)
        except Exception as error:
            self.note("position_from", f"position_from raises {at_line(error)}", "it must read what position_text writes")
            return
        if (back := " ".join(str(notation.position_text(other, _AT)).split())) != text:
            fault = f"position_from reads a position whose text is then {back!r}"
            self.note("position_from", fault, "it must read what position_text writes")
        elif self._answers(other) != self._answers(self.states):
            ours, theirs = self._answers(self.states), self._answers(other)
            verb = next(verb for verb in ours if ours[verb] != theirs.get(verb))
            fault = f"after position_from {verb} answers {_some(theirs.get(verb))} and before position_text {_some(ours[verb])}"
            self.note("position_from", fault, "position_text must write all that the rules need")
        self._check_nonsense("position_from", lambda text: notation.position_from(text, other, _AT))

    def _answers(self, states: States) -> dict[str, Any]:
        """Return the answers of the verbs that do not change the position."""
        now = int(verbs.phase_at(states, _AT))
        answers: dict[str, Any] = {"phase": now, "scores": self.lists.points_of(verbs.scores_at, states, _AT)}
        answers["standings"] = self.lists.points_of(verbs.standings_at, states, _AT)
        if now == DECIDE:
            answers |= {"seat": int(verbs.seat_at(states, _AT)), "legal": self.lists.legal_in(states, _AT, self.where)}
        elif now == CHANCE:
            answers |= {"chances": self.lists.chances_in(states, _AT, self.where), "witnesses": int(verbs.witnesses_at(states, _AT))}
        return answers

    def _check_drawing(self) -> None:
        for seat in (None, ONLOOKER):
            list(self._drawings(self.states, seat))

    def _drawings(self, states: States, seat: int | None) -> Iterator[str]:
        """Yield the drawings of a position as a seat sees it. Faults are noted."""
        drawing = self.game.drawing
        for what, draw in (("ansi", drawing.ansi), ("svg", drawing.svg)):
            drawn = self.call(what, draw, states, _AT, seat=seat)
            if drawn is None:
                continue
            if not isinstance(drawn, str):
                self.note(what, f"{what} returns a value of type {type(drawn).__name__}", "it must return text")
            elif what == "svg":
                try:
                    ElementTree.fromstring(drawn)
                except ElementTree.ParseError as error:
                    self.note(what, f"svg of seat {seat} is no SVG ({error})", "browsers and pictures need XML")
            yield str(drawn)


def at_line(error: BaseException) -> str:
    """Return an error as one line, with the file and line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}:{last.lineno}, in {last.name})"


def _is_line(text: Any) -> bool:
    return isinstance(text, str) and bool(text) and text == text.strip() and len(text.splitlines()) == 1


def _some(numbers: Any) -> str:
    """Return a list as text with at most its first 12 numbers."""
    return str(numbers) if not isinstance(numbers, (list, tuple)) or len(numbers) <= 12 else f"{str(list(numbers[:12]))[:-1]}, ...]"


def _divergence(found: float, expected: float) -> float:
    """Return the Kullback-Leibler divergence: n draws have such a frequency with a probability of at most exp(-n * divergence)."""
    terms = ((found, expected), (1 - found, 1 - expected))
    return math.inf if any(p and not q for p, q in terms) else sum(p * math.log(p / q) for p, q in terms if p)
