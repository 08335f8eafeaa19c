"""Is tanh in kernels near enough to the real one, everywhere?"""

import numpy as np

from kdenv.networks.network import TANH, _activate


def activated(numbers: np.ndarray) -> np.ndarray:
    out = numbers.astype(np.float32)
    _activate(TANH, out, len(out))
    return out


def test_tanh_is_near_the_real_one() -> None:
    x = np.concatenate([np.linspace(-12, 12, 4001), np.geomspace(1e-30, 1e30, 601), -np.geomspace(1e-30, 1e30, 601)]).astype(np.float32)
    np.testing.assert_allclose(activated(x), np.tanh(x.astype(float)), rtol=5e-7, atol=0)


def test_tanh_of_what_is_no_number_is_none() -> None:
    assert activated(np.array([0.0, np.inf, -np.inf])).tolist()[0] == 0
    assert np.abs(activated(np.array([np.inf, -np.inf])) - [1, -1]).max() < 5e-7
    assert np.isnan(activated(np.array([np.nan]))).all()
