"""The secrets of players, one for each seat. Only their hashes are kept, and hashes are compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Sequence


def new_token() -> str:
    """A secret of 32 random bytes, as letters that a header can carry."""
    return secrets.token_urlsafe(32)


def new_uuid() -> str:
    """A secret in the form of the paper's protocol: a random UUID."""
    return str(uuid.uuid4())


def hashed(token: str) -> bytes:
    """The hash of a token, which the database keeps. The token is random, so a plain hash cannot be searched."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def seat_of(token: str, hashes: Sequence[bytes | None]) -> int | None:
    """The seat whose hash this token has; None if there is none. Every hash is compared, so that the time does not depend on the token."""
    mine, found = hashed(token), None
    for seat, other in enumerate(hashes):
        if other is not None and hmac.compare_digest(mine, other):
            found = seat
    return found
