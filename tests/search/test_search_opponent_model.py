"""Do searches that are told who their rivals are draw hidden tiles in the right proportion, from what they may see, and play better?"""

import random
from collections import Counter
from itertools import product

import pytest
from naive.dominoes import CALL, PASS, TILES, Dominoes, fits, tile_of
from naive.dominoes_deals import consistent_deals, ends_before_each_turn, laid_by
from test_search_hidden import RULES, rounds, score_against, view_of

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.questions import deal
from kdenv.core.table import Table
from kdenv.core.verbs import resample_hidden_at
from kdenv.games import find_game
from kdenv.games.dominoes import opponent_model
from kdenv.games.dominoes.opponent_model import weight_of
from kdenv.games.dominoes.tables import BIT_OF_TILE
from kdenv.policies import Policy, policy

GAME = find_game("dominoes")


@kernel
def weight_at(dealer, states, seat, rng):
    return weight_of(dealer, states[0], seat, rng)


Hand = frozenset[tuple[int, int]]


def ways_to_lay(hand: set[tuple[int, int]], ends: tuple[int, int] | None) -> list[tuple[int, int]]:
    """The tile of each legal action, for a hand without a pass: a tile that fits two different ends is there twice."""
    if ends is None:
        return sorted(hand)
    return [tile for tile, end in product(sorted(hand), set(ends)) if end in tile]


def weight(history: list[tuple[int, int]], seat: int, hands: dict[int, Hand], doubt: float) -> float:
    """How probable these hands make the turns of the rivals of a seat, if they lay the heaviest tile, or any with this doubt."""
    held = {player: {*hand, *laid_by(history, player)} for player, hand in hands.items()}
    found = 1.0
    for (player, action), ends in zip(history, ends_before_each_turn(history), strict=True):
        if player == seat:
            continue
        if action < PASS and (player - seat) % 2:
            ways = ways_to_lay(held[player], ends)
            heaviest = [tile for tile in ways if sum(tile) == max(map(sum, ways))]
            found *= doubt / len(ways) + (1 - doubt) * heaviest.count(tile_of(action)) / len(heaviest) if len(ways) > 1 else 1.0
        if action < PASS:
            held[player].remove(tile_of(action))
    return found


def shares(history: list[tuple[int, int]], seat: int, game: Dominoes, doubt: float) -> dict[tuple[Hand, ...], float]:
    """The probability of every consistent deal, as the hands of the other seats in their order."""
    deals = consistent_deals(history, seat, game.hands[seat], holder_of_66=game.known_holder_of_66())
    weights = {tuple(each[player] for player in sorted(each)): weight(history, seat, each, doubt) for each in deals}
    total = sum(weights.values())
    return {hands: found / total for hands, found in weights.items()}


def drawn(table: Table, seat: int, player: Policy, n: int, searches: int = 1) -> Counter[tuple[Hand, ...]]:
    """How often each deal is drawn in so many searches with n draws each."""
    dealer, states, rng = player.dealer(view_of(table)), table.states.copy(), make_rng(5)  # type: ignore[attr-defined]
    found: Counter[tuple[Hand, ...]] = Counter()
    for i in range(n * searches):
        if i % n == 0:
            dealer.weight[0] = opponent_model._NO_DEAL  # the dealer of a new search
        states[0] = table.states[0]
        deal(dealer, states, 0, seat, rng)
        others = (int(states[0]["hands"][other]) for other in range(4) if other != seat)
        found[tuple(frozenset(tile for tile, bit in zip(TILES, BIT_OF_TILE, strict=True) if hand >> int(bit) & 1) for hand in others)] += 1
    return found


def distance(found: Counter[tuple[Hand, ...]], expected: dict[tuple[Hand, ...], float]) -> float:
    """The total variation between what was drawn and what is expected."""
    n = found.total()
    return sum(abs(found[hands] / n - expected.get(hands, 0.0)) for hands in found.keys() | expected.keys()) / 2


@pytest.mark.cold
@pytest.mark.parametrize("doubt", [0.05, 0.3, 1.0])
def test_deals_are_drawn_as_they_make_the_turns_of_rivals_probable(doubt: float) -> None:
    unlike = 0
    for table, game in rounds(12, 10):
        seat = game.seat()
        expected = shares(game.history, seat, game, doubt)
        found = drawn(table, seat, policy(f"ismcts(rivals=greedy, doubt={doubt})"), 20_000)
        assert distance(found, expected) < 0.05, str(game)
        alike = dict.fromkeys(expected, 1 / len(expected))
        unlike += distance(found, alike) > 0.2
    assert unlike > 4


def test_the_first_deal_of_a_search_is_as_likely_as_all_others() -> None:
    for table, game in rounds(4, 10):
        found = drawn(table, game.seat(), policy("ismcts(rivals=greedy, doubt=0.05)"), 1, searches=1000)
        assert distance(found, shares(game.history, game.seat(), game, 0.05)) < 0.1, str(game)


@pytest.mark.parametrize("doubt", [0.05, 0.3])
def test_a_deal_weighs_what_it_makes_the_turns_of_rivals_probable(doubt: float) -> None:
    """A rival who lays the heaviest tile at the other end has laid the heaviest tile. Hands with two heaviest tiles are left out."""
    at_other_end = 0
    for table, game in rounds(60, 10):
        seat, probable, before = game.seat(), 1.0, ends_before_each_turn(game.history)
        held = [{*hand, *laid_by(game.history, player)} for player, hand in enumerate(game.hands)]
        for (player, action), ends in zip(game.history, before, strict=True):
            ways = [] if action == PASS else ways_to_lay(held[player], ends)
            if (player - seat) % 2 and len(ways) > 1:
                heaviest = [tile for tile in ways if sum(tile) == max(map(sum, ways))]
                if len(set(heaviest)) > 1:
                    break
                probable *= doubt / len(ways) + (1 - doubt) * (tile_of(action) == heaviest[0])
                at_other_end += len(heaviest) == 2 and tile_of(action) == heaviest[0]
            held[player] -= {tile_of(action)} if action != PASS else set()
        else:
            dealer = policy(f"ismcts(rivals=greedy, doubt={doubt})").dealer(view_of(table))  # type: ignore[attr-defined]
            assert weight_at(dealer, table.states, seat, make_rng(1)) == pytest.approx(probable), str(game)
    assert at_other_end > 3


