"""Defines games in general: states, verbs, chance, tables. It names no game."""
