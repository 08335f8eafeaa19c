"""Who plays whom, on equal deals and from every seat, and what can be concluded from it."""

from kdenv.arena.match import Match, Result, play, table_of
from kdenv.arena.report import text_table

__all__ = ["Match", "Result", "play", "table_of", "text_table"]
