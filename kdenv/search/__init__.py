"""Searches and playouts as kernels. They are written over the verbs (core/verbs.py), so each works in every game.

To search a position from Python, make the policy of the search, whose fields are its parameters, and ask it:
`kdenv.policies.Uct(playouts=400).search(view)` returns what was found, with the tree. This room is private; what authors of
searches need of it is in kdenv.author.
"""
