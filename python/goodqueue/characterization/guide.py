"""The guidelines: sections with their scenarios, read from the files of the package."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, cast

from goodqueue import _core
from goodqueue.characterization.bands import Band, band_of
from goodqueue.errors import RequestError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.runs.settings import Settings

Guidelines = Literal["rfc7928", "rfc9743"]
"""Folders with guidelines: for queues, and for congestion controls."""

LINK = "bottleneck"


@dataclass(frozen=True, slots=True)
class Ellipse:
    """The two metrics of the trade-off between delay and goodput (RFC 7928 section 2.7).

    Attributes:
        delay: metric of the queueing delay.
        goodput: metric of the goodput.
    """

    delay: str = f"{LINK}.mean_queueing_delay_s"
    goodput: str = "flows.goodput_bps.sum"


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario of a section.

    Attributes:
        name: name in tables; empty if the section has one case.
        settings: the scenario, with the subject's text in its places.
        changes: values of keys by their paths, laid over the scenario.
        ecn: True if the queue must mark packets.
        set_point: factor of the delay or length at which the queue aims.
    """

    name: str
    settings: Settings
    changes: Mapping[str, object]
    ecn: bool = False
    set_point: float = 1.0


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a section.

    Attributes:
        metric: name of a metric, or two names with a slash between them for their ratio.
        label: name in tables; empty for the usual one.
        better: the direction that is better; empty if the metric's name decides.
    """

    metric: str
    label: str = ""
    better: Literal["", "higher", "lower", "neither"] = ""

    @property
    def parts(self) -> list[str]:
        """Names of the metrics that it needs: one, or the two of a ratio."""
        return self.metric.split(" / ")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the guidelines.

    Attributes:
        key: name of its file.
        number: number in the document.
        title: subject of the section.
        asks: the request of the document.
        about: the scenario that meets it.
        measures: the figures.
        cases: the scenarios.
        ellipse: the metrics of the trade-off.
        bands: bounds of figures.
    """

    key: str
    number: str
    title: str
    asks: str
    about: str
    measures: tuple[Measure, ...]
    cases: tuple[Case, ...]
    ellipse: Ellipse
    bands: tuple[Band, ...] = ()

    def band(self, case: Case, measure: Measure) -> Band | None:
        """Returns the band of a figure in a case; None if it has none."""
        found = (one for one in self.bands if one.metric == measure.metric)
        return next((one for one in found if one.holds_in(case.name)), None)


@dataclass(frozen=True, slots=True)
class NotRun:
    """A part of the guidelines that is not run, with the reason.

    Attributes:
        number: number of the section.
        title: subject of the section.
        why: the reason.
    """

    number: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class Guide:
    """The guidelines of a document.

    Attributes:
        title: title of a report.
        document: name of the document.
        subject: text in the scenarios that stands for what is characterised.
        against: the usual subject of comparison.
        against_name: its name in tables and pictures.
        sections: the sections that are run, in the order of the document.
        not_run: the parts that are not run.
    """

    title: str
    document: str
    subject: str
    against: str
    against_name: str
    sections: tuple[Section, ...]
    not_run: tuple[NotRun, ...]

    def chosen(self, numbers: Sequence[str]) -> tuple[Section, ...]:
        """Returns the sections with these numbers, or within these; all if none is named.

        Raises:
            RequestError: if there is no such section.
        """
        for number in numbers:
            if not any(_within(one.number, number) for one in self.sections):
                reasons = [one.why for one in self.not_run if _within(one.number, number)]
                known = list(dict.fromkeys(one.number for one in self.sections))
                why = (
                    f"is not run: {reasons[0]}"
                    if reasons
                    else f"is unknown; {nearest(number, known)}"
                )
                raise RequestError(f"--section {number} {why}")
        if not numbers:
            return self.sections
        return tuple(
            one for one in self.sections if any(_within(one.number, number) for number in numbers)
        )


def _within(number: str, outer: str) -> bool:
    return number == outer or number.startswith(f"{outer}.")


