"""Searches and playouts. They are written over the verbs (core/verbs.py), so each works in every game."""
