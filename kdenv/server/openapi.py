"""The OpenAPI description of the API. It is made from the routes, so that it describes what is checked, and from the documents below."""

from __future__ import annotations

import re
from typing import Any

from kdenv.server.describe import Fields
from kdenv.server.web import Route

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_WHOLE: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_TIME: Schema = {"type": "string", "format": "date-time"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _known(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_ESTIMATE = _object(mean=_or_null(_NUMBER), low=_or_null(_NUMBER), high=_or_null(_NUMBER))
_BRIEF: dict[str, Schema] = {
    "id": {"type": "string", "format": "uuid"},
    "game": _TEXT,
    "called": _TEXT,
    "status": {"type": "string", "enum": ["waiting", "running", "over"]},
    "players": _WHOLE,
    "options": {"type": "object"},
    "seats": _list(_known("Seat")),
    "created": _TIME,
    "updated": _TIME,
    "result": _or_null(_known("Result")),
    "step": _or_null(_WHOLE),
    "turn": _or_null(_WHOLE),
}
_STATE: dict[str, Schema] = {
    **_BRIEF,
    "title": _TEXT,
    "step": _WHOLE,
    "deadline": _or_null(_TIME),
    "scores": _list(_WHOLE),
    "hides": _FLAG,
    "public": _FLAG,
    "casual": _FLAG,
    "analysis": _FLAG,
    "turn_seconds": _WHOLE,
}
_SHAPE: dict[str, Schema] = {"action": _WHOLE, "words": _TEXT, "paths": _list(_TEXT)}
_DOCUMENTS = {
    "Error": _object(error=_TEXT),
    "Seat": {
        "type": "object",
        "properties": {
            "seat": _WHOLE,
            "kind": {"type": "string", "enum": ["open", "player", "program"]},
            "name": _TEXT,
            "left": _or_null(_TEXT),
        },
        "required": ["seat", "kind", "name"],
    },
    "Result": _object(scores=_list(_WHOLE), ranks=_list(_WHOLE), wins=_list(_NUMBER), margins=_list(_WHOLE), finished=_FLAG),
    "Game": _object(**_BRIEF),
    "Games": _object(games=_list(_known("Game")), total=_WHOLE, page=_WHOLE, size=_WHOLE),
    "State": _object(**_STATE),
    "Joined": _object(seat=_WHOLE, token=_TEXT),
    "Event": _object(
        event=_WHOLE,
        kind={"type": "string", "enum": ["action", "chance", "undo", "left"]},
        seat=_or_null(_WHOLE),
        number=_or_null(_WHOLE),
        words=_or_null(_TEXT),
        time=_TIME,
    ),
    "Events": _object(
        events=_list(_known("Event")), next=_WHOLE, step=_WHOLE, status=_TEXT, turn=_or_null(_WHOLE)
    ),
    "SeatState": {
        "type": "object",
        "properties": {
            **_STATE,
            "seat": _WHOLE,
            "legal": _list(_object(action=_WHOLE, words=_TEXT)),
            "position": _TEXT,
            "view": _TEXT,
            "events": _list(_known("Event")),
            "observation": _list(_NUMBER),
        },
        "required": [*_STATE, "seat", "legal", "position", "view", "events"],
    },
    "Curve": _object(scores=_list(_list(_WHOLE))),
    "Shapes": _object(seat=_or_null(_WHOLE), shapes=_list(_object(**_SHAPE))),
    "Analysis": _object(
        step=_WHOLE,
        seat=_WHOLE,
        policy=_TEXT,
        unit=_TEXT,
        value=_or_null(_NUMBER),
        half=_or_null(_NUMBER),
        candidates=_list(
            _object(action=_WHOLE, words=_TEXT, visits=_WHOLE, share=_NUMBER, value=_or_null(_NUMBER), half=_or_null(_NUMBER), line=_TEXT)
        ),
        cost={"type": "object", "additionalProperties": _NUMBER},
        shapes=_list(_object(**_SHAPE)),
    ),
    "Rules": _object(
        games=_list(
            _object(
                game=_TEXT,
                title=_TEXT,
                players=_list(_WHOLE),
                hides=_FLAG,
                clickable=_FLAG,
                options=_list(_object(name=_TEXT, meaning=_TEXT, values=_list(_TEXT), default=_or_null(_TEXT))),
            )
        )
    ),
    "Policies": _object(
        recommended=_list(_object(strength=_TEXT, policy=_TEXT, analyses=_FLAG)),
        policies=_list(
            _object(name=_TEXT, usage=_TEXT, meaning=_TEXT, group=_TEXT, source=_TEXT, policy=_TEXT, analyses=_FLAG)
        ),
    ),
    "Statistics": _object(
        game=_TEXT,
        games=_WHOLE,
        players=_list(_object(name=_TEXT, games=_WHOLE, wins=_ESTIMATE, margin=_ESTIMATE, score=_ESTIMATE)),
        pairs=_list(_object(name=_TEXT, rival=_TEXT, games=_WHOLE, ahead=_ESTIMATE)),
    ),
}  # fmt: skip
_PARTS = {"id": {"type": "string", "format": "uuid"}, "step": {"type": "integer", "minimum": 0, "maximum": 999_999_999}}
_REFUSALS = {
    "400": "The body is not JSON.",
    "401": "A token is missing.",
    "403": "This may not be done, or not with this token.",
    "404": "There is no such game or step.",
    "405": "The address takes another method.",
    "409": "The game does not allow it now.",
    "413": "The body is too long.",
    "415": "The body is not declared as JSON.",
    "422": "A value is not possible.",
    "429": "Too many requests.",
    "500": "The server has made a mistake, or the game is damaged in its database.",
    "501": "The server lacks an extra that this needs.",
    "503": "The server cannot do it now.",
}


def describe(routes: list[Route]) -> dict[str, Any]:
    """The description of all routes."""
    from kdenv import __version__

    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kdenv",
            "version": __version__,
            "description": "Games that are made, joined, played and watched. A mistake is answered with one sentence in `error`.",
        },
        "paths": paths,
        "components": {
            "schemas": _DOCUMENTS,
            "securitySchemes": {"seat": {"type": "http", "scheme": "bearer", "description": "the token that joining a game gave"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    parameters = [{"name": name, "in": "path", "required": True, "schema": _PARTS[name]} for name in re.findall(r"\{(\w+)\}", route.path)]
    for name, kind in route.query.items():
        schema = kind.schema() | ({} if kind.default is None else {"default": kind.default})
        parameters.append({"name": name, "in": "query", "required": kind.required, "description": kind.meaning, "schema": schema})
    content = {route.gives: {}} if "/" in route.gives else {"application/json": {"schema": _answer(route.gives)}}
    if route.path.endswith("/events"):
        content["text/event-stream"] = {}
    said = {"description": "an error", "content": {"application/json": {"schema": _known("Error")}}}
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.about,
        "parameters": parameters,
        "responses": {
            str(route.status): {"description": "done", "content": content},
            **{status: {**said, "description": meaning} for status, meaning in _REFUSALS.items()},
        },
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(route.body)}}}
    if route.token != "none":
        operation["security"] = [{"seat": []}] + ([{}] if route.token == "optional" else [])
    return operation


def _answer(name: str) -> Schema:
    return _known(name) if name in _DOCUMENTS else {"type": name}


def _body(fields: Fields) -> Schema:
    return {
        "type": "object",
        "properties": {name: kind.schema() | ({"description": kind.meaning} if kind.meaning else {}) for name, kind in fields.items()},
        "required": [name for name, kind in fields.items() if kind.required],
        "additionalProperties": False,
    }
