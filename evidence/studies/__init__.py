"""Measurements of studies: coverage of intervals, kills, damage and overhead."""
