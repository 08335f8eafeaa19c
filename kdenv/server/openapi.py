"""The OpenAPI description of the API. It is made from the types of the handlers, so that it describes what is checked and answered."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kdenv.server import models
from kdenv.server.web import Route

Schema = dict[str, Any]
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


def describe(routes: list[Route]) -> Schema:
    """The description of all routes."""
    from kdenv import __version__

    used = [each for route in routes for each in (route.query, route.body, route.answer) if isinstance(each, type)]
    types = list(dict.fromkeys([*used, models.Error]))
    found, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(types, found, strict=True))
    asked = {each.__name__ for route in routes for each in (route.query, route.body) if each is not None}  # described at their routes
    paths: Schema = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kdenv",
            "version": __version__,
            "description": "Games that are made, joined, played and watched. A mistake is answered with one sentence in `error`.",
        },
        "paths": paths,
        "components": {
            "schemas": {name: each for name, each in components.items() if name not in asked},
            "securitySchemes": {"seat": {"type": "http", "scheme": "bearer", "description": "the token that joining a game gave"}},
        },
    }


def _operation(route: Route, schemas: dict[Any, Schema], components: Schema) -> Schema:
    query = components[route.query.__name__]
    parameters = [{"name": name, "in": "path", "required": True, "schema": _PARTS[name]} for name in re.findall(r"\{(\w+)\}", route.path)]
    for name, schema in query["properties"].items():
        kind = next((each for each in schema.get("anyOf", ()) if each != {"type": "null"}), schema)  # a query that is not given is null
        given = {key: value for key, value in kind.items() if key not in ("description", "default") or value is not None}
        meaning = given.pop("description", "")
        required = name in query.get("required", ())
        parameters.append({"name": name, "in": "query", "required": required, "description": meaning, "schema": given})
    is_media = isinstance(route.answer, str)
    content = {route.answer: {}} if is_media else {"application/json": {"schema": schemas.get(route.answer, {"type": "object"})}}
    if route.path.endswith("/events"):
        content["text/event-stream"] = {}
    error = {"description": "an error", "content": {"application/json": {"schema": schemas[models.Error]}}}
    operation: Schema = {
        "operationId": route.handler.__name__,
        "summary": (route.handler.__doc__ or "").partition("\n")[0],
        "parameters": parameters,
        "responses": {
            str(route.status): {"description": "done", "content": content},
            **{status: {**error, "description": meaning} for status, meaning in _REFUSALS.items()},
        },
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": components[route.body.__name__]}}}
    if route.token != "none":
        operation["security"] = [{"seat": []}] + ([{}] if route.token == "optional" else [])
    return operation
