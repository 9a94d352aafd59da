"""Conversion of a study file to its runs, each with its identity."""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.core.files.reading import read_text
from goodqueue.core.parallel import available_processors
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.plugins import with_queues
from goodqueue.runs.settings import settings_of
from goodqueue.study.model import Bound, Keep, PlotSpec, Run, StopSpec, StudyPlan, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from goodqueue.runs.engines import Engine
    from goodqueue.study.model import Parameter

CHECKSUM = re.compile(r"^# (\S+:\S+) ([0-9a-f]+)$", re.MULTILINE)
"""Line of a stored study with a class in Python and the checksum of its source."""

LARGEST_SEED = (1 << 63) - 1

NO_AXES = {"seed", "title", "description", "schema_version"}


def plan(study: _core.Study, queues: Sequence[tuple[str, str, str]] = ()) -> StudyPlan:
    """Returns every variant of a study, read and checked.

    Args:
        study: the study.
        queues: queues in Python in place of those of links, in every variant: link, class and
            checksum of its source.

    Raises:
        ScenarioError: at the first value that gives no valid scenario, or unknown metric.
    """
    outline: dict[str, Any] = json.loads(study.outline_json())
    stop = outline["stop"]
    for axis in outline["axes"]:
        if axis.split(".")[-1] in NO_AXES and "." not in axis:
            raise RequestError(
                f'"{axis}" cannot be an axis, because it does not identify a variant; '
                'write "seeds" for several seeds, and texts in the base scenario'
            )
    with ThreadPoolExecutor(available_processors()) as pool:
        variants = list(
            pool.map(lambda index: _variant(study, index, queues), range(study.variants))
        )
    plots = tuple(_plot(plot) for plot in outline["plots"])
    if plots or stop is not None:
        _check_metrics(study, variants)
    return StudyPlan(
        title=outline["title"],
        text=study.resolved_toml() + _checksums(variants),
        axes=tuple(outline["axes"]),
        variants=variants,
        seeds=outline["seeds"],
        stop=None if stop is None else _stop(stop),
        plots=plots,
        keep=Keep(**outline["keep"]),
    )


def stored_plan(file: Path) -> StudyPlan:
    """Returns the study of a folder, as its sweep wrote it. No class in Python is imported.

    Args:
        file: the folder's `study.toml`, which has the checksum of each class that runs had.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: if the file cannot be read.
    """
    text = read_text(file)
    known: dict[str, str] = dict(CHECKSUM.findall(text))
    found: set[str] = set()

    def checksum(name: str) -> str:
        found.add(name)
        return known.get(name, "")

    made = plan(_core.Study.parse(text.encode(), str(file), [], checksum))
    if lacking := found - known.keys():
        raise RequestError(
            f"{file} has no checksum of {min(lacking)}, because an earlier version wrote it; sweep "
            "the study again, which repeats no run"
        )
    return made


def _checksums(variants: Sequence[Variant]) -> str:
    """Returns the checksums of the classes in Python that variants name, as comments."""
    known: dict[str, str] = {}
    for variant in variants:
        scenario = variant.scenario
        named = {name for _, name in (*scenario.python_controls(), *scenario.python_queues())}
        if not named <= known.keys():
            known |= dict(_classes(settings_of(scenario)))
    lines = [f"# {name} {checksum}\n" for name, checksum in sorted(known.items())]
    return "".join(["\n# Checksums of classes in Python:\n", *lines]) if lines else ""


def _classes(node: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any value of a TOML file
    """Yields the name and the checksum of each class that a scenario names."""
    if isinstance(node, dict):
        if isinstance(node.get("class"), str) and isinstance(node.get("checksum"), str):
            yield node["class"], node["checksum"]
        for value in node.values():
            yield from _classes(value)
    elif isinstance(node, list):
        for item in node:
            yield from _classes(item)


def _check_metrics(study: _core.Study, variants: Sequence[Variant]) -> None:
    """Refuses a metric that no variant has; most variants have those of the first."""
    try:
        study.check_metrics(variants[0].scenario.metric_names())
    except ScenarioError:
        names = dict.fromkeys(
            name for variant in variants for name in variant.scenario.metric_names()
        )
        study.check_metrics(list(names))


def _variant(study: _core.Study, index: int, queues: Sequence[tuple[str, str, str]]) -> Variant:
    scenario = with_queues(study.scenario(index), queues)
    return variant_of(scenario, json.loads(study.parameters_json(index)), index)


def _plot(plot: dict[str, Any]) -> PlotSpec:
    where = {axis: tuple(values) for axis, values in plot["where"].items()}
    return PlotSpec(
        **{**plot, "y": tuple(plot["y"]), "facets": tuple(plot["facets"]), "where": where}
    )


def _stop(stop: dict[str, Any]) -> StopSpec:
    width = {name: Bound(**bound) for name, bound in stop.pop("width").items()}
    baseline = stop.pop("baseline")
    return StopSpec(width, baseline=None if baseline is None else tuple(baseline), **stop)


def variant_of(
    scenario: _core.Scenario,
    parameters: Mapping[str, Parameter],
    index: int = 0,
    engine: Engine = "packets",
) -> Variant:
    """Returns a variant of a scenario with its digest."""
    return Variant(index, parameters, scenario, digest(scenario, engine), engine)


def digest(scenario: _core.Scenario, engine: Engine = "packets") -> bytes:
    """Returns SHA-256 of all inputs that affect a scenario's results, except the seed."""
    text = scenario.canonical_toml()
    if engine == "hybrid":  # its results have a version of their own
        text += f"\nengine hybrid, results {_core.hybrid_version()}\n"
    return hashlib.sha256(text.encode()).digest()


def identity(variant: bytes, seed: int) -> bytes:
    """Returns 32 bytes for a scenario's digest, a seed and the results version."""
    text = b"%s seed %d results %d" % (variant, seed, _core.results_version())
    return hashlib.sha256(text).digest()


def run_of(variant: Variant, seed: int) -> Run:
    """Returns the run of a variant under a seed."""
    return Run(variant, seed, identity(variant.digest, seed))


def seeds_of(plan: StudyPlan, count: int) -> Sequence[int]:
    """Returns the first `count` seeds: those of the file, then the successors of the last."""
    given = list(plan.seeds[:count])
    return given + [seed_after(plan.seeds[-1], 1 + more) for more in range(count - len(given))]


def seed_after(first: int, steps: int) -> int:
    """Returns the seed `steps` after the first; 0 follows the largest."""
    return (first + steps) % (LARGEST_SEED + 1)


def longest_first(variants: Sequence[Variant]) -> list[Variant]:
    """Returns the variants, those with the longest runs first, so that none is left for the end."""
    return sorted(variants, key=lambda variant: -variant.scenario.weight())


def shard(runs: Iterator[Run], part: int, parts: int) -> Iterator[Run]:
    """Yields the runs of one machine's part, selected by their identities.

    The parts do not depend on the store or on the order of runs. They never overlap, and together
    are the whole study.
    """
    for run in runs:
        if int.from_bytes(run.identity[:8], "big") % parts == part - 1:
            yield run
