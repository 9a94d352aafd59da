"""Runs the scenarios of the guidelines, and compares a subject with another one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue.characterization.bands import STANDINGS, Band, Standing
from goodqueue.characterization.ellipse import GaussianEllipse, most_likely
from goodqueue.characterization.figures import better_of, figure_of
from goodqueue.errors import ScenarioError
from goodqueue.study.compare import Sample, difference, finding, sample
from goodqueue.study.plan import longest_first, run_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.characterization.guide import Case, Guide, Measure, NotRun, Section
    from goodqueue.characterization.subject import Subject
    from goodqueue.study.model import Variant
    from goodqueue.study.runner import Runner

VERDICTS = ("better", "worse", "higher", "lower", "no difference shown")
"""Results of a comparison; `higher` and `lower` are those of figures without a better direction."""

MIN_DIFFERENCE = 0.01
"""Smallest difference that is a finding, as a share of the larger of the two means."""


@dataclass(frozen=True, slots=True)
class Score:
    """A figure of a case.

    Attributes:
        measure: the figure.
        own: the subject's values, a sample over the seeds; None if no seed has the figure.
        other: the values of the subject of comparison; None without one.
        change: the differences, seed by seed; None without both.
        verdict: result of the comparison; empty without both.
        band: bounds of the figure, if it has any.
    """

    measure: Measure
    own: Sample | None
    other: Sample | None = None
    change: Sample | None = None
    verdict: str = ""
    band: Band | None = None

    @property
    def standing(self) -> Standing | None:
        """The side of the band on which the subject's figure is; None without a band."""
        return None if self.band is None else self.band.standing(self.own)


