"""Options of the commands that run scenarios."""
