"""Stub."""
from kdenv.core.kernel import kernel
@kernel
def observe(states, k, seat, out):
    """Stub."""
