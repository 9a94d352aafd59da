"""The throughput of flows over time, which the core writes to files during a run."""

from __future__ import annotations

import math
import tomllib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from goodqueue.unfinished import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goodqueue._core import Scenario

BIN_S = 0.2
"""Length of the intervals of the throughput trace, in s; each has one value."""

TO_THE_SERVER = {"bulk", "echo", "transfers", "cbr", "poisson", "bursts", "on_off", "voice"}
"""Workloads whose data go to the server. The trace does not count the other direction."""

MOST_MEASURED = 64
"""Largest number of flows whose throughput is recorded, because each keeps a file open."""

SCHEMA = {"time_s": pl.Float64, "throughput_bps": pl.Float64}


class Throughput:
    """The throughput files of a run's flows.

    Attributes:
        traces: name and file of each flow's trace, for the core.
    """

    def __init__(self, flows: list[str], folder: Path) -> None:
        self._files = {flow: folder / f"{index}.dat" for index, flow in enumerate(flows)}
        self.traces = [(f"throughput:{flow}", file) for flow, file in self._files.items()]

    def frame(self) -> pl.DataFrame:
        """Returns `flow`, `time_s` (end of an interval of 0.2 s) and `throughput_bps` (over it)."""
        parts = [pl.DataFrame(schema={"flow": pl.String, **SCHEMA})]
        for flow, file in self._files.items():
            if file.stat().st_size:
                read = pl.read_csv(file, separator=" ", has_header=False, schema=SCHEMA)
                parts.append(read.select(pl.lit(flow).alias("flow"), *SCHEMA))
        return pl.concat(parts)


@contextmanager
def measured(scenario: Scenario, *, wanted: bool) -> Iterator[Throughput | None]:
    """Yields the files to record, which exist until the end of the block; None if not wanted."""
    if not wanted:
        yield None
        return
    with scratch() as folder:
        yield Throughput(flows_measured(scenario), folder)


def flows_measured(scenario: Scenario) -> list[str]:
    """Returns the flows whose throughput is recorded: at most 64, in the order of the file.

    Their data go from the client to the server. Bulk flows of a finite size count only if there are
    no others.
    """
    groups = tomllib.loads(scenario.resolved_toml()).get("flow", [])
    names = [name for name, _, _ in scenario.flows()]
    lasting: list[str] = []
    finite: list[str] = []
    for group in groups:
        count = group["count"]
        own, names = names[:count], names[count:]
        workload = group["workload"]
        if workload["kind"] not in TO_THE_SERVER or workload.get("direction") == "down":
            continue
        ends = workload["kind"] == "bulk" and workload["size"] != "unlimited"
        (finite if ends else lasting).extend(own)
    return (lasting or finite)[:MOST_MEASURED]


def in_bins(frame: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    """Returns the sum over the flows in at most `most` equal intervals, and their length in s."""
    total = frame.group_by("time_s").agg(pl.col("throughput_bps").sum()).sort("time_s")
    each = max(1, math.ceil(total.height / most))
    bins = total.group_by(pl.int_range(pl.len()) // each, maintain_order=True)
    means = bins.agg(pl.col("time_s").last(), pl.col("throughput_bps").mean())
    return means.select("time_s", "throughput_bps"), each * BIN_S
