"""Strength of searches as a function of time, with and without networks, and bounds of it."""
