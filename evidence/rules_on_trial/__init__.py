"""Simulation of every rule's buffer, and the calibrated theory that follows from it."""
