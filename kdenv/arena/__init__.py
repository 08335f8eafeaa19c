"""Who plays whom, on equal deals and from every seat, and what can be concluded from it."""

from kdenv.arena.match import GameFailed, Match, Result, play_game
from kdenv.arena.report import text_table
from kdenv.arena.results import ResultsFile
from kdenv.arena.summary import Row, Summary, table_of
from kdenv.arena.workers import play

__all__ = ["GameFailed", "Match", "Result", "ResultsFile", "Row", "Summary", "play", "play_game", "table_of", "text_table"]
