"""The page: files of the folder `page`, read when the server starts. Nothing else on the disk can be requested."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.responses import Response

from kdenv.server.web import Call, Handler, Route

_FOLDER = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def routes() -> list[Route]:
    """A route for every file of the page; index.html is at /."""
    files = sorted(path for path in _FOLDER.iterdir() if path.suffix in _TYPES)
    return [Route("GET", _address(path), _giver(path), answer=_TYPES[path.suffix]) for path in files]


def _address(path: Path) -> str:
    return "/" if path.name == "index.html" else f"/{path.name}"


def _giver(path: Path) -> Handler:
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}

    async def give(call: Call) -> Response:
        if call.request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=_TYPES[path.suffix], headers=headers)

    return give
