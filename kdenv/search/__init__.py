"""Searches and playouts, each written once over the verbs. No game is named here."""
