"""Sizing a buffer: requirements, the search for the smallest, and its export to Linux."""
