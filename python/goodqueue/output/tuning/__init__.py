"""Printing of the answers of `goodqueue tune`."""
