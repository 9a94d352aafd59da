"""The table that is fitted, in the form in which the core reads it."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from goodqueue.sizing.calibrated.surface import Surfaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evidence.rules_on_trial.fitting.network import Floats, Layers

ARRAYS = (
    *("centre", "scale", "offset", "stretch", "ranges"),
    *("widths", "tails", "theory_errors"),
)
"""Parts of the table that are single arrays."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fitted table.

    Attributes:
        members: the networks of the correction.
        spread: the network of the logarithm of the error.
        centre: value subtracted from each group, which is then divided by `scale`.
        scale: see `centre`.
        offset: value added to the networks' outputs times `stretch`.
        stretch: see `offset`.
        ranges: least and largest value of each group that was fitted, shape (groups, 2).
        widths: factors on the errors, by figure, with which 90 % intervals cover 90 %.
        tails: standard errors below and above for the interval of a smallest buffer, by kind of
            link, shape (kinds, 2). They differ, because the simulated smallest buffer is more often
            far above than far below the prediction.
        theory_errors: root mean square error of the published forms alone, for each output.
    """

    members: tuple[Layers, ...]
    spread: Layers
    centre: Floats
    scale: Floats
    offset: Floats
    stretch: Floats
    ranges: Floats
    widths: Floats
    tails: Floats
    theory_errors: Floats

    def surfaces(self) -> Surfaces:
        """Returns the table as the core evaluates it, in double precision."""
        return Surfaces(self.file(np.float64))

    def file(self, precision: type[np.floating[Any]] = np.float32) -> bytes:
        """Returns the bytes of the table's file."""
        arrays: dict[str, Any] = self._arrays(precision)
        file = BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    def _arrays(self, precision: type[np.floating[Any]]) -> dict[str, NDArray[Any]]:
        arrays = {name: np.asarray(getattr(self, name), dtype=precision) for name in ARRAYS}
        for name, layers in (
            *((f"member{place}", member) for place, member in enumerate(self.members)),
            ("spread", self.spread),
        ):
            for depth, (matrix, offset) in enumerate(layers):
                # The core reads rows, which a transposed view would not have.
                arrays[f"{name}.{depth}.matrix"] = np.ascontiguousarray(matrix, dtype=precision)
                arrays[f"{name}.{depth}.offset"] = np.asarray(offset, dtype=precision)
        return arrays
