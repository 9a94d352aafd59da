"""Runs the links of a shard, one after another, and appends the results of each run to a file.

A file contains one JSON document per line for each finished link. A shard that was stopped
continues with the next link.
"""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from evidence.rules_on_trial import draw, plan
from goodqueue.errors import ScenarioError
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.trials.described import LINK, settings, tail_drop

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from goodqueue import _core
    from goodqueue.sizing.link import Link

METRICS = {
    "utilization": f"{LINK}.utilization",
    "loss_rate": f"{LINK}.loss_rate",
    "p50_delay_s": f"{LINK}.p50_queueing_delay_s",
    "p99_delay_s": f"{LINK}.p99_queueing_delay_s",
    "packets": f"{LINK}.departures",
}
"""Results of a run that are stored, and their names in studies."""


def one_run(link: Link, packets: int, seed: int, cap: int) -> dict[str, float] | None:
    """Runs a link behind one buffer.

    Returns None if the run would send more packets than `cap`, or if the link is so slow that the
    scenario format refuses the buffer.
    """
    reach = plan.length(link, packets, cap)
    if reach is None:
        return None
    described = settings(link, packets, tail_drop(packets), reach)
    try:
        scenario = scenario_of(described, "the link").with_seed(seed)
    except ScenarioError:
        return None
    found = metrics_of(scenario.run(series=False, packets=False))
    figures = {name: found[metric] for name, metric in METRICS.items()}
    return {name: 0.0 if math.isnan(value) else value for name, value in figures.items()}


def metrics_of(outcome: _core.Outcome) -> dict[str, float]:
    """Returns all metrics of a run by name."""
    names, values = outcome.metrics()
    return dict(zip(names.split("\n"), np.frombuffer(values).tolist(), strict=True))


def one_link(seed: int, index: int) -> dict[str, Any]:
    """Runs both stages of a link; no runs if they need more packets than its population allows."""
    link, cap = draw.link(seed, index), draw.population(index).cap_packets
    engine = plan.engine_for(link, cap)
    document: dict[str, Any] = {"index": index, "engine": engine, "runs": []}
    if engine != "packets":
        return document
    begun = time.process_time()
    runs = document["runs"]
    runs += _stage(link, seed, index, plan.first_stage(link, seed, index, cap), cap)
    seen: dict[int, tuple[float, float]] = {}
    for run in runs:
        seen.setdefault(run["buffer"], (run["utilization"], run["loss_rate"]))
    runs += _stage(link, seed, index, plan.second_stage(link, seen, cap), cap)
    document["cpu_s"] = round(time.process_time() - begun, 3)
    return document


def _stage(
    link: Link, seed: int, index: int, buffers: Iterable[int], cap: int
) -> list[dict[str, Any]]:
    runs = []
    for packets in buffers:
        reach = plan.length(link, packets, cap)
        if reach is None:
            continue
        for replicate in range(plan.replicates(reach, cap)):
            its_seed = plan.run_seed(seed, index, packets, replicate)
            figures = one_run(link, packets, its_seed, cap)
            if figures is not None:
                rounded = {name: float(f"{value:.5g}") for name, value in figures.items()}
                runs.append({"buffer": packets, "seed": its_seed, **rounded})
    return runs


def shard(seed: int, indices: Iterable[int], out: Path, until: float = math.inf) -> int:
    """Runs the links that `out` does not contain yet, and returns their number.

    Args:
        seed: seed of the study.
        indices: numbers of the links.
        out: the file to which results are appended.
        until: the time (Unix) after which no link is begun.
    """
    done, count = finished(out), 0
    with out.open("a", encoding="utf-8") as file:
        for index in indices:
            if index in done:
                continue
            if time.time() > until:
                break
            file.write(json.dumps(one_link(seed, index)) + "\n")
            file.flush()
            count += 1
    return count


def finished(out: Path) -> set[int]:
    """Returns the links in a file. Creates it, or completes its last line, for appending."""
    out.parent.mkdir(parents=True, exist_ok=True)
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    if not text.endswith("\n") and text:
        out.write_text(f"{text}\n", encoding="utf-8")
    return {document["index"] for document in read(out)}


def read(path: Path) -> list[dict[str, Any]]:
    """Returns the content of a shard's file, without a truncated last line."""
    if not path.exists():
        return []
    documents = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            documents.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return documents
