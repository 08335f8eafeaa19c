"""Does `v0` still mean what it meant? Games are played again by seed, and what everybody is told is compared with tests/golden/games.json.

The games: each game with every number of players, and with every value of every option (docs/versions.md has what is promised).
`python -m tests.games.test_golden_games` writes the file anew.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kdenv.core.errors import BadOption
from kdenv.core.record import options_text
from kdenv.envs import TableEnv
from kdenv.envs.rewards import REWARDS
from kdenv.games import TITLES, find_game
from kdenv.games.dominion.cards import KINGDOMS, kingdom_names, random_kingdom

FILE = Path(__file__).parents[1] / "golden" / "games.json"
SEED = 17
LONGEST = 400  # decisions; longer games are looked at up to there
# Values of options that cannot be listed, each with a number of players. Of numbers these are the least and the greatest, where mistakes at
# the ends show, and one between. Dominion has every set of the rulebook (so every card is in a supply), kingdoms of fewer cards than ten,
# and random kingdoms, which pin what a seed draws.
FURTHER: dict[str, list[tuple[int, dict[str, Any]]]] = {
    "kingdomino": [
        (4, {"dominoes": 4}),
        (4, {"dominoes": 12}),
        (3, {"dominoes": 3}),
        (3, {"dominoes": 48}),
        (2, {"dominoes": 4}),
        (2, {"dominoes": 48}),
        (2, {"size": 7, "dominoes": 48}),  # the game for two of the rulebook, in which no domino is left out
    ],
    "dominion": [
        *((2, {"kingdom": name}) for name in KINGDOMS if name != "test_bed"),
        (2, {"kingdom": ["Gardens"]}),
        (2, {"kingdom": ["Moat", "Thief", "Spy"]}),
        *((2, {"kingdom": "random", "kingdom_seed": seed}) for seed in (0, 3, 2**62 - 1)),
        *((2, {"max_turns": turns}) for turns in (1, 5, 32000)),
    ],
}
MEANINGS = {
    "play": "the rules, or which game a seed gives",
    "mask": "the legal actions, or what a number of an action means",
    "observation": "what an encoding writes",
    "reward": "a reward",
}
REMEDY = (
    "If this is a mistake, mend it. If it is on purpose: a change of what an encoding writes raises the version of the encoding; any other "
    "change makes the game v1 once kdenv 1.0 is released (docs/versions.md), and until then is told in CHANGELOG.md with the numbers that "
    "move. Then run `python -m tests.games.test_golden_games`, and look at what it changes in tests/golden/games.json."
)


def variants(name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every number of players; every value of an option that is not its default."""
    game = find_game(name)
    for players in game.players:
        yield players, {}
    for option in game.options:
        for value in option.choices:
            if value != option.default:
                yield game.players[0], {option.name: value}
    yield from FURTHER.get(name, [])


def called(players: int, options: dict[str, Any]) -> str:
    return f"{players} players{options_text(options)}"


class Digests(dict[str, Any]):
    """Digests of everything that is told, by what it is."""

    def add(self, what: str, numbers: Any) -> None:
        array = np.rint(1e4 * np.asarray(numbers, np.float64)).astype(np.int64)
        self.setdefault(what, hashlib.sha256()).update(array.tobytes())

    def as_text(self) -> dict[str, str]:
        return {what: digest.hexdigest()[:12] for what, digest in self.items()}


def played(name: str, players: int, options: dict[str, Any]) -> dict[str, str]:
    """The digests of a game with these options, in which a formula chooses the actions."""
    told = Digests()
    for reward in REWARDS:
        env = TableEnv(name, players=players, reward=reward, **options)
        env.reset(seed=SEED)
        drawn = SEED
        for _ in range(LONGEST):
            table, seat = env.table, env.table.seat
            if seat is None:
                break
            legal = table.legal()
            if reward == REWARDS[0]:
                _look(told, env, seat, legal)
            drawn = (drawn * 6364136223846793005 + 1442695040888963407) % 2**64
            env.step(legal[(drawn >> 33) % len(legal)])
            told.add(f"reward {reward}", [env.rewards[agent] for agent in env.possible_agents])
        if reward == REWARDS[0]:
            told.add("play", [*(event.number for event in env.table.events()), *env.table.ranks()])
    return told.as_text()


