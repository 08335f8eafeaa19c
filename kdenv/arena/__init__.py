"""Matches: policies play each other on the same deals and from every seat, and statistics say what can be concluded."""

from kdenv.arena.match import GameFailed, Match, Result, play_game
from kdenv.arena.results import ResultsFile
from kdenv.arena.summary import Row, Summary
from kdenv.arena.workers import play

__all__ = ["GameFailed", "Match", "Result", "ResultsFile", "Row", "Summary", "play", "play_game"]
