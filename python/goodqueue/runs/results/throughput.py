"""The throughput of flows over time, which the core writes to files during a run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from goodqueue.core.files.unfinished import scratch
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from goodqueue._core import Scenario

Direction = Literal["up", "down"]
"""Direction of data: `up` to the server of a flow, or `down` to its client."""

UP: tuple[Direction, ...] = ("up",)
DOWN: tuple[Direction, ...] = ("down",)
WAYS: dict[str, tuple[Direction, ...]] = {
    **dict.fromkeys(("bulk", "transfers", "responsiveness", "voice"), UP),
    **dict.fromkeys(("cbr", "poisson", "bursts", "on_off"), UP),
    **dict.fromkeys(("web", "video"), DOWN),
    **dict.fromkeys(("echo", "exchanges", "game"), UP + DOWN),
    "ping": (),
}
"""The directions in which each workload sends data. Requests for pages and segments do not count as
data.
"""

TRACES: dict[Direction, str] = {"up": "throughput", "down": "throughput-down"}
"""Name of the trace of each direction in the core."""

MAX_MEASURED = 64
"""Largest number of flows and directions whose throughput is recorded, because each keeps a file
open."""

Measured = tuple[str, Direction]
"""A flow and one of its directions."""


class Throughput:
    """The throughput files of a run's flows.

    Attributes:
        traces: name and file of the trace of each flow and direction, for the core.
    """

    def __init__(self, wanted: list[Measured], folder: Path) -> None:
        self._files = {one: folder / f"{index}.dat" for index, one in enumerate(wanted)}
        self.traces = [
            (f"{TRACES[direction]}:{flow}", file) for (flow, direction), file in self._files.items()
        ]

    def frame(self) -> pl.DataFrame:
        """Reads the files once the run is over.

        Columns: `flow`, `direction`, `time_s` (the end of each interval of 0.2 s) and
        `throughput_bps` over it.
        """
        from goodqueue.runs.results.frames import throughput_frame

        return throughput_frame(self._files.items())


@contextmanager
def measured(scenario: Scenario, *, wanted: bool) -> Iterator[Throughput | None]:
    """Yields the files to record, which exist until the end of the block; None if not wanted."""
    if not wanted:
        yield None
        return
    with scratch() as folder:
        yield Throughput(flows_measured(scenario), folder)


def flows_measured(scenario: Scenario) -> list[Measured]:
    """Returns the flows whose throughput is recorded, and the directions of their data.

    They are in the order of the file, at most 64. Bulk flows of a finite size count only if there
    are no others.
    """
    groups = settings_of(scenario).get("flow", [])
    names = [name for name, _, _ in scenario.flows()]
    lasting: list[Measured] = []
    finite: list[Measured] = []
    for group in groups:
        count, workload = group["count"], group["workload"]
        own, names = names[:count], names[count:]
        ways = DOWN if workload.get("direction") == "down" else WAYS[workload["kind"]]
        ends = workload["kind"] == "bulk" and workload["size"] != "unlimited"
        (finite if ends else lasting).extend((flow, way) for flow in own for way in ways)
    return (lasting or finite)[:MAX_MEASURED]
