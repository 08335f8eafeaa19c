"""Networks in kernels: what they compute, players that follow them, and how they learn. They know the verbs and no game."""
