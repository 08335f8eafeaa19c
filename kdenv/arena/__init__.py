"""Matches: policies play each other on the same deals and from every seat, and statistics say what can be concluded."""

from kdenv.arena.breakdown import Breakdown
from kdenv.arena.comparison import Comparison, Comparisons, Verdict, compare
from kdenv.arena.curve import Curve, CurveBudget, CurvePlan, read_budget, read_budgets
from kdenv.arena.evaluation import Evaluation, EvaluationRow, evaluate
from kdenv.arena.ladder import Ladder, climb, merge_ladders, read_entry, read_ladder
from kdenv.arena.ladder_checks import check_entry, verify_row
from kdenv.arena.league import League, read_league
from kdenv.arena.league_games import league, merge
from kdenv.arena.load import read
from kdenv.arena.match import GameFailed, Match, Result, play_game, processor_time
from kdenv.arena.results import ResultsFile
from kdenv.arena.standings import Standing, Standings
from kdenv.arena.statistics import DealSums, Estimate
from kdenv.arena.summary import Difference, PolicyRow, Summary
from kdenv.arena.workers import play

__all__ = [
    "Breakdown",
    "Comparison",
    "Comparisons",
    "Curve",
    "CurveBudget",
    "CurvePlan",
    "DealSums",
    "Difference",
    "Estimate",
    "Evaluation",
    "EvaluationRow",
    "GameFailed",
    "Ladder",
    "League",
    "Match",
    "PolicyRow",
    "Result",
    "ResultsFile",
    "Standing",
    "Standings",
    "Summary",
    "Verdict",
    "check_entry",
    "climb",
    "compare",
    "evaluate",
    "league",
    "merge",
    "merge_ladders",
    "play",
    "play_game",
    "processor_time",
    "read",
    "read_budget",
    "read_budgets",
    "read_entry",
    "read_ladder",
    "read_league",
    "verify_row",
]