@dataclass(frozen=True, slots=True)
class Found:
    """The figures of a case.

    Attributes:
        section: its section.
        case: the case.
        scores: the figures.
        points: the queueing delays in seconds and the goodputs in bit/s of the subject, a pair for
            each seed.
        other_points: the same pairs for the subject of comparison.
        refused: the reason why the subject cannot be run here; empty if it was.
    """

    section: Section
    case: Case
    scores: tuple[Score, ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    other_points: tuple[tuple[float, float], ...] = ()
    refused: str = ""

    @property
    def ellipse(self) -> GaussianEllipse | None:
        """The ellipse of the subject's points; None without any."""
        return _ellipse(self.points)

    @property
    def other_ellipse(self) -> GaussianEllipse | None:
        """The ellipse of the other subject's points; None without any."""
        return _ellipse(self.other_points)


def _ellipse(points: Sequence[tuple[float, float]]) -> GaussianEllipse | None:
    return most_likely(*zip(*points, strict=True)) if points else None


@dataclass(frozen=True, slots=True)
class Characterization:
    """The result: every figure of a subject, and its comparison with another.

    Attributes:
        guide: the guidelines.
        subject: the subject.
        against: the subject of comparison, if any.
        seeds: the seeds of each scenario.
        found: the cases, in the order of the guidelines.
        not_run: the parts that are not run.
    """

    guide: Guide
    subject: Subject
    against: Subject | None
    seeds: tuple[int, ...]
    found: tuple[Found, ...]
    not_run: tuple[NotRun, ...]

    @property
    def tally(self) -> dict[str, int]:
        """Number of figures with each verdict."""
        verdicts = [score.verdict for one in self.found for score in one.scores]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    @property
    def standings(self) -> dict[Standing, int]:
        """Number of figures with a band on each side of it."""
        sides = [score.standing for one in self.found for score in one.scores]
        return {side: sides.count(side) for side in STANDINGS}


Values = dict[str, list[float]]
"""Values of a case by metric, in the order of the seeds."""


def characterize(  # noqa: PLR0913, PLR0917
    guide: Guide,
    subject: Subject,
    against: Subject | None,
    sections: Sequence[Section],
    seeds: Sequence[int],
    runner: Runner,
    own_runner: Runner | None = None,
) -> Characterization:
    """Runs the sections that the runner's store does not contain yet, and compares.

    Args:
        guide: the guidelines.
        subject: the queue or the control.
        against: the subject of comparison, if any.
        sections: the sections to run.
        seeds: the seeds of each scenario.
        runner: runner of the scenarios.
        own_runner: runner of the subject's scenarios, if it is another one.

    Raises:
        ScenarioError: if the subject fits no scenario.
        KeyboardInterrupt: at Ctrl-C; finished runs are in the store.
    """
    cases = [(section, case) for section in sections for case in section.cases]
    own, refused = _values(guide, subject, cases, seeds, own_runner or runner)
    other: dict[int, Values] = {}
    if against is not None:
        other, _ = _values(guide, against, cases, seeds, runner)
    found = [
        _found(section, case, own.get(place), other.get(place), refused.get(place, ""))
        for place, (section, case) in enumerate(cases)
    ]
    return Characterization(guide, subject, against, tuple(seeds), tuple(found), guide.not_run)


def _values(
    guide: Guide,
    subject: Subject,
    cases: Sequence[tuple[Section, Case]],
    seeds: Sequence[int],
    runner: Runner,
) -> tuple[dict[int, Values], dict[int, str]]:
    """Returns the values of each case by its place, and the reasons of those that cannot be run."""
    variants: list[Variant] = []
    refused: dict[int, ScenarioError] = {}
    for place, (_, case) in enumerate(cases):
        try:
            variants.append(subject.variant(case, guide.subject, place))
        except ScenarioError as error:
            refused[place] = error
    if not variants and refused:
        raise next(iter(refused.values()))
    metrics = sorted({name for section, _ in cases for name in _metrics(section)})
    runs = [run_of(variant, seed) for variant in longest_first(variants) for seed in seeds]
    rows = runner.figures(runs, metrics)
    values: dict[int, Values] = {}
    for run, row in zip(runs, rows, strict=True):
        of_case = values.setdefault(run.variant.index, {name: [] for name in metrics})
        for name, value in zip(metrics, row, strict=True):
            of_case[name].append(value)
    return values, {place: error.message for place, error in refused.items()}


def _metrics(section: Section) -> set[str]:
    """Returns the metrics that a section needs."""
    parts = {part for measure in section.measures for part in measure.parts}
    return parts | {section.ellipse.delay, section.ellipse.goodput}


def _found(
    section: Section, case: Case, own: Values | None, other: Values | None, refused: str
) -> Found:
    if own is None:
        return Found(section, case, refused=refused)
    scores = [
        replace(_score(measure, own, other), band=section.band(case, measure))
        for measure in section.measures
    ]
    present = tuple(score for score in scores if score.own or score.other or score.band)
    points = _points(section, own)
    return Found(section, case, present, points, _points(section, other) if other else ())


def _points(section: Section, values: Values) -> tuple[tuple[float, float], ...]:
    pairs = zip(values[section.ellipse.delay], values[section.ellipse.goodput], strict=True)
    return tuple(pair for pair in pairs if all(map(math.isfinite, pair)))


def _score(measure: Measure, own: Values, other: Values | None) -> Score:
    figure = figure_of(measure)
    mine = _of(measure, own)
    if other is None:
        return Score(measure, sample(mine, 0.0))
    theirs = _of(measure, other)
    change = difference(figure, mine, theirs)
    own_sample, other_sample = sample(mine, 0.0), sample(theirs, 0.0)
    verdict = ""
    if change is not None and own_sample is not None and other_sample is not None:
        larger = max(abs(one.interval.mean) for one in (own_sample, other_sample))
        matters = abs(change.interval.mean) >= MIN_DIFFERENCE * larger
        verdict = _verdict(measure, change) if matters else "no difference shown"
    return Score(measure, own_sample, other_sample, change, verdict)


def _of(measure: Measure, values: Values) -> list[float]:
    """Returns the values of a measure, in the order of the seeds."""
    first, *second = (values[part] for part in measure.parts)
    if not second:
        return first
    return [a / b if b else math.nan for a, b in zip(first, second[0], strict=True)]


def _verdict(measure: Measure, change: Sample) -> str:
    """Returns the result of a comparison: the difference's sign, read by the better direction."""
    shown, better = finding(change.interval), better_of(measure)
    if shown == "no difference shown" or better == "neither":
        return shown
    return "better" if shown == better else "worse"
