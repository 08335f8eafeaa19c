"""Agents at the table, as Python sees them: they get a View and answer with an action."""

from kdenv.policies.base import Policy, TurnPolicy
from kdenv.policies.parse import listing, policy

__all__ = ["Policy", "TurnPolicy", "listing", "policy"]
