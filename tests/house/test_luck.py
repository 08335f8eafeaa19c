"""Tests have the same luck every time (tests/conftest.py)."""

import random
import secrets

import gymnasium
import numpy as np
import pytest


def test_what_a_test_does_not_seed_is_drawn_from_its_name(request: pytest.FixtureRequest) -> None:
    chance = random.Random(f"{request.node.nodeid} {request.config.getoption('--luck')}")
    assert np.random.default_rng().random() == np.random.default_rng(chance.getrandbits(128)).random()
    assert gymnasium.utils.seeding.np_random(None)[1] == chance.getrandbits(128)
    assert secrets.token_bytes(8) == chance.randbytes(8)
