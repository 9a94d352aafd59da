"""Options of the command line for captures: the files, and the known properties of the link."""

from __future__ import annotations

import csv
import io
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.files.reading import read_bytes
from goodqueue.core.text import shortened
from goodqueue.errors import RequestError, nearest
from goodqueue.output.terminal import progress
from goodqueue.passive import Analysis, analyze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_DROPS_BYTES = 1 << 26
"""Largest log of drops that is read, in bytes."""

MAX_THRESHOLD = 1_000_000_000
"""Largest threshold that is accepted."""

COUNTS = {"least_decreases", "slow_start_segments"}
"""Thresholds that are numbers of samples for an estimate: each is at least one."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Options for the input, as typed; None if absent."""

    file: Path
    after: Path | None = None
    rate: str | None = None
    rate_flag: str = "--link"
    drops: Path | None = None
    thresholds: tuple[tuple[str, str], ...] = ()
    seed: int | None = None

    def files(self) -> list[Path]:
        """Files that are read."""
        return [file for file in (self.file, self.after, self.drops) if file is not None]

    def of_size(self) -> list[str]:
        """Options of `goodqueue size` for the same captures."""
        options = {"--from": self.file, "--after": self.after, "--rate": self.rate}
        return [word for flag, to in options.items() if to is not None for word in (flag, str(to))]

    def analyze(self) -> Analysis:
        """Analyses the capture, with a progress bar if that takes long.

        Raises:
            ScenarioError: if a file is not a capture, or a flag is wrong.
            RequestError: if the drop log or a threshold is wrong.
        """
        rate = None if self.rate is None else _core.parse_rate(self.rate_flag, self.rate)
        drops = None if self.drops is None else read_drops(self.drops)
        with _bar(self.file, self.after) as on_read:
            analysis = analyze(
                self.file,
                after=self.after,
                link_rate_bps=rate,
                drops=drops,
                thresholds={name: _threshold(name, value) for name, value in self.thresholds},
                seed=1 if self.seed is None else self.seed,
                progress=on_read,
            )
        if drops == []:
            note = f"{self.drops} contains no drop, so the link is assumed to have dropped nothing"
            analysis.summary["notes"].insert(0, note)
        return analysis


def read_drops(path: Path) -> list[float]:
    """Returns the times of drops at a link: column `time_s`, or the first, of a CSV file.

    Raises:
        RequestError: with the line that is not a time.
    """
    try:
        text = read_bytes(path, MAX_DROPS_BYTES).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except (csv.Error, UnicodeDecodeError):
        raise RequestError(
            f"{path} is not a drop log, because it is not a text with lines and columns"
        ) from None
    header = [name.strip() for name in rows[0]] if rows else []
    column = header.index("time_s") if "time_s" in header else 0
    times = []
    for number, row in enumerate(rows, 1):
        if not row or (number == 1 and "time_s" in header):
            continue
        time = _number(row[column]) if column < len(row) else None
        if time is None:
            text = shortened(",".join(row))
            raise RequestError(
                f"{path}:{number}: {text!r} has no time; begin each line with seconds on "
                "the capture's clock, or name the column time_s in a header"
            )
        times.append(time)
    return times


def _threshold(name: str, value: str) -> float:
    known = [known for known, _, _ in _core.passive_thresholds()]
    if name not in known:
        hint = nearest(name, known)
        raise RequestError(f"--threshold {name}={value}: unknown threshold {name!r}; {hint}")
    number, least = _number(value), 1 if name in COUNTS else 0
    if number is None or not least <= number <= MAX_THRESHOLD:
        raise RequestError(
            f"--threshold {name}={value}: write a number from {least} to {MAX_THRESHOLD:,}"
        )
    return number


def _number(text: str) -> float | None:
    """Returns a number that is finite and not negative; None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


@contextmanager
def _bar(*files: Path | None) -> Iterator[Callable[[int], None] | None]:
    """Yields a function that shows the number of bytes read, on a terminal."""
    total = sum(file.stat().st_size for file in files if file is not None and file.is_file())
    with progress() as bar:
        task = bar.add_task("reading, MB", total=total / 1e6)
        yield lambda done: bar.update(task, completed=done / 1e6)
