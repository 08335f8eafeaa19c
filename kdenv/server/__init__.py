"""The game server: `kdenv serve`. README.md says how it is run, what it answers and what it keeps.

It needs the extra `serve`. Nothing here but settings.py is imported before the command is given, and nothing here knows which game is
played, but kdom.py, which speaks the protocol of the Kingdomino paper.
"""
