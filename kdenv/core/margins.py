"""Compares the points of a seat with those of other teams. The team of a seat is the seat modulo the number of teams."""

from kdenv.compiler.kernel import kernel


@kernel
def best_rival(points, seat, teams):
    """Return the most points that a seat of another team has; 0 if there is no other team."""
    best, found = 0, False
    for other in range(points.shape[0]):
        if (other - seat) % teams != 0 and (not found or points[other] > best):
            best, found = points[other], True
    return best


@kernel
def share_of_win(standings, seat, teams):
    """Return 1 for the best team, 1/k for each of k teams that share first place, and 0 for all others."""
    n_best = 0
    for other in range(standings.shape[0]):
        if standings[other] > standings[seat]:
            return 0.0
        if standings[other] == standings[seat]:
            n_best += 1
    return standings.shape[0] / (n_best * teams)
