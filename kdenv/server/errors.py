"""The mistakes that the server answers with a status and one sentence."""

from __future__ import annotations


class RequestError(Exception):
    """A request that is refused: the HTTP status, and a sentence with the reason and the remedy."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Damaged(RequestError):
    """A game that is damaged in the database. It is set aside, and the log has the reason."""

    def __init__(self, game: str) -> None:
        super().__init__(500, f"game {game} is damaged in the database and set aside; the server's log says why")


class StoreBusy(RequestError):
    """The database cannot be written now. Nothing has changed, so the same request may be sent again."""

    def __init__(self, why: str) -> None:
        super().__init__(503, f"the server cannot write its database now ({why}), so nothing has changed; send the same again later")
