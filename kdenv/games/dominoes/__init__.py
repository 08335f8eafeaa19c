"""Team dominoes: four hands, two teams, the double-six set. README.md has the rules as implemented."""

from kdenv.core.game import Game, Option
from kdenv.core.questions import Hidden, Knowledge, Measured
from kdenv.games.dominoes import belief, drawing, encoding, notation, rules
from kdenv.games.dominoes.belief import paper_deals
from kdenv.games.dominoes.heuristics import RULE_PLAYERS
from kdenv.games.dominoes.imagined_play import BELIEFS
from kdenv.games.dominoes.match_columns import DETAILS
from kdenv.games.dominoes.opponent_model import likely_deals
from kdenv.games.dominoes.solver import alpha_beta
from kdenv.games.dominoes.tables import N_ACTIONS, N_TILES, RULES

__all__ = ["GAME"]

# The policies behind `strongest`; the matches that chose them are in README.md. The network was trained on single rounds, so the
# last row is for whole matches.
STRONGEST = (
    Measured(0.001, "ismcts(rivals=greedy, doubt=0.03, playout=epsilon_greedy, seconds={seconds})"),
    Measured(0, "learned(dominoes)"),
    Measured(0, "greedy"),
)

GAME = Game(
    name="dominoes",
    title="Dominoes",
    room=(rules, belief),
    players=(4,),
    options=(
        Option("rules", "paper", "the preset: how rounds end and are scored, who leads, the points of a match", RULES),
        Option("mode", "match", "rounds until a team has the points that end the match, or a single round", ("match", "round")),
        Option("lead", "rules", "who leads the first round: by the preset, or drawn by lot before the deal", ("rules", "drawn")),
        Option("force_66", True, "the holder of 6-6, where it leads the first round, must open with it", (True, False)),
        Option("calls", False, "a seat may pass although it could play, and be called on it", (True, False)),
    ),
    notation=notation,
    drawing=drawing,
    encodings=encoding.ENCODINGS,
    n_actions=lambda players, variant: N_ACTIONS,
    max_legal=64,
    max_turns=64,
    max_chances=N_TILES,
    knowledge=Knowledge(
        players=RULE_PLAYERS,
        greedy="greedy",
        strongest=STRONGEST,
        hidden=Hidden(
            solver=alpha_beta,
            turns_so_far=lambda states, k: int(states[k]["n_turns"]),
            unit="points",
            most_turns=rules.MOST_TURNS,
            dealers={"paper": paper_deals},
            beliefs=BELIEFS,
            likely=likely_deals,
        ),
    ),
    teams=lambda players: 2,
    most_decisions=1,
    details=DETAILS,
)
