<<<<<<< HEAD
"""Searches and playouts. They are written over the verbs (core/verbs.py), so each works in every game."""
=======
"""Searches and playouts as kernels, each written once over the verbs. No game is named here.

To search a position from Python, make the policy of the search, whose fields are its parameters, and ask it:
`kdenv.policies.Uct(playouts=400).search(view)` returns what was found, with the tree.
"""
>>>>>>> 58d590176410cb37d430b952398dd3909c4775a0
