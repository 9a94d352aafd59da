"""Options of the commands that compute a buffer."""
