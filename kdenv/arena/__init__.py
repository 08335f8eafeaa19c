"""Matches: policies play each other on the same deals and from every seat, and statistics say what can be concluded."""

from kdenv.arena.curve import Curve, Plan, read_budget
from kdenv.arena.match import GameFailed, Match, Result, play_game
from kdenv.arena.results import ResultsFile
from kdenv.arena.summary import Row, Summary
from kdenv.arena.workers import play

__all__ = ["Curve", "GameFailed", "Match", "Plan", "Result", "ResultsFile", "Row", "Summary", "play", "play_game", "read_budget"]
