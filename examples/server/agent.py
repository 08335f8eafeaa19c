"""An agent that plays a seat on a game server, in plain Python. It prefers some words in actions.

python examples/server/agent.py http://127.0.0.1:8000 GAME NAME

GAME is the id of a game with an open seat, which the page shows and `POST /api/v1/games` answers. The agent waits until the game begins
and plays to its end.
"""

import sys

from kdenv.client import Seat

LIKED = ("witch", "gold", "province", "city", "cloister", "place", "pick")  # the first word of these that an action has decides


def choose(state: dict) -> int:
    """The preferred legal action. Each is a number and its words."""

    def rank(legal: dict) -> int:
        words = legal["words"].lower()
        return next((place for place, word in enumerate(LIKED) if word in words), len(LIKED))

    return min(state["legal"], key=rank)["action"]


def main() -> None:
    """Join, play, and print the result."""
    url, game, name = sys.argv[1:]
    seat = Seat.join(url, game, name)
    end = seat.play(choose)
    print(f"{name} in seat {seat.seat}: {end['scores'][seat.seat]} points, place {end['result']['ranks'][seat.seat]}")


if __name__ == "__main__":
    main()
