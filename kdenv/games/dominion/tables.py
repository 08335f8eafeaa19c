"""Numbers of the printed game that are not on a card: slots, actions, piles, and the kingdoms that the rulebook recommends."""

# A slot is a place in the supply: seven basic piles, then the kingdom sorted by cost, then name.
COPPER, SILVER, GOLD, ESTATE, DUCHY, PROVINCE, CURSE = range(7)
N_BASIC = 7
N_KINGDOM = 10
N_SLOTS = N_BASIC + N_KINGDOM

# Actions. A kind of action about a card has one for each slot: its first action + the slot.
END = 0
PLAY_FIRST = 1
BUY_FIRST = PLAY_FIRST + N_SLOTS
TRASH_FIRST = BUY_FIRST + N_SLOTS
GAIN_FIRST = TRASH_FIRST + N_SLOTS
DISCARD_FIRST = GAIN_FIRST + N_SLOTS
PUT_BACK_FIRST = DISCARD_FIRST + N_SLOTS
YES = PUT_BACK_FIRST + N_SLOTS
NO = YES + 1
N_ACTIONS = NO + 1

HAND_SIZE = 5
START_COPPERS = 7
START_ESTATES = 3
EMPTY_PILES_TO_END = 3

# Victory cards in a pile, by number of players (the index). rules.begin computes the other piles.
N_VICTORY = (0, 8, 8, 12, 12)
N_KINGDOM_PILE = 10
N_CURSES_EACH = 10  # Curses for every player but one
N_COPPERS, COPPERS_EACH, N_SILVERS, N_GOLDS = 60, 7, 40, 30
THESIS_TREASURES = (44, 30, 20)  # Copper, Silver and Gold in the supply of the thesis, for any number of players

KINGDOMS = {
    "test_bed": ("Village", "Woodcutter", "Gardens", "Moneylender", "Remodel", "Smithy", "Festival", "Laboratory", "Market", "Witch"),
    "first_game": ("Cellar", "Market", "Militia", "Mine", "Moat", "Remodel", "Smithy", "Village", "Woodcutter", "Workshop"),
    "big_money": (
        "Adventurer",
        "Bureaucrat",
        "Chancellor",
        "Chapel",
        "Feast",
        "Laboratory",
        "Market",
        "Mine",
        "Moneylender",
        "Throne Room",
    ),
    "interaction": ("Bureaucrat", "Chancellor", "Council Room", "Festival", "Library", "Militia", "Moat", "Spy", "Thief", "Village"),
    "size_distortion": ("Cellar", "Chapel", "Feast", "Gardens", "Laboratory", "Thief", "Village", "Witch", "Woodcutter", "Workshop"),
    "village_square": (
        "Bureaucrat",
        "Cellar",
        "Festival",
        "Library",
        "Market",
        "Remodel",
        "Smithy",
        "Throne Room",
        "Village",
        "Woodcutter",
    ),
    "none": (),
}
