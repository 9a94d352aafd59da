"""The part of the report about ns-2's links: tables, criteria, versions and interpretation."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.validation.compare import estimate
from evidence.validation.ns2.cases import METRICS
from evidence.validation.reading import INTRODUCTION, READING
from evidence.validation.simulators import ns2_arguments, overrides, package_version
from goodqueue._core import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evidence.validation.compare import Check, Comparison, Estimate
    from evidence.validation.simulators import Figures

HEADINGS = {
    "utilization": "utilisation, %",
    "loss_rate": "loss, %",
    "mean_backlog_packets": "mean backlog, packets",
    "goodput_bps": "goodput per flow, kb/s",
    "duplicate_share": "duplicate data, %",
}
_SCALES = {"mean_backlog_packets": 1.0, "goodput_bps": 1e-3}


def report(comparisons: Sequence[Comparison], seeds: range) -> str:
    """Returns the beginning of the report, as Markdown: the links S1 to S4."""
    main = [comparison for comparison in comparisons if comparison.agent == "Sack1"]
    others = [comparison for comparison in comparisons if comparison.agent != "Sack1"]
    failures = verdict(comparisons)
    outcome = "Every criterion holds." if not failures else "Not all agree: " + "; ".join(failures)
    parts = [
        "## Against ns-2\n",
        INTRODUCTION,
        _setting(seeds),
        f"**{outcome}**\n",
        *(_section(comparison) for comparison in main),
        _variants(others),
        READING,
        _commands(main),
    ]
    return "\n".join(parts)


def verdict(comparisons: Iterable[Comparison]) -> list[str]:
    """Describes each criterion that does not hold; other agents than Sack1 are not judged."""
    return [
        f"{comparison.case.name}: {HEADINGS[check.metric]} {_figure(check.metric, check.ours.mean)}"
        f", ns-2 {_figure(check.metric, check.theirs.mean)}"
        f", allowed ± {_figure(check.metric, check.allowed)}"
        for comparison in comparisons
        if comparison.agent == "Sack1"
        for check in comparison.checks()
        if not check.agrees
    ]


def _setting(seeds: range) -> str:
    today = datetime.now(tz=UTC).date().isoformat()
    ns2 = package_version("ns2")
    return (
        f"goodqueue {version()}; ns-2 {ns2} (Debian package `ns2`); {today}; seeds "
        f"{seeds[0]} to {seeds[-1]} of each simulator. Written by `make evidence "
        "NAME=validation/links`.\n"
    )


def _section(comparison: Comparison) -> str:
    scenario = tomllib.loads(Path(comparison.case.scenario).read_text(encoding="utf-8"))
    rows = [
        _row("ns-2, Sack1", comparison.ns2),
        _row("goodqueue, `ns2` profile", comparison.ours),
        ["difference (allowed)", *(_difference(comparison, metric) for metric in METRICS)],
        _row("goodqueue, `rfc` profile", comparison.rfc),
        _recorded(comparison.case.ns3),
    ]
    columns = ["", *HEADINGS.values()]
    return f"### {scenario['title']}\n\n" + _table(columns, rows)


def _row(name: str, runs: Sequence[Figures]) -> list[str]:
    return [name, *(_estimate(metric, estimate(runs, metric)) for metric in METRICS)]


def _recorded(figures: Mapping[str, float]) -> list[str]:
    known = (
        _figure(metric, figures[metric], significant=True) if metric in figures else "not recorded"
        for metric in METRICS
    )
    return ["ns-3.44 (recorded, not run here)", *known]


def _difference(comparison: Comparison, metric: str) -> str:
    if metric not in comparison.case.judged:
        return ""
    return _verdict(comparison.check(metric))


def _verdict(check: Check) -> str:
    mark = "" if check.agrees else " **no**"
    difference = _figure(check.metric, check.difference, signed=True)
    return f"{difference} (± {_figure(check.metric, check.allowed)}){mark}"


def _variants(comparisons: Iterable[Comparison]) -> str:
    columns = ["link, agent", "", *HEADINGS.values()]
    rows = []
    for comparison in comparisons:
        name = f"{comparison.case.name}, {comparison.agent}"
        theirs = ["ns-2", *_row("", comparison.ns2)[1:]]
        ours = ["goodqueue", *_row("", comparison.ours)[1:]]
        judged = [_difference(comparison, metric) for metric in METRICS]
        rows += [[name, *theirs], ["", *ours], ["", "difference", *judged]]
    return (
        "### The other agents\n\nThe same criteria are applied to the other agents, but the "
        "results are no part of the verdict.\n\n" + _table(columns, rows)
    )


def _commands(comparisons: Iterable[Comparison]) -> str:
    lines = []
    for comparison in comparisons:
        case = comparison.case
        lines.append("ns " + " ".join([*ns2_arguments(case, "Sack1"), "seed=1"]))
        lines.append(f"goodqueue run {case.scenario} --seed 1 --json")
    settings = overrides(case, "Reno", "rfc")
    sets = " ".join(f"--set {key}={value}" for key, value in settings.items())
    return (
        "### Commands\n\nThese commands run the first seed. `tcp=Newreno`, `Reno` or `Tahoe` "
        f"selects another agent of\nns-2, and settings such as `{sets}` change ours.\n\n"
        "```sh\n" + "\n".join(lines) + "\n```\n"
    )


def _estimate(metric: str, value: Estimate) -> str:
    mean = _figure(metric, value.mean)
    return f"{mean} ± {_figure(metric, value.error)}"


def _figure(metric: str, value: float, *, signed: bool = False, significant: bool = False) -> str:
    """Formats a figure in the unit of its heading."""
    scaled = value * _SCALES.get(metric, 100.0)
    if significant:
        return f"{scaled:.5g}"
    digits = {"utilization": 3, "loss_rate": 4, "mean_backlog_packets": 2, "goodput_bps": 1}
    rounded = round(scaled, digits.get(metric, 3)) + 0.0  # no minus before a zero
    return f"{rounded:{'+' if signed else ''}.{digits.get(metric, 3)}f}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
