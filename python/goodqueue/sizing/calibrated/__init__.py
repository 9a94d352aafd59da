"""Calibrated theory: published forms times corrections that were fitted to simulations."""

from __future__ import annotations

from goodqueue.sizing.calibrated.smallest import Calibrated, bracket, calibrated

__all__ = ["Calibrated", "bracket", "calibrated"]
