"""Comparison with recordings of Linux."""
