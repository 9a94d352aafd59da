"""Tables of runs on the terminal."""
