"""Comparison of goodqueue with ns-2, ns-3 and recordings of Linux."""
