"""Long trials of the whole program, with real processes: kills, load, bad input. Not installed with it."""
