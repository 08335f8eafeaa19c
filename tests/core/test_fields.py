"""Do fields accept what they say, and refuse all else with one kind of sentence?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kdenv.core.errors import BadOption
from kdenv.core.fields import LARGEST_SEED, Field, check_fields, declare, fields_of, listing
from kdenv.core.game import Option

DEPTH = Field("depth", type=int, least=1, most=12)
SHARE = Field("share", type=float, least=0, most=1)
TABLE = Field("table", type=bool)
SCORE = Field("score", choices=("wdl", "win", "points"))


@pytest.mark.parametrize(
    "field, value, expected",
    [(DEPTH, 3, 3), (DEPTH, np.int64(3), 3), (DEPTH, 3.0, 3), (SHARE, 1, 1.0), (TABLE, np.True_, True), (SCORE, "win", "win")],
)
def test_a_value_has_the_type_of_its_field(field: Field, value: object, expected: object) -> None:
    found = field.check(value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "field, word, expected", [(DEPTH, "3", 3), (SHARE, "1/4", 0.25), (TABLE, "yes", True), (TABLE, "Off", False), (SCORE, "WIN", "win")]
)
def test_a_text_is_read(field: Field, word: str, expected: object) -> None:
    assert field.read(word) == expected


@pytest.mark.parametrize(
    "field, value, sentence",
    [
        (DEPTH, 0, "depth=0 is not possible; depth is a whole number from 1 to 12"),
        (DEPTH, True, "depth=True is not possible; depth is a whole number from 1 to 12"),
        (DEPTH, 1.5, "depth=1.5 is not possible; depth is a whole number from 1 to 12"),
        (DEPTH, "3", "depth=3 is not possible; depth is a whole number from 1 to 12"),
        (DEPTH, None, "depth=None is not possible; depth is a whole number from 1 to 12"),
        (SHARE, float("nan"), "share=nan is not possible; share is a number from 0 to 1"),
        (TABLE, "no", "table=no is not possible; table may be True or False"),
        (SCORE, "wind", "score=wind is not possible (did you mean win?); score may be wdl, win or points"),
        (SCORE, np.array(["win"]), "score=['win'] is not possible; score may be wdl, win or points"),
        (Field("games", type=int, least=1), 0, "games=0 is not possible; games is a whole number from 1 on"),
        (Field("seed", type=int, least=0, most=LARGEST_SEED), -1, f"seed=-1 is not possible; seed is a whole number from 0 to {2**63 - 1}"),
        (Field("", type=int, least=1, most=9), 0, "0 is not possible; it is a whole number from 1 to 9"),
    ],
)
def test_a_refusal_has_the_name_the_value_and_the_remedy(field: Field, value: object, sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        field.check(value)
    assert str(error.value) == sentence


@pytest.mark.parametrize("field, word", [(DEPTH, "many"), (DEPTH, "inf"), (DEPTH, ""), (SHARE, "1/0"), (TABLE, "maybe"), (SCORE, "")])
def test_a_text_that_means_nothing_is_refused(field: Field, word: str) -> None:
    with pytest.raises(BadOption, match=f"{field.name}={word} is not possible"):
        field.read(word)


@dataclass(frozen=True)
class Plan:
    game: str
    rounds: int = declare("the rounds", default=3, least=1)
    budget: float | None = declare(default=None)
    names: list[str] = declare(default_factory=list, form="a list of names")

    def __post_init__(self) -> None:
        check_fields(self, fields_of(Plan))


def test_the_fields_of_a_dataclass_follow_from_its_type_hints() -> None:
    fields = fields_of(Plan)
    assert [name for name, field in fields.items() if field.is_required] == ["game"]
    assert [name for name, field in fields.items() if field.optional] == ["budget"]
    assert (fields["rounds"].type, fields["rounds"].default, fields["rounds"].meaning) == (int, 3, "the rounds")
    assert Plan("dominoes", rounds=2.0, budget=1).budget == 1.0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"game": 3}, "game=3 is not possible; game is a text"),
        ({"rounds": 0}, "rounds=0 is not possible; rounds is a whole number from 1 on"),
        ({"names": "Ann"}, "names=Ann is not possible; names is a list of names"),
    ],
)
def test_a_dataclass_checks_its_fields(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        Plan(**{"game": "dominoes", **wrong})
    assert str(error.value) == sentence


def test_an_option_of_a_game_may_have_bounds() -> None:
    limit = Option("max_turns", 200, "turns before the game ends", type=int, least=1, most=500)
    assert list(limit.to_integers("50", 2)) == list(limit.to_integers(50, 2)) == [50]
    assert limit.from_integers([50]) == 50
    assert limit.values() == []
    with pytest.raises(BadOption, match="max_turns=501 is not possible; max_turns is a whole number from 1 to 500"):
        limit.to_integers("501", 2)


def test_an_option_without_values_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^the option size has no values; give choices=, type=int or encode="):
        Option("size", 5, "the size")


def test_words_are_listed_as_a_choice() -> None:
    assert [listing(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a or b", "a, b or c"]