@cache
def guide(name: Guidelines) -> Guide:
    """Returns the guidelines of a folder."""
    folder = resources.files("goodqueue.characterization") / name
    read = {
        key: tomllib.loads((folder / f"{key}.toml").read_text("utf-8"))
        for key in ("guide", *tomllib.loads((folder / "guide.toml").read_text("utf-8"))["order"])
    }
    outline = read.pop("guide")
    sections = tuple(_section(key, table, outline) for key, table in read.items())
    return Guide(
        title=outline["title"],
        document=outline["document"],
        subject=outline["subject"],
        against=outline["against"],
        against_name=outline["against_name"],
        sections=sections,
        not_run=tuple(NotRun(**one) for one in outline.get("not_run", [])),
    )


def _section(key: str, table: Mapping[str, Any], outline: Mapping[str, Any]) -> Section:
    base = laid_over(outline["setup"], table["scenario"])
    base["title"] = table["title"]
    counts = table.get("flows", {})
    if counts:
        held = packets_held(**outline["path"])
        for flow in base["flow"]:
            if flow["name"] in counts:
                low, high = counts[flow["name"]]
                flow["count"] = flows_of(low, high, held)
    cases = tuple(_case(base, one) for one in table.get("case", [{}]))
    return Section(
        key=key,
        number=table["number"],
        title=table["title"],
        asks=table["asks"],
        about=table.get("about", ""),
        measures=tuple(map(_measure, table["measures"])),
        cases=cases,
        ellipse=Ellipse(**table.get("ellipse", {})),
        bands=tuple(map(band_of, table.get("band", []))),
    )


def laid_over(setup: Settings, own: Settings) -> Settings:
    """Returns the settings of a section laid over those that all sections share.

    A section's keys replace those of the set-up. Its `topology` replaces single links, unless it
    has a shape of its own.
    """
    merged = {**setup, **own}
    if "topology" in own and "shape" not in own["topology"]:
        merged["topology"] = {**setup["topology"], **own["topology"]}
    merged["flow"] = [dict(flow) for flow in own["flow"]]
    return merged


def _case(base: Settings, table: Mapping[str, Any]) -> Case:
    without = table.get("without", [])
    flows = [flow for flow in base["flow"] if flow["name"] not in without]
    return Case(
        name=table.get("name", ""),
        settings={**base, "flow": flows},
        changes=table.get("set", {}),
        ecn=table.get("ecn", False),
        set_point=table.get("set_point", 1.0),
    )


def _measure(entry: str | Mapping[str, str]) -> Measure:
    if isinstance(entry, str):
        return Measure(entry)
    better = cast("Literal['', 'higher', 'lower', 'neither']", entry.get("better", ""))
    return Measure(entry["metric"], entry.get("label", ""), better)


def packets_held(rate: str, rtt: str, frame: str, buffer_bdp: float) -> float:
    """Returns the packets that a path holds: its bandwidth-delay product and its buffer.

    Args:
        rate: rate of the bottleneck.
        rtt: base round-trip time.
        frame: size of a full frame.
        buffer_bdp: buffer in bandwidth-delay products.
    """
    (bps, _), (seconds, _) = _measured(rate), _measured(rtt)
    bdp = bps * seconds / (8 * _core.parse_size("frame", frame))
    return bdp * (1 + buffer_bdp)


def _measured(text: str) -> tuple[float, str]:
    found = _core.measure(text)
    assert found is not None
    return found


def flows_of(low: float, high: float, held: float) -> int:
    """Returns the flows that raise the congestion level from one to another (section 8.2).

    A level is a number of flows for each packet that the path holds: 0.036, 0.081 and 0.114 for a
    loss rate of 0.1 %, 0.5 % and 1 % behind tail drop. Counts are rounded to the nearest.
    """
    return _nearest_whole(high * held) - _nearest_whole(low * held)


def _nearest_whole(flows: float) -> int:
    return math.floor(flows + 0.5)
