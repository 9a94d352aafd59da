"""Characterisation of every queue discipline: `make evidence NAME=characterize`."""
