"""Compares `htb` with that of a kernel: trees that are drawn, packets that all wait."""
