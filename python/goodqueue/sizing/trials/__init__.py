"""Scenarios of a link behind any limit, and the figures that a search reads of their runs."""
