"""Metrics as a ledger holds them: only what differs from another run of the same metrics."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DOUBLE = struct.Struct("<d")

LEVEL = 3
"""Level of zlib. Higher levels take twice as long for 3 % less."""


@dataclass(frozen=True, slots=True)
class Packing:
    """The format of the metrics of runs that have the same names.

    Attributes:
        id: its number in the ledger.
        names: the names, a line each.
        sample: the values of the first such run, little-endian doubles: zlib's dictionary for the
            others, since much of what runs report is the same in all of them.
    """

    id: int
    names: str
    sample: bytes

    def pack(self, values: bytes) -> bytes:
        """Little-endian doubles, smaller."""
        packer = zlib.compressobj(LEVEL, zdict=self.sample)
        return packer.compress(values) + packer.flush()

    def unpack(self, blob: bytes) -> bytes:
        """Returns the values that were packed."""
        return zlib.decompressobj(zdict=self.sample).decompress(blob)

    def places(self, metrics: Sequence[str]) -> list[int | None]:
        """Places of metrics among the names; None for a name that is not there."""
        known = {name: place for place, name in enumerate(self.names.split("\n"))}
        return [known.get(metric) for metric in metrics]

    def at(self, places: Sequence[int | None], blob: bytes) -> list[float]:
        """The values that were packed, at these places; NaN for a place of None."""
        values = self.unpack(blob)
        return [
            math.nan if place is None else DOUBLE.unpack_from(values, DOUBLE.size * place)[0]
            for place in places
        ]
