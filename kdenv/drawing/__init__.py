"""Drawing: letters and shapes that the drawings of all games share, charts, and HTML pages."""