def _look(told: Digests, env: TableEnv, seat: int, legal: list[int]) -> None:
    told.add("play", [seat, *env.table.scores()])
    told.add("mask", legal)
    for encoding in env.table.game.encodings:
        if encoding.observe.__module__.startswith("kdenv."):  # other tests may have added some
            told.add(f"observation {encoding.name} version {encoding.version}", env.table.observation(seat, encoding.name))


GOLDEN: dict[str, dict[str, dict[str, str]]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def complaint(name: str, variant: str, now: dict[str, str]) -> str:
    """What is different from the file, and what to do; "" if nothing is."""
    golden = GOLDEN[name][variant]
    changed = [what for what in golden if golden[what] != now.get(what)]
    if not changed:
        return ""
    said = ", ".join(dict.fromkeys(MEANINGS[what.partition(" ")[0]] for what in changed))
    return f"{name}, {variant}: {', '.join(changed)} changed, so {said} changed. {REMEDY}"


CASES = [(name, players, options) for name in TITLES for players, options in variants(name)]


@pytest.mark.parametrize("name, players, options", CASES, ids=lambda value: str(value))
def test_a_game_is_told_as_its_version_promises(name: str, players: int, options: dict[str, Any]) -> None:
    assert complaint(name, called(players, options), played(name, players, options)) == ""


@pytest.mark.parametrize("name", TITLES)
def test_every_option_whose_values_cannot_be_listed_is_pinned(name: str) -> None:
    pinned = {option for _, options in FURTHER.get(name, []) for option in options}
    assert {option.name for option in find_game(name).options if not option.choices} <= pinned


def test_every_card_of_dominion_is_in_a_supply() -> None:
    named = [options["kingdom"] for _, options in FURTHER["dominion"] if options.get("kingdom", "random") != "random"]
    assert {card for seed in range(40) for card in random_kingdom(seed)} == {card for kingdom in named for card in kingdom_names(kingdom)}


ENDS = [("kingdomino", "dominoes", 0, 52), ("dominion", "max_turns", 0, 32001), ("dominion", "kingdom_seed", -1, 2**62)]


@pytest.mark.parametrize("name, option, below, above", ENDS)
def test_numbers_are_pinned_at_their_ends(name: str, option: str, below: int, above: int) -> None:
    """A step beyond the least and the greatest of them there is no game. The least seed is the default."""
    step = 4 if option == "dominoes" else 1
    assert {below + step, above - step} <= {options.get(option, 0) for _, options in FURTHER[name]}
    for value in (below, above):
        with pytest.raises(BadOption):
            find_game(name).variant(**{option: value})


def test_no_game_left_the_file() -> None:
    for name in TITLES:
        assert list(GOLDEN[name]) == [called(players, options) for players, options in variants(name)]


@pytest.mark.parametrize("what", ["play", "mask", "reward margin", "observation planes version 1"])
def test_a_change_is_noticed_and_told(what: str) -> None:
    now = {**GOLDEN["kingdomino"]["4 players"], what: "another"}
    said = complaint("kingdomino", "4 players", now)
    assert said.startswith(f"kingdomino, 4 players: {what} changed, so {MEANINGS[what.partition(' ')[0]]} changed. If this is a mistake")


def test_an_encoding_that_is_gone_is_noticed_and_a_new_one_is_not() -> None:
    golden = GOLDEN["kingdomino"]["4 players"]
    assert complaint("kingdomino", "4 players", {**golden, "observation new version 1": "some"}) == ""
    assert "observation planes version 1 changed" in complaint(
        "kingdomino", "4 players", {what: each for what, each in golden.items() if "planes" not in what}
    )


if __name__ == "__main__":
    made = {name: {called(players, options): played(name, players, options) for players, options in variants(name)} for name in TITLES}
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
