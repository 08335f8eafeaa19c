"""Policies as text: the grammar, parameters, values that have a text, and the searches of papers by name."""
