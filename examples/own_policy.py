"""A custom policy with a parameter, in ten lines. It plays a match.

python examples/own_policy.py

Its name makes it known as text, in Python, as JSON and in the processes of a match. Nothing is compiled.
"""

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import Policy, View, make_rng, named, param


@named("place_in_list")
class PlaceInList(Policy):
    """The legal action at this place of the list."""

    place: int = param("counted from 0; the last action where the list is shorter", default=0, least=0)

    def act(self, view: View) -> int:
        """The action to take; the seat of the view is to move."""
        legal = view.legal()
        return legal[min(self.place, len(legal) - 1)]


def main() -> None:
    """Show the policy as text and as JSON, let it decide once, and let two of it play a match in two processes."""
    policy = kdenv.policy("place_in_list(place=2)")
    assert policy == PlaceInList(place=2) == kdenv.policy(policy.to_json())
    print(policy, policy.to_json())
    table = kdenv.table("kingdomino")
    table.run_chance(make_rng(1))
    if table.seat is not None:  # the seat that decides; None while chance is next, and when the game is over
        print(table.name(policy.act(table.view(table.seat))))
    summary = Summary(Match("kingdomino", [policy, "place_in_list", "random"], games=12, seed=1))
    play(summary.match, on_result=summary.add, processes=2)
    print(summary)


if __name__ == "__main__":
    main()
