"""Measures how fast everything is on this machine."""
