"""Comparison with ns-3."""
