"""The game server: `kdenv serve`. README.md describes its operation, its answers and its data.

It needs the extra `serve`. Only settings.py is imported before the command is given. Only kdom.py, which speaks the protocol of
the Kingdomino paper, depends on a game.
"""
