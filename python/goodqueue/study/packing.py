"""Metrics as a ledger holds them: only what differs from another run of the same metrics."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

LEVEL = 3
"""Of zlib: higher ones take twice as long for 3 % less."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How the metrics of runs with the same names are written.

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
        """What was packed."""
        return zlib.decompressobj(zdict=self.sample).decompress(blob)

    def metrics(self, blob: bytes) -> dict[str, float]:
        """What was packed, by name."""
        values = self.unpack(blob)
        numbers = struct.unpack(f"<{len(values) // 8}d", values)
        return dict(zip(self.names.split("\n"), numbers, strict=True))
