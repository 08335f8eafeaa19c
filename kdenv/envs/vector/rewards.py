"""The rewards of envs/rewards.py as kernels: they give the same numbers."""

from __future__ import annotations

from kdenv.compiler.kernel import kernel

KINDS = ("rank", "margin", "score")
RANK, MARGIN, SCORE = range(3)


@kernel
def write_rewards(world, was_cut_off, standings, scores, out):
    """Write the reward of each seat for a game with these standings and scores; all are 0 if a limit ended the game."""
    teams = world.teams
    if was_cut_off or (world.reward == RANK and teams == 1):
        out[:] = 0.0
    elif world.reward == RANK:
        best, n_best = standings[0], 0
        for team in range(teams):
            best = max(best, standings[team])
        for team in range(teams):
            n_best += 1 if standings[team] == best else 0
        for each in range(out.shape[0]):
            out[each] = ((teams / n_best if standings[each] == best else 0.0) - 1) / (teams - 1)
    elif world.reward == SCORE:
        for each in range(out.shape[0]):
            out[each] = scores[each] / world.scale
    else:
        for each in range(out.shape[0]):
            out[each] = (scores[each] - _best_other(scores, each % teams, teams)) / world.scale


@kernel
def _best_other(scores, mine, teams):
    """The points of the best team but this one; 0 if there is no other."""
    best, n = 0, 0
    for team in range(teams):
        if team != mine:
            best = scores[team] if n == 0 else max(best, scores[team])
            n += 1
    return best


@kernel
def write_forfeit(world, me, out):
    """Write the rewards after an illegal action of seat `me`."""
    for each in range(out.shape[0]):
        out[each] = -1.0 if each % world.teams == me % world.teams else 1 / (world.teams - 1)
