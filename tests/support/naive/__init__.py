"""Slow, obvious and independent implementations of the rules, which the compiled engines must agree with."""
