"""A card of Dominion."""

from kdenv.games.dominion import ACTION, Card, add_card

add_card(Card("Toy Shop", 3, (ACTION,), cards=1, actions=1, coins=1, text="+1 card, +1 action, +1 coin"))
