"""Runs of both engines on the drawn links, and the file of their means.

The first line of the file names the engines' versions and the figures. Each further line is one
link with the means behind each of its buffers: of the packet engine's runs with odd seeds, of those
with even seeds, and of all runs of the hybrid engine.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidence.core.derived import scratch
from evidence.core.parallel import in_parallel
from evidence.hybrid.links import TEST_SEEDS, Drawn, draw
from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Engine

FILE = Path(__file__).parent / "runs.jsonl"

FIGURES = {
    "utilization": "bottleneck.utilization",
    "loss_rate": "bottleneck.loss_rate",
    "p99_queueing_delay_s": "bottleneck.p99_queueing_delay_s",
    "mean_flows_hit": "bottleneck.mean_flows_hit",
    "jain": "long.goodput_bps.jain",
}
"""Metrics of a run by the names of the figures."""

SHARDS = 2
"""Processes that share the links; each appends to its own file."""

Figures = dict[str, float | None]
"""Means by the name of the figure; None for a figure that no run has."""


@dataclass(frozen=True)
class Behind:
    """Means of figures behind one buffer.

    Attributes:
        packets: the buffer.
        runs: number of runs of each engine.
        odd: means of the packet engine's runs with odd seeds.
        even: means of the packet engine's runs with even seeds.
        hybrid: means of the hybrid engine's runs.
    """

    packets: int
    runs: int
    odd: Figures
    even: Figures
    hybrid: Figures

    @property
    def all(self) -> Figures:
        """Means of all runs of the packet engine."""
        odd = math.ceil(self.runs / 2) / self.runs
        found: Figures = {}
        for name, first in self.odd.items():
            second = self.even[name]
            both = None if first is None or second is None else odd * first + (1 - odd) * second
            found[name] = both
        return found


@dataclass(frozen=True)
class Compared:
    """A drawn link with the figures behind its buffers, smallest buffer first."""

    drawn: Drawn
    behind: tuple[Behind, ...]


@dataclass(frozen=True)
class Comparison:
    """The content of the file.

    Attributes:
        results_version: results version of the packet engine.
        hybrid_version: version of the hybrid engine's model.
        links: the compared links.
    """

    results_version: int
    hybrid_version: int
    links: tuple[Compared, ...]


def make(seeds: Sequence[int] = TEST_SEEDS, file: Path = FILE) -> None:
    """Runs the links of these seeds and writes the file. Links that were run are not run again."""
    parts = [scratch() / f"hybrid-{part}.jsonl" for part in range(SHARDS)]
    in_parallel(_run_shard, ((list(seeds)[part::SHARDS], path) for part, path in enumerate(parts)))
    lines = {seed: line for path in parts for seed, line in _lines(path).items()}
    head = {
        "results_version": _core.results_version(),
        "hybrid_version": _core.hybrid_version(),
        "figures": list(FIGURES),
    }
    text = "\n".join([json.dumps(head), *(lines[seed] for seed in seeds)])
    file.write_text(f"{text}\n", encoding="utf-8")


def _run_shard(seeds: Sequence[int], out: Path) -> None:
    """Appends the lines of the links that a file does not contain yet."""
    done = _lines(out)
    out.write_text("".join(f"{line}\n" for line in done.values()), encoding="utf-8")
    with out.open("a", encoding="utf-8") as file:
        for seed in seeds:
            if seed not in done:
                file.write(json.dumps(_one_link(draw(seed))) + "\n")
                file.flush()


def _lines(path: Path) -> dict[int, str]:
    """Returns the lines of finished links by their seeds, without an unfinished last line."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1].splitlines()
    return {json.loads(line)["seed"]: line for line in whole}


def _one_link(drawn: Drawn) -> dict[str, Any]:
    """Runs both engines behind each buffer of a link; returns the line of the file."""
    behind = []
    for packets in drawn.buffers:
        scenario, seeds = drawn.scenario(packets), range(1, drawn.runs(packets) + 1)
        by_packets = [_figures(scenario, seed, "packets") for seed in seeds]
        by_hybrid = [_figures(scenario, seed, "hybrid") for seed in seeds]
        behind.append(
            {
                "packets": packets,
                "runs": len(seeds),
                "odd": _means(by_packets[::2]),
                "even": _means(by_packets[1::2]),
                "hybrid": _means(by_hybrid),
            }
        )
    return {**asdict(drawn), "behind": behind}


def _figures(scenario: Scenario, seed: int, engine: Engine) -> list[float]:
    outcome = scenario.with_seed(seed).run(series=False, packets=False, engine=engine)
    names, values = outcome.metrics()
    found = dict(zip(names.split("\n"), np.frombuffer(values).tolist(), strict=True))
    return [found.get(metric, math.nan) for metric in FIGURES.values()]


def _means(runs: Sequence[Sequence[float]]) -> list[float | None]:
    """Returns the mean of each figure over the runs that have it; None if no run has it."""
    columns = [
        [value for value in column if math.isfinite(value)] for column in zip(*runs, strict=True)
    ]
    return [float(f"{math.fsum(one) / len(one):.6g}") if one else None for one in columns]


def read(file: Path = FILE) -> Comparison:
    """Returns the content of the file."""
    head, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return Comparison(
        head["results_version"],
        head["hybrid_version"],
        tuple(_compared(line, head["figures"]) for line in lines),
    )


def _compared(line: dict[str, Any], names: Sequence[str]) -> Compared:
    behind = tuple(
        Behind(
            one["packets"],
            one["runs"],
            *(dict(zip(names, one[part], strict=True)) for part in ("odd", "even", "hybrid")),
        )
        for one in line.pop("behind")
    )
    return Compared(Drawn(**line | {"rtts": tuple(line["rtts"])}), behind)
