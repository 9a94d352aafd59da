"""`goodqueue analyze`: a capture as tables, JSON, files and a scenario."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.capture_tables import print_analysis
from goodqueue.cli.files import print_written, write_json
from goodqueue.cli.terminal import print_json, progress, stderr, stdout
from goodqueue.errors import RequestError
from goodqueue.outdir import check_output, whole_directory
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


def analyze_capture(
    capture: Capture, *, json: bool, out: Path | None, to_scenario: Path | None
) -> int:
    """Prints what a capture tells, and writes what was asked for."""
    if out is not None:
        check_output(out)
    if to_scenario is not None and not to_scenario.parent.is_dir():
        raise RequestError(
            f"{to_scenario.parent} is not a directory, so {to_scenario} cannot be written"
        )
    analysis = capture.analyze()
    scenario = None if to_scenario is None else _scenario(analysis, capture.file)
    if out is not None:
        _write(analysis, out)
    if json:
        print_json(analysis.summary)
    else:
        print_analysis(analysis, capture.file)
        if out is not None:
            print_written(stdout(), out)
    if to_scenario is not None and scenario is not None:
        to_scenario.write_text(scenario, encoding="utf-8")
        stderr().print(f"wrote {to_scenario}", markup=False)
    return 0


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


def _scenario(analysis: Analysis, file: Path) -> str:
    from goodqueue.passive.scenario import scenario_toml

    text = scenario_toml(analysis, file.name)
    _core.Scenario.parse(text.encode(), f"the scenario of {file}", [])
    return text


def _write(analysis: Analysis, out: Path) -> None:
    from goodqueue.plots.passive import pictures
    from goodqueue.plots.style import save_all

    tables: dict[str, Any] = {
        name: getattr(analysis, name) for name in ("flows", "rtts", "losses", "bursts", "series")
    }
    with whole_directory(out) as directory:
        for name, frame in tables.items():
            frame.write_parquet(directory / f"{name}.parquet")
        save_all(pictures(analysis), directory)
        write_json(directory, analysis.summary)
