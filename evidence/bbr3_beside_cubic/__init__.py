"""Measures BBRv3 beside CUBIC, by itself, and in its start-up."""
