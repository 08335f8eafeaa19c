"""What is true of any game: states, verbs, chance, tables. No game is named here."""
