"""Results for people: text on a terminal, progress, and HTML pages."""
