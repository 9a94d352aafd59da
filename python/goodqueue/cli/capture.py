"""Captures as the command line names them: which files, and what is known of the link."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.cli.terminal import progress
from goodqueue.errors import RequestError
from goodqueue.passive import Analysis, analyze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Capture:
    """What is read, as typed; None where absent."""

    file: Path
    after: Path | None = None
    rate: str | None = None
    rate_flag: str = "--link"
    drops: Path | None = None
    thresholds: tuple[tuple[str, str], ...] = ()
    seed: int | None = None

    def of_size(self) -> list[str]:
        """The options of `goodqueue size` that ask of the same captures."""
        options = {"--from": self.file, "--after": self.after, "--rate": self.rate}
        return [word for flag, to in options.items() if to is not None for word in (flag, str(to))]

    def analyze(self) -> Analysis:
        """Reads it, with a progress bar where it takes long.

        Raises:
            ScenarioError: of what is no capture, or of a flag.
            RequestError: of a drop log or a threshold that is none.
        """
        rate = None if self.rate is None else _core.parse_rate(self.rate_flag, self.rate)
        drops = None if self.drops is None else read_drops(self.drops)
        with _bar(self.file, self.after) as on_read:
            return analyze(
                self.file,
                after=self.after,
                link_rate_bps=rate,
                drops=drops,
                thresholds={name: _number(name, value) for name, value in self.thresholds},
                seed=1 if self.seed is None else self.seed,
                progress=on_read,
            )


def read_drops(path: Path) -> list[float]:
    """When a link dropped a packet: the column `time_s`, or the first, of a CSV file.

    Raises:
        RequestError: with the line that is no time.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    header = [name.strip() for name in rows[0]] if rows else []
    column = header.index("time_s") if "time_s" in header else 0
    times = []
    for number, row in enumerate(rows, 1):
        if not row or (number == 1 and "time_s" in header):
            continue
        try:
            times.append(float(row[column]))
        except (ValueError, IndexError):
            text = ",".join(row)
            raise RequestError(
                f"{path}:{number}: {text!r} has no time; each line begins with seconds on the "
                "capture's clock, or a header names the column time_s"
            ) from None
    return times


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise RequestError(f"--threshold {name}={value}: write a number") from None


@contextmanager
def _bar(*files: Path | None) -> Iterator[Callable[[int], None] | None]:
    """What is to be called with the bytes read; nothing where nobody looks."""
    total = sum(file.stat().st_size for file in files if file is not None and file.is_file())
    with progress() as bar:
        task = bar.add_task("reading, MB", total=total / 1e6)
        yield lambda done: bar.update(task, completed=done / 1e6)
