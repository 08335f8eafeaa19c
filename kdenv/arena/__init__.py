"""Who plays whom, on equal deals and from every seat, and what can be concluded from it."""
