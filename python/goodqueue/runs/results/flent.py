"""Data files of Flent (format 4) from runs and probes, which Flent plots like its own."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.files.outdir import whole_file
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue._core import Scenario

STEP_S = 0.2
"""Flent's usual step in s, which is also that of the core's throughput."""

Values = list[float | None]


@dataclass(frozen=True, slots=True)
class Test:
    """A test that Flent ships.

    Attributes:
        name: Flent's name of the test.
        upload: names of its uploads, where `{}` is a number from 1.
        download: names of its downloads, where `{}` is a number from 1.
        parameters: parameters of the test.
    """

    name: str
    upload: str
    download: str
    parameters: dict[str, str]


def test_for(uploads: int, downloads: int) -> Test:
    """Returns the test that has these numbers of uploads and downloads."""
    both = {"upload_streams": str(uploads), "download_streams": str(downloads)}
    if downloads == 0:
        return Test("tcp_nup", "TCP upload::{}", "", {"upload_streams": str(uploads)})
    if uploads == 0:
        return Test("tcp_ndown", "", "TCP download::{}", {"download_streams": str(downloads)})
    if uploads == downloads == 4:
        return Test("rrul_be", "TCP upload BE{}", "TCP download BE{}", {})
    return Test("rrul_be_nflows", "TCP upload BE::{}", "TCP download BE::{}", both)


def bulk_flows(scenario: Scenario) -> tuple[list[str], list[str]]:
    """Returns the names of the uploads, and the names of the downloads."""
    link = scenario.links[0]
    bulk = [(name, way) for name, kind, way in scenario.flows() if kind == "bulk"]
    uploads = [name for name, way in bulk if link in way]
    downloads = [name for name, way in bulk if f"{link}.reverse" in way]
    return uploads, downloads


class FlentFile:
    """The data that Flent would have measured in a run: goodput of bulk flows, and pings.

    Bulk flows over the first link are uploads, those over its reverse direction downloads.

    Raises:
        RequestError: if there are neither.
    """

    def __init__(self, scenario: Scenario, target: Path) -> None:
        self._target = target
        self._title = scenario.title
        uploads, downloads = bulk_flows(scenario)
        if not uploads and not downloads:
            link = scenario.links[0]
            raise RequestError(f"Flent's tests need bulk flows over {link}, but there are none")
        self._test = test_for(len(uploads), len(downloads))
        ways = ((self._test.upload, uploads), (self._test.download, downloads))
        self._flows = {
            _numbered(pattern, number): name
            for pattern, names in ways
            for number, name in enumerate(names, 1)
        }
        self._ping = next((name for name, kind, _ in scenario.flows() if kind == "ping"), None)

    def traces(self, folder: Path) -> list[tuple[str, Path]]:
        """Returns the traces that the file is made from, with a file for each in `folder`."""
        wanted = [f"throughput:{flow}" for flow in self._flows.values()]
        if self._ping is not None:
            wanted.append(f"ping:{self._ping}")
        return [(trace, folder / f"{place}.dat") for place, trace in enumerate(wanted)]

    def write(self, folder: Path) -> None:
        """Writes the file from the traces of a finished run."""
        columns = [_read(file) for _, file in self.traces(folder)]
        series = {
            name: ([(time, bits * 1e-6) for time, bits in column], "Mbits/s")
            for name, column in zip(self._flows, columns, strict=False)
        }
        if self._ping is not None:
            series["Ping (ms) ICMP"] = ([(time, rtt * 1e3) for time, rtt in columns[-1]], "ms")
        _write(self._target, _document(self._test, series, self._title))


def write_measured(
    target: Path, title: str, loads: Sequence[tuple[dict[str, Any], list[tuple[float, float]]]]
) -> None:
    """Writes a file of TCP flows that followed one another over a real path, and pings beside them.

    Args:
        target: the file.
        title: title of the measurement.
        loads: figures of each flow (`path` and `goodput_bps`), and the time since its start and the
            RTT of each ping, in seconds.
    """
    begun = 0.0
    goodputs: dict[str, list[tuple[float, float]]] = {}
    pings: list[tuple[float, float]] = []
    for load, rtts in loads:
        name = f"TCP {load['path']}load"
        times = [begun + time for time, _ in rtts]
        goodputs[name] = [(time, load["goodput_bps"] * 1e-6) for time in times]
        pings += [(time, 1e3 * rtt) for time, (_, rtt) in zip(times, rtts, strict=True)]
        begun = max(times, default=begun) + STEP_S
    series = {name: (points, "Mbits/s") for name, points in goodputs.items()}
    series["Ping (ms) ICMP"] = (pings, "ms")
    document = _document(Test("tcp_bidirectional", "", "", {}), series, title)
    document["metadata"]["NOTE"] = "measured by goodqueue probe; a flow's goodput is its mean"
    _write(target, document)


def _numbered(pattern: str, number: int) -> str:
    """Returns the name of a flow; `rrul_be` numbers its flows from the second on."""
    return pattern.format("" if pattern.endswith("BE{}") and number == 1 else number)


def _read(file: Path) -> list[tuple[float, float]]:
    pairs = (line.split() for line in file.read_text(encoding="ascii").splitlines())
    return [(float(time), float(value)) for time, value in pairs]


def _document(
    test: Test, series: dict[str, tuple[list[tuple[float, float]], str]], title: str
) -> dict[str, Any]:
    ends = [time for points, _ in series.values() for time, _ in points]
    steps = math.ceil(max(ends, default=0.0) / STEP_S - 1e-9)
    results: dict[str, Values] = {
        name: _on_grid(points, steps) for name, (points, _) in series.items()
    }
    means = {name: _mean([value for _, value in points]) for name, (points, _) in series.items()}
    meta = {name: {"UNITS": unit, "MEAN_VALUE": means[name]} for name, (_, unit) in series.items()}
    for way in ("upload", "download"):
        flows = [values for name, values in results.items() if name.startswith(f"TCP {way}")]
        if flows:
            sums = [_sum(values) for values in zip(*flows, strict=True)]
            results[f"TCP {way} sum"] = sums
            results[f"TCP {way} avg"] = [
                None if value is None else value / len(flows) for value in sums
            ]
    length = steps * STEP_S
    return {
        "metadata": {
            "NAME": test.name,
            "TITLE": title,
            "NOTE": "simulated by goodqueue",
            "HOST": "simulated",
            "HOSTS": ["simulated"],
            "LOCAL_HOST": "goodqueue",
            "TIME": "1970-01-01T00:00:00.000000Z",
            "T0": "1970-01-01T00:00:00.000000Z",
            "LENGTH": math.ceil(length),
            "TOTAL_LENGTH": math.ceil(length),
            "STEP_SIZE": STEP_S,
            "TEST_PARAMETERS": test.parameters,
            "IP_VERSION": 4,
            "SERIES_META": meta,
        },
        "version": 4,
        "x_values": [round((step + 1) * STEP_S, 6) for step in range(steps)],
        "results": results,
        "raw_values": {
            name: [{"t": time, "val": value} for time, value in points]
            for name, (points, _) in series.items()
        },
    }


def _on_grid(points: Sequence[tuple[float, float]], steps: int) -> Values:
    """Returns the mean of the values in each step; None for a step without values."""
    held: list[list[float]] = [[] for _ in range(steps)]
    for time, value in points:
        # A value at the end of a step belongs to that step.
        place = math.ceil(time / STEP_S - 1e-9) - 1
        held[max(place, 0)].append(value)
    return [_mean(values) for values in held]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known else None


def _write(target: Path, document: dict[str, Any]) -> None:
    with whole_file(target) as path, gzip.open(path, "wt", encoding="utf-8") as out:
        json.dump(document, out, allow_nan=False)
