"""What the drawings of all games share: letters as shapes."""
