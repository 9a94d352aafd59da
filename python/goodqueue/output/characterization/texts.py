"""Figures of a characterisation as text, on the terminal and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.characterization.figures import better_of, figure_of, is_loss
from goodqueue.output.terminal import MISSING, counted, plain, quantity, say, stdout, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.characterization.ellipse import GaussianEllipse
    from goodqueue.characterization.guide import Measure
    from goodqueue.characterization.measure import Characterization, Found, Score
    from goodqueue.study.compare import Sample

COLOURS = {"better": "green", "worse": "red"}
SIDES = {"outside": "red", "not shown": "yellow"}


def text_of(score: Score, values: Sample | None) -> str:
    """Returns the mean of a figure with its 95 % interval."""
    if values is None:
        return MISSING
    half = values.interval.half_width
    name = _column_of(score.measure)
    return quantity(name, values.interval.mean, half if math.isfinite(half) else None)


def _column_of(measure: Measure) -> str:
    """Returns the name whose ending gives the unit; empty for plain numbers."""
    if is_loss(measure):
        return "loss_rate"
    if len(measure.parts) > 1:
        return ""
    return measure.metric.removesuffix(".sum").removesuffix(".min").removesuffix(".max")


def band_text(score: Score) -> str:
    """Returns the band of a figure with its unit and the side on which the figure is."""
    return "" if score.band is None else f"{bounds(score)}: {score.standing}"


def bounds(score: Score) -> str:
    """Returns the bounds of a figure with their unit."""
    assert score.band is not None
    name = _column_of(score.measure)
    least, most = (
        quantity(name, bound) if name else f"{bound:g}"
        for bound in (score.band.least, score.band.most)
    )
    if math.isinf(score.band.least):
        return f"at most {most}"
    return f"at least {least}" if math.isinf(score.band.most) else f"{least} to {most}"


def band_lines(found: Characterization) -> list[str]:
    """Returns how many figures are in their bands, and each other figure with its band's source."""
    sides = found.standings
    if not any(sides.values()):
        return []
    rest = [f"{sides[side]} {side}" for side in ("outside", "not shown")]
    lines = [f"Bands: {sides['inside']} figures inside, {', '.join(rest)}."]
    for one in found.found:
        for score in one.scores:
            if score.band is not None and score.standing != "inside":
                title = figure_of(score.measure).title
                lines.append(
                    f"  {score.standing}: {one.section.number} {one.section.title}{_of(one)}, "
                    f"{title} {text_of(score, score.own)}, {bounds(score)}. {score.band.source}"
                )
    return lines


def headline(found: Characterization) -> str:
    """Returns the number of figures with each verdict as a sentence; empty without comparison."""
    if found.against is None:
        return ""
    tally = found.tally
    return (
        f"{found.subject.name} against {found.against.name}: {tally['better']} figures are better, "
        f"{tally['worse']} are worse, and {tally['no difference shown']} show no difference."
    )


def print_characterization(found: Characterization) -> None:
    """Prints a table for each case, and the parts that are not run."""
    seeds = counted(len(found.seeds), "seed")
    say(f"{found.guide.title}: {found.subject.name}")
    say(f"Means over {seeds} with 95 % intervals. Differences are taken seed by seed.", "")
    for one in found.found:
        say(f"{one.section.number} {one.section.title}{_of(one)}")
        if one.refused:
            say(f"  not run: {one.refused}", "")
            continue
        stdout().print(_table(found, one))
        say("")
    for part in found.not_run:
        stdout().print(f"not run: {part.number} {part.title}: {part.why}", markup=False)
    if text := headline(found):
        stdout().print(f"\n{text}", markup=False)
    for line in band_lines(found):
        stdout().print(line, markup=False)


def _of(one: Found) -> str:
    return f", {one.case.name}" if one.case.name else ""


def _table(found: Characterization, one: Found) -> object:
    heads, rows = cells(found, one)
    shown = [
        [*map(plain, row), *(_coloured(score) for _ in heads[3:4])]
        for row, score in zip(rows, one.scores, strict=True)
    ]
    if any(score.band for score in one.scores):
        heads = [*heads, "band"]
        shown = [[*row, _side(score)] for row, score in zip(shown, one.scores, strict=True)]
    return table("", heads, shown, [heads[1], "finding", "band"])


def cells(found: Characterization, one: Found) -> tuple[list[str], list[list[str]]]:
    """Returns the headers of a case's table, and its rows without the finding."""
    heads = ["figure", found.subject.name]
    if found.against is not None:
        heads += [found.against.name, "finding"]
    rows = [
        [
            figure_of(score.measure).title,
            text_of(score, score.own),
            *([] if found.against is None else [text_of(score, score.other)]),
        ]
        for score in one.scores
    ]
    return heads, rows


def _coloured(score: Score) -> str:
    colour = COLOURS.get(score.verdict)
    return f"[{colour}]{score.verdict}[/]" if colour else score.verdict or MISSING


def _side(score: Score) -> str:
    text = plain(band_text(score))
    colour = SIDES.get(score.standing or "")
    return f"[{colour}]{text}[/]" if colour else text


def as_json(found: Characterization) -> dict[str, Any]:
    """Returns every figure, in seconds, bit/s and shares, with the ends of its 95 % interval."""
    return {
        "schema_version": 1,
        "document": found.guide.document,
        "subject": found.subject.name,
        "against": None if found.against is None else found.against.name,
        "seeds": list(found.seeds),
        "results_version": _core.results_version(),
        "verdicts": found.tally,
        "bands": found.standings,
        "sections": [_found_json(one) for one in found.found],
        "not_run": [
            {"number": part.number, "title": part.title, "why": part.why} for part in found.not_run
        ],
    }


def _found_json(one: Found) -> dict[str, Any]:
    return {
        "number": one.section.number,
        "title": one.section.title,
        "case": one.case.name,
        "not_run": one.refused or None,
        "figures": [_score_json(score) for score in one.scores],
        "ellipse": _ellipse_json(one.ellipse, one.points),
        "ellipse_against": _ellipse_json(one.other_ellipse, one.other_points),
    }


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "metric": score.measure.metric,
        "title": figure_of(score.measure).title,
        "better": better_of(score.measure),
        "own": _sample_json(score.own),
        "against": _sample_json(score.other),
        "difference": _sample_json(score.change),
        "finding": score.verdict or None,
        "band": _band_json(score),
    }


def _band_json(score: Score) -> dict[str, Any] | None:
    if score.band is None:
        return None
    return {
        "least": score.band.least if math.isfinite(score.band.least) else None,
        "most": score.band.most if math.isfinite(score.band.most) else None,
        "source": score.band.source,
        "standing": score.standing,
    }


def _sample_json(one: Sample | None) -> dict[str, Any] | None:
    if one is None:
        return None
    low, high = one.interval.ends
    return {"mean": one.interval.mean, "low": low, "high": high, "values": list(one.values)}


def _ellipse_json(
    one: GaussianEllipse | None, points: Sequence[tuple[float, float]]
) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "delay_s": one.x,
        "goodput_bps": one.y,
        "delay_variance_s2": one.variance_x,
        "goodput_variance_bps2": one.variance_y,
        "covariance_s_bps": one.covariance,
        "points": [list(point) for point in points],
    }
