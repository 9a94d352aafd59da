"""Gijsbers and Akkoorath, "Performance simulation of buffer bloat in routers" (2011)."""
