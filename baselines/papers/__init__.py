"""The numbers of the five papers, each paper a module: what it claims, and the command that measures the same here."""
