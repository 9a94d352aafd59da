"""Pictures of a study file, drawn from the results in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goodqueue.core.columns import column
from goodqueue.core.drawing import FORMATS, Drawing
from goodqueue.core.files.outdir import whole_files
from goodqueue.plots.study.picture import check, study_picture
from goodqueue.plots.study.table import Table
from goodqueue.plots.style import printable
from goodqueue.study.record.store import STUDY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.plots.style import Picture
    from goodqueue.study.model import PlotSpec, StudyPlan, Variant
    from goodqueue.study.results import Results


_REST = f"the rest of {STUDY}"


def check_plots(plan: StudyPlan) -> None:
    """Refuses, before anything is run, pictures that could not be drawn.

    Raises:
        RequestError: with the picture, what is wrong, and what to write instead.
    """
    for spec in plan.plots:
        metrics = dict.fromkeys(
            name for name in (spec.x, *spec.y) if name and name not in plan.axes
        )
        columns = {
            name: [variant.parameters[name] for variant in plan.variants] for name in plan.axes
        }
        frame = pl.DataFrame({**columns, "seed": 0, **dict.fromkeys(metrics, 0.0)}, strict=False)
        check(Table.from_runs(frame, spec, plan.axes, watched=False))


def pictures(results: Results, plan: StudyPlan) -> list[Picture]:
    """Returns one picture for each `[[plot]]` of a study, from its own runs in the folder."""
    runs = results.successful(plan)
    watched = plan.stop is not None
    return [
        study_picture(runs, spec, plan.axes, held=_held(_shown(plan, spec)), watched=watched)
        for spec in plan.plots
    ]


def picture_of(results: Results, spec: PlotSpec) -> Picture:
    """Returns one picture of all recorded runs, whatever studies they belong to.

    Raises:
        RequestError: if it cannot be drawn from them.
    """
    return study_picture(
        results.newest(), spec, results.axes, held=[_REST], watched=results.watched()
    )


def draw(
    results: Results,
    plan: StudyPlan,
    target: Path,
    drawing: Drawing = Drawing(FORMATS),  # noqa: B008 - it is frozen
) -> list[Path]:
    """Writes the pictures in each format, and their captions beside them in captions.txt."""
    paths, captions = [], []
    with whole_files(target) as directory:
        for picture in pictures(results, plan):
            paths += picture.save_as(directory, drawing.formats, caption=drawing.caption)
            captions.append(f"{picture.name}: {printable(picture.caption)}\n")
        (directory / "captions.txt").write_text("".join(captions), encoding="utf-8")
    return [target / path.name for path in paths]


def _shown(plan: StudyPlan, spec: PlotSpec) -> list[Variant]:
    """Returns the variants to which a picture is restricted."""
    return [
        variant
        for variant in plan.variants
        if all(variant.parameters[axis] in values for axis, values in spec.where.items())
    ]


def _held(variants: Sequence[Variant]) -> list[str]:
    """Returns facts about the first link that all variants share, for a caption."""
    link = variants[0].scenario.links[0]
    common = [_REST]
    if any(link not in variant.scenario.links for variant in variants):
        return common
    buffers = [variant.scenario.buffer(link, 1) for variant in variants]
    facts = pl.DataFrame(
        {
            "rate_bps": [buffer["rate_bps"] for buffer in buffers],
            "base_rtt_s": [buffer["base_rtt_s"] for buffer in buffers],
        }
    )
    for name, words in (("base_rtt_s", "base round-trip time"), ("rate_bps", f"rate of {link}")):
        value = facts[name][0]
        if value is not None and facts[name].n_unique() == 1:
            common.insert(0, f"{words} {column(facts, name).text(value)}")
    return common