def test_actions_are_alike_if_they_lay_the_same_tile() -> None:
    """Action 7 * c + e covers c with the tile c-e; a pass and a call are like nothing else."""

    def laid(action: int) -> object:
        return frozenset(divmod(action, 7)) if action < PASS else action

    for one, other in product(range(CALL + 1), repeat=2):
        assert opponent_model._is_same_tile(one, other) == (laid(one) == laid(other)), (one, other)


def test_random_rivals_take_every_legal_turn_alike() -> None:
    for table, game in rounds(12, 10):
        seat = game.seat()
        found = drawn(table, seat, policy("ismcts(rivals=random)"), 20_000)
        assert distance(found, shares(game.history, seat, game, doubt=1.0)) < 0.05, str(game)


@pytest.mark.parametrize(
    ("rules", "calls"), [(rules, calls) for rules in RULES for calls in (False, True) if rules != "openspiel" or not calls]
)
def test_the_round_played_again_comes_to_the_position_that_there_is(rules: str, calls: bool) -> None:
    dealer = policy("ismcts(rivals=greedy)").dealer(view_of(rounds(1, 16)[0][0]))  # type: ignore[attr-defined]
    met = 0
    for seed in range(8):
        dice, rng, table = random.Random(seed), make_rng(seed), Table(GAME, rules=rules, calls=calls)
        table.run_chance(rng)
        while not table.over:
            if len(table.legal()) > 1:
                weight_at(dealer, table.states, int(table.seat or 0), rng)
                assert dealer.past[0] == table.states[0]
                met += 1
            table.decide(dice.choice(table.legal()), rng)
    assert met > 50


def test_what_a_seat_lacks_it_is_never_dealt() -> None:
    for table, game in rounds(8, 16):
        seat, found = game.seat(), drawn(table, game.seat(), policy("pimc(rivals=greedy)"), 200)
        for hands in found:
            for player, hand in zip((other for other in range(4) if other != seat), hands, strict=True):
                passed_on = [
                    ends
                    for (mover, action), ends in zip(game.history, ends_before_each_turn(game.history), strict=True)
                    if mover == player and action == PASS
                ]
                assert not any(fits(tile, ends) for tile in hand for ends in passed_on)


@pytest.mark.parametrize(
    "text", ["ismcts(playouts=200, rivals=greedy)", "pimc(playouts=10, alpha=4, rivals=greedy)", "flat_deals(playouts=10, rivals=greedy)"]
)
def test_nobody_peeks(text: str) -> None:
    player = policy(text)
    for table, _ in rounds(10, 18):
        chosen = set()
        for seed in range(4):
            other = table.clone()
            resample_hidden_at(other.states, 0, int(table.seat or 0), make_rng(seed))
            player.reset(7)
            chosen.add(player.act(view_of(other, table.seat)))
        assert len(chosen) == 1


def test_searches_draw_by_rivals() -> None:
    """The same search with the same seed finds other worths, in most positions."""
    for text in ("ismcts(playouts=300{})", "pimc(playouts=20, alpha=4{})", "flat_deals(playouts=20{})"):
        different = 0
        for table, _ in rounds(10, 16):
            found = []
            for rivals in ("", ", rivals=greedy"):
                player = policy(text.format(rivals))
                player.reset(3)
                found.append([candidate.mean for candidate in player.search(view_of(table)).candidates])
            different += found[0] != found[1]
        assert different > 5, text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("uct(playouts=9, rivals=greedy)", "rivals=greedy is not possible with chance=sampled, which draws what is hidden once"),
        ("ismcts(doubt=0.2)", "doubt=0.2 is about the player that opponents are assumed to be; give rivals=, too"),
        ("ismcts(rivals=greedy, doubt=0)", "doubt=0 is not possible"),
        ("pimc(rivals=greedy, deals=paper)", "deals=paper is not possible with rivals, which say themselves how hidden things are drawn"),
        ("ismcts(rivals=nobody)", "nobody"),
    ],
)
def test_parameters_that_are_not_possible(text: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        policy(text)


def test_games_and_players_that_cannot_tell() -> None:
    kingdomino = Table(find_game("kingdomino"))
    kingdomino.run_chance(make_rng(1))
    with pytest.raises(NotSupported, match="rivals=random is not possible in kingdomino, which infers nothing from turns; in dominoes it"):
        policy("ismcts(rivals=random)").act(view_of(kingdomino))
    table, _ = rounds(1, 16)[0]
    with pytest.raises(BadOption, match="rivals=player_greedy is not possible; give a player that has a compiled form"):
        policy("ismcts(rivals=player_greedy)").act(view_of(table))


@pytest.mark.slow
def test_against_greedy_it_helps_to_know_that_they_are() -> None:
    """1,000 shared rounds each. Measured with 4,000 rounds and 6,000 playouts: 79 % with, 75 % without (README of dominoes)."""
    text = "ismcts(playouts=3000{})"
    with_rivals, _ = score_against(text.format(", rivals=greedy, playout=epsilon_greedy"), "greedy", 250)
    without, _ = score_against(text.format(""), "greedy", 250)
    assert with_rivals > without
