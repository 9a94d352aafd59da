"""Encoding of metrics in a ledger: only differences from another run with the same metrics."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DOUBLE = struct.Struct("<d")

LEVEL = 6
"""Level of zlib, which is its default."""


@dataclass(frozen=True, slots=True)
class Packing:
    """The format of the metrics of runs that have the same names.

    Attributes:
        id: its number in the ledger.
        names: the names, one per line.
        sample: the values of the first such run, little-endian doubles: zlib's dictionary for the
            others, because many values are the same in all runs.
    """

    id: int
    names: str
    sample: bytes

    def pack(self, values: bytes) -> bytes:
        """Returns the compressed form of little-endian doubles."""
        packer = zlib.compressobj(LEVEL, zdict=self.sample)
        return packer.compress(values) + packer.flush()

    def unpack(self, blob: bytes) -> bytes:
        """Returns the values that were packed."""
        return zlib.decompressobj(zdict=self.sample).decompress(blob)

    def places(self, metrics: Sequence[str]) -> list[int | None]:
        """Returns the indices of metrics among the names; None for unknown names."""
        known = {name: place for place, name in enumerate(self.names.split("\n"))}
        return [known.get(metric) for metric in metrics]

    def at(self, places: Sequence[int | None], blob: bytes) -> list[float]:
        """Returns the packed values at these indices; NaN for an index of None."""
        values = self.unpack(blob)
        return [
            math.nan if place is None else DOUBLE.unpack_from(values, DOUBLE.size * place)[0]
            for place in places
        ]
