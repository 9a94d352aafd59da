"""Reproductions of papers as tables, and as an HTML page with pictures."""
