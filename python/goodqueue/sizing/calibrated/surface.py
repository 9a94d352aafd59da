"""The fitted table of the package, which the core evaluates."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from goodqueue._core import Predicted, Surfaces

__all__ = ["Predicted", "Surfaces", "surfaces"]


@cache
def surfaces() -> Surfaces:
    """Returns the table of the package."""
    return Surfaces(files(__package__).joinpath("table.npz").read_bytes())
