"""`--report` of `goodqueue sweep` and `goodqueue results`: the results of a study as a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodqueue.core.files.outdir import check_file, check_page
from goodqueue.errors import RequestError
from goodqueue.output.terminal import stderr
from goodqueue.study.plan import stored_plan
from goodqueue.study.record.store import STUDY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.plots.style import Picture
    from goodqueue.study.model import StudyPlan
    from goodqueue.study.results import Results

MAX_METRICS = 8
"""Largest number of metrics of a page, if the command names none."""

FIRST_LOOK = ("utilization", "loss_rate", "p99_queueing_delay_s")
"""Figures of the first link that are shown by default."""


def first_look(results: Results) -> list[str]:
    """Returns the metrics that are shown if the command names none."""
    link = next((name for name in results.metrics if name.endswith(".utilization")), None)
    if link is None:
        return results.metrics[:3]
    stem = link.removesuffix("utilization")
    return [f"{stem}{figure}" for figure in FIRST_LOOK if f"{stem}{figure}" in results.metrics]


def check_outside(option: str, file: Path | None, folders: list[Path]) -> None:
    """Refuses to write into the folders that are read, or where nothing can be written."""
    if file is None:
        return
    for folder in folders:
        if file.resolve().is_relative_to(folder.resolve()):
            raise RequestError(
                f"{option} {file}: this is in the study's folder {folder}, which the command "
                "reads; name a file elsewhere"
            )
    if option == "--report":
        check_page(file)
    else:
        check_file(file)


def write_report(
    results: Results, path: Path, metrics: Sequence[str] | None, plan: StudyPlan | None = None
) -> None:
    """Writes the page of a study.

    Args:
        results: the runs that the page shows.
        path: file of the page.
        metrics: metrics of the page, or None for those of the study's pictures and of its first
            link.
        plan: the study, or None for that in the folder of the results.

    Raises:
        RequestError: if the folder contains no study, a metric does not exist, or no run has
            finished.
    """
    from goodqueue.output.studies.page import write

    if plan is None:
        file = results.folder / STUDY
        if not file.is_file():
            raise RequestError(f"{results.folder} contains no {STUDY}: a page needs the study")
        plan = stored_plan(file)
    results = results.within(plan)
    chosen = results.known(metrics) if metrics else _usual(results, plan)
    write(results, plan, chosen, _pictures(results, plan), sys.argv[1:], path)


def _usual(results: Results, plan: StudyPlan) -> list[str]:
    """Returns the metrics of the pictures, and those of the first link."""
    drawn = [name for spec in plan.plots for name in (*spec.y, spec.x)]
    named = [name for name in drawn if name in results.metrics]
    return list(dict.fromkeys([*named, *first_look(results)]))[:MAX_METRICS]


def _pictures(results: Results, plan: StudyPlan) -> list[Picture]:
    """Returns the pictures of the study, or one of its only axis; warns of any that is left out."""
    from dataclasses import replace

    from goodqueue.plots.study.pictures import pictures
    from goodqueue.study.model import PlotSpec

    plots = plan.plots
    if not plots and len(plan.axes) == 1:
        first = tuple(first_look(results)[:1])
        plots = (PlotSpec("first", "", plan.axes[0], first),)
    found = []
    for one in plots:
        try:
            found += pictures(results, replace(plan, plots=(one,)))
        except RequestError as error:
            stderr().print(f"left out of the report: {error}", soft_wrap=True, markup=False)
    return found
