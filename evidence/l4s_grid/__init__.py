"""Runs Prague beside CUBIC over DualPI2 on a grid of 500 points."""
