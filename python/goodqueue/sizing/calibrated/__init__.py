"""Calibrated theory: published forms times corrections that were fitted to simulations."""
