"""Matches: policies play each other on the same deals and from every seat, and statistics say what can be concluded."""

from kdenv.arena.budget import Budget, budgets
from kdenv.arena.comparison import Comparison, Comparisons, Verdict, compare
from kdenv.arena.match import GameFailed, Match, Result, play_game
from kdenv.arena.results import ResultsFile
from kdenv.arena.summary import Difference, Row, Summary
from kdenv.arena.workers import play

__all__ = [
    "Budget",
    "Comparison",
    "Comparisons",
    "Difference",
    "GameFailed",
    "Match",
    "Result",
    "ResultsFile",
    "Row",
    "Summary",
    "Verdict",
    "budgets",
    "compare",
    "play",
    "play_game",
]
