"""Searches and playouts as kernels. They use the verbs (core/verbs.py), so each works in every game.

To search a position from Python, make the policy of the search, whose fields are its parameters, and call its method:
`kdenv.policies.Uct(playouts=400).search(view)` returns the result, with the tree. This package is private; kdenv.author has the parts
that authors of searches need.
"""
