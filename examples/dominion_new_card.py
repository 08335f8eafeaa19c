"""Adds a card that kdenv does not have, as one row of a table. No kernel is written, and nothing is compiled again.

python examples/dominion_new_card.py

An Armoury gains a card costing up to 4, as a Workshop does, but puts it onto the deck. The state of a table holds the rows of
its cards, so compiled rules, searches and players can play the card at once.
"""

import kdenv
from kdenv.author import make_rng
from kdenv.games.dominion import ACTION, ANY, GAIN, TO_DECK, Card, add_card

add_card(Card("Armoury", 4, (ACTION,), steps=((GAIN, 4, ANY, TO_DECK),), text="Gain a card costing up to 4 onto the deck"))


def main() -> None:
    """Play a kingdom with the new card, and show the table when one has been played."""
    table = kdenv.table("dominion", kingdom=["Armoury", "Village", "Smithy", "Market"])
    players = [kdenv.policy("rollout(epsilon=0)"), kdenv.policy("double_witch")]
    for number, player in enumerate(players):
        player.reset(number)
    rng = make_rng(4)
    table.run_chance(rng)
    words = ""
    while (seat := table.seat) is not None and words != "play Armoury":  # None: the game is over
        action = players[seat].act(table.view(seat))
        words = table.name(action)
        table.decide(action, rng)
    print(table)


if __name__ == "__main__":
    main()
