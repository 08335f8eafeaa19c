"""Makes the pages that are not written by hand: one for each game, the public names, and parts of the READMEs."""
