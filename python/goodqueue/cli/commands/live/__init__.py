"""Options of commands that measure real paths."""
