"""The requests and the answers of the API, as types. msgspec checks requests by them, and openapi.py describes both by them.

A request is a Struct: its annotations are the kinds and bounds of its values. An answer is a TypedDict, so that mypy checks the functions
that make it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct

from kdenv.server.settings import Limits

_STEPS = 10**9
_Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
_Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]


def _text(most: int, meaning: str = "") -> Meta:
    """Describe a text. It holds no NUL, at which SQLite would cut it."""
    return Meta(max_length=most, pattern=r"^[^\x00]*$", description=meaning or None)


def _whole(least: int, most: int, meaning: str = "") -> Meta:
    return Meta(ge=least, le=most, description=meaning or None)


_Game = Annotated[str, _text(60, "the name of a game")]
_Name = Annotated[str, _text(Limits.name, "a name, which everybody sees")]
_Step = Annotated[int, _whole(0, _STEPS, "the step at which this was decided: `step` of the state")]
_Action = Annotated[int, _whole(0, _STEPS)]
_word = Meta(extra_json_schema={"type": "string"})
Status = Annotated[Literal["waiting", "running", "over"], _word]
SeatKind = Annotated[Literal["open", "player", "program"], _word]
EventKind = Annotated[Literal["action", "chance", "undo", "left"], _word]
_Option = Annotated[str, _text(1000)] | int | bool


class Request(Struct, kw_only=True, forbid_unknown_fields=True):
    """The values of a request."""


class OfGame(Request):
    """The query about one kind of game."""

    game: _Game


class StatisticsQuery(OfGame):
    """The query of statistics."""

    table: Annotated[str, _text(300, "the kind of table, as `tables` has it; the most frequent one if it is not given")] = ""


class GamesQuery(Request):
    """The query of the list of games."""

    status: Annotated[Status, Meta(description="only these games")] | None = None
    game: Annotated[str, _text(60, "only games of this name")] | None = None
    player: Annotated[str, _text(Limits.name, "only games in which this name plays")] | None = None
    page: Annotated[int, _whole(1, 100_000, "the number of the page")] = 1
    size: Annotated[int, _whole(1, 100, "games on a page")] = 20


class WaitQuery(Request):
    """The query of a state."""

    since: Annotated[int, _whole(0, _STEPS, "only when the game has come beyond this step")] | None = None
    wait: Annotated[int, _whole(0, int(Limits.wait), "seconds to wait for that, at most")] = 0


_Told = Annotated[bool, Meta(description="true to add what people are told of each event")]


class SeatQuery(WaitQuery):
    """The query of the state of a seat."""

    numbers: Annotated[bool, Meta(description="true to add the observation as numbers")] = False
    view: Annotated[bool, Meta(description="true to add the position drawn in letters")] = False
    told: _Told = False


class EventsQuery(WaitQuery):
    """The query of events."""

    told: _Told = False
    since: Annotated[int, _whole(0, _STEPS, "the number of the first event")] = 0


class PictureQuery(Request):
    """The query of a drawing, or of places in it."""

    narrow: Annotated[bool, Meta(description="true for a drawing about 500 units wide, for a telephone")] = False
    dark: Annotated[bool, Meta(description="true for a drawing in colours for a dark page")] = False


class DrawingQuery(PictureQuery):
    """The query of an answer that may have the next drawing in it."""

    drawing: Annotated[bool, Meta(description="true to add the drawing, what may be clicked in it, and what people are told of events")] = (
        False
    )


class MakeBody(Request):
    """The settings of a game that is made."""

    game: _Game
    players: Annotated[int, _whole(0, 16, "how many play; if it is not given, as many as seats are named, or the usual number")] | None = (
        None
    )
    options: Annotated[dict[str, _Option], Meta(max_length=20, description="the options of its rules")] = {}
    seats: Annotated[
        list[Annotated[str, _text(Limits.policy)]], Meta(max_length=16, description='for each seat "open", or the text of a program')
    ] = []
    public: Annotated[bool, Meta(description="true to list it; else only those who have its address find it")] = True
    turn_seconds: Annotated[int, _whole(1, Limits.turn_seconds, "the time for a decision of a player")] | None = None
    casual: Annotated[bool, Meta(description="true to let a player undo and ask for hints")] = False
    analysis: Annotated[bool, Meta(description="true to let everybody analyse it before it is over")] = False
    called: Annotated[str, _text(Limits.name, "a name for the game")] = ""


class JoinBody(Request):
    """The player who takes a seat."""

    name: _Name
    seat: Annotated[int, _whole(0, 15, "the seat; the first open one if it is not given")] | None = None
    callback: Annotated[str, _text(500, "an address that is called when the seat is to decide")] = ""


class ActBody(Request):
    """A decision, or those of a whole turn."""

    step: _Step
    action: Annotated[_Action, Meta(description="the action, as `legal` of the state has it")] | None = None
    actions: Annotated[list[_Action], Meta(min_length=1, max_length=16, description="or the actions of a whole turn")] | None = None


class StepBody(Request):
    """The step at which something was decided."""

    step: _Step


class AnalysisBody(Request):
    """The search that analyses a position."""

    policy: Annotated[str, _text(Limits.policy, "a search, such as mce(seconds=1)")] = "mce(seconds=1)"


class Nothing(Request):
    """A body without values."""


# Answers


class Error(TypedDict):
    """A mistake."""

    error: str


class Seat(TypedDict):
    """The occupant of a seat. `left` is the reason why the server plays on for it, and `policy` the text of a program."""

    seat: int
    kind: SeatKind
    name: str
    left: NotRequired[str | None]
    policy: NotRequired[str]


class Result(TypedDict):
    """The end of a game: numbers by seat."""

    scores: list[int]
    ranks: list[int]
    wins: list[float]
    margins: list[int]
    finished: bool


class GameBrief(TypedDict):
    """A game, from what the database holds."""

    id: _Id
    game: str
    called: str
    status: Status
    players: int
    options: dict[str, Any]
    seats: list[Seat]
    created: _Time
    updated: _Time
    result: Result | None


class Game(GameBrief):
    """A game in a list."""

    step: int | None
    turn: int | None


class Games(TypedDict):
    """A page of a list."""

    games: list[Game]
    total: int
    page: int
    size: int


class State(GameBrief):
    """The public state of a game."""

    title: str
    step: int
    turn: int | None
    deadline: _Time | None
    scores: list[int]
    hides: bool
    public: bool
    casual: bool
    analysis: bool
    turn_seconds: int


class Joined(TypedDict):
    """The seat that was taken, and its token, which is sent only once."""

    seat: int
    token: str


class Left(TypedDict):
    """The seat that was given back. The table is cancelled if nobody is left at it."""

    seat: int
    cancelled: bool


class Line(TypedDict):
    """A line that people are told of an event. A line about a seat begins with a verb; other seats in it are "player 2"."""

    seat: int | None
    words: str
    summary: str


class Event(TypedDict):
    """An event. Its number and words are null if the viewer may not know them."""

    event: int
    kind: EventKind
    seat: int | None
    number: int | None
    words: str | None
    time: _Time
    told: NotRequired[list[Line]]


class Events(TypedDict):
    """Events in order, and the number of the next one."""

    events: list[Event]
    next: int
    step: int
    status: str
    turn: int | None


class Legal(TypedDict):
    """A legal action. `words` are its notation."""

    action: int
    words: str


class Shape(Legal):
    """A legal action, and the places in the drawing that are clicked for it.

    `meaning` is the action in words that players know. `ghost` is SVG that shows it in the drawing. `button` has the words on a button for
    an action that has no place in the drawing.
    """

    meaning: str
    paths: list[str]
    ghost: NotRequired[str]
    button: NotRequired[str]


class Shapes(TypedDict):
    """The shapes of a drawing, for the seat to move."""

    seat: int | None
    shapes: list[Shape]


class SeatState(State):
    """The state of a game for one seat."""

    seat: int
    legal: list[Legal]
    position: str
    view: NotRequired[str]
    events: list[Event]
    observation: NotRequired[list[float]]
    picture: NotRequired[str]
    shapes: NotRequired[list[Shape]]


class Curve(TypedDict):
    """The points of all seats by step."""

    scores: list[list[int]]


class Candidate(TypedDict):
    """A turn that a search looked at. `words` are its notation, and `meaning` are words that players know."""

    action: int
    words: str
    meaning: str
    visits: int
    share: float
    value: float | None
    half: float | None
    line: str
    actions: list[int]


class Found(TypedDict):
    """The result of a search."""

    unit: str
    value: float | None
    half: float | None
    candidates: list[Candidate]
    cost: dict[str, float]


class Searched(Found):
    """The result of a search of a position."""

    step: int
    seat: int
    policy: str


class Analysis(Searched):
    """The result of a search of a position. `paths` has, for each of the first candidates, its outlines in the drawing."""

    paths: list[list[str]]


class Option(TypedDict):
    """An option of the rules."""

    name: str
    meaning: str
    values: list[str]
    default: str | None


class GameRules(TypedDict):
    """A game that can be played here. `colours` are those of seats."""

    game: str
    title: str
    players: list[int]
    hides: bool
    clickable: bool
    colours: list[str]
    options: list[Option]


class Rules(TypedDict):
    """The games that can be played here."""

    games: list[GameRules]


class Rulebook(TypedDict):
    """The rules of a game in words, as Markdown."""

    game: str
    title: str
    markdown: str


class Offer(TypedDict):
    """A program, and whether it analyses."""

    policy: str
    analyses: bool


class Recommended(Offer):
    """A program of a strength."""

    strength: str


class Listed(Offer):
    """A program with its meaning."""

    name: str
    usage: str
    meaning: str
    group: str
    source: str


class Policies(TypedDict):
    """The programs that play a game."""

    recommended: list[Recommended]
    policies: list[Listed]


class Interval(TypedDict):
    """A mean and its 95 % interval, null if there were too few games."""

    mean: float | None
    low: float | None
    high: float | None


class PlayerRow(TypedDict):
    """The results of a name."""

    name: str
    games: int
    wins: Interval
    margin: Interval
    score: Interval


class PairRow(TypedDict):
    """The results of two names against each other."""

    name: str
    rival: str
    games: int
    ahead: Interval


class TableCount(TypedDict):
    """The number of games at one kind of table: with as many players and the same options, casual or not."""

    table: str
    games: int


class Statistics(TypedDict):
    """Results by name, and head to head, at one kind of table. `tables` lists all kinds, the most frequent first."""

    game: str
    table: str
    games: int
    tables: list[TableCount]
    players: list[PlayerRow]
    pairs: list[PairRow]
