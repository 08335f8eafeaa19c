"""Policies as text: the grammar, what a parameter may be, values with names, and the named searches of the papers."""
