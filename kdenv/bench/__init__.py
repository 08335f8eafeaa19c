"""How fast everything is on this machine, and compiling it ahead."""
