"""Runs of ns-2 and of goodqueue that return the same few figures."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.validation.ns2.cases import METRICS, RECOVERY
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evidence.validation.ns2.cases import Case
    from goodqueue._core import Cancel

Figures = dict[str, float]

SCRIPT = "tools/ns2/dumbbell.tcl"


class Ns2Error(RuntimeError):
    """ns-2 failed, or printed something unexpected."""


def package_version(package: str) -> str:
    """Returns the version of a Debian package, if it is installed."""
    query = shutil.which("dpkg-query")
    if query is None:
        return "of unknown version"
    command = [query, "--show", "--showformat=${Version}", package]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    return answer.stdout or "of unknown version"


def ns2_arguments(case: Case, agent: str) -> list[str]:
    """Returns the arguments of ns-2, without the seed."""
    settings = [f"{key}={value}" for key, value in case.ns2.items()]
    return [SCRIPT, *settings, f"tcp={agent}", "duplicates=1"]


def ns2_figures(arguments: Sequence[str], seed: int, wanted: Collection[str]) -> Figures:
    """Returns the `wanted` figures of one run of ns-2; Ctrl-C also interrupts ns-2.

    Raises:
        Ns2Error: if ns-2 failed, or did not print all figures.
    """
    command = [shutil.which("ns") or "ns", *arguments, f"seed={seed}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    figures: dict[str, Any] = {}
    for line in run.stdout.splitlines():
        if line.startswith("{"):
            figures |= json.loads(line)
    if run.returncode != 0 or not set(wanted) <= set(figures):
        said = (run.stderr or run.stdout).strip() or f"exit code {run.returncode}"
        raise Ns2Error(f"{' '.join(command)}: {said}")
    return {metric: float(figures[metric]) for metric in wanted}


def run_ns2(case: Case, agent: str, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-2."""
    return ns2_figures(ns2_arguments(case, agent), seed, METRICS)


def overrides(case: Case, agent: str, profile: str) -> dict[str, object]:
    """Returns the settings in which our run differs from the scenario file."""
    tcp = tomllib.loads(Path(case.scenario).read_text(encoding="utf-8"))["tcp"]
    wanted = {"profile": profile, "recovery": RECOVERY[agent]}
    return {f"tcp.{key}": value for key, value in wanted.items() if tcp[key] != value}


def run_goodqueue(case: Case, agent: str, profile: str, seed: int, cancel: Cancel) -> Figures:
    """Returns the figures of one run of goodqueue."""
    scenario = load(case.scenario, set=overrides(case, agent, profile), seed=seed)
    summary = json.loads(scenario.run(cancel=cancel).summary_json())
    link, flows = summary["links"]["bottleneck"], summary["flows"].values()
    received = sum(flow["packets_received"] for flow in flows)
    duplicates = sum(flow["packets_received"] * flow["duplicate_share"] for flow in flows)
    return {
        "utilization": link["utilization"],
        "loss_rate": link["loss_rate"],
        "mean_backlog_packets": link["mean_backlog_packets"],
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows) / len(flows),
        "duplicate_share": duplicates / received if received else 0.0,
    }
