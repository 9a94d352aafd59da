"""Characterisation of every queue discipline: `python -m research.characterize`."""
