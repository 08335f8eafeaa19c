"""Searches and playouts as kernels, each written once over the verbs. No game is named here.

To search a position from Python, make the policy of the search, whose fields are its parameters, and ask it:
`kdenv.policies.Uct(playouts=400).search(view)` returns what was found, with the tree.
"""
