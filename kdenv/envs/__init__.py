"""Environments for PettingZoo and Gymnasium: the only room that imports them. Nothing in it knows a game."""
