"""Strength by time of searches, with and without networks, and what bounds it."""
