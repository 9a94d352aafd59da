"""The list of slow tests, `tests/slow.txt`, which `make check` leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("slow.txt")

LIMIT_S = 1.0
"""CPU time of all cases of a test, in seconds, above which the test is slow."""

HEAD = f"""\
# Tests whose cases take more than {LIMIT_S:g} s of CPU time together, with that time in seconds.
# `make check` leaves them out, `make test` runs them, and `make slow` measures them again.
"""


def slow_tests() -> dict[str, float]:
    """Returns the slow tests, by the name of file and function, with their CPU time in seconds."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {name: float(seconds) for name, seconds in map(str.split, lines)}


def write_slow(measured: Mapping[str, float]) -> None:
    """Writes the list."""
    lines = [f"{name} {seconds:.1f}\n" for name, seconds in sorted(measured.items())]
    FILE.write_text(HEAD + "".join(lines))
