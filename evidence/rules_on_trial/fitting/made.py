"""Makes the files of the package: the fitted table, and the record of the rules."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import goodqueue.sizing.calibrated as package
from evidence.rules_on_trial import draw
from evidence.rules_on_trial.check import affordable
from evidence.rules_on_trial.fitting import data
from evidence.rules_on_trial.fitting.fit import KINDS, fit
from evidence.rules_on_trial.fitting.network import Recipe
from evidence.rules_on_trial.fitting.record import records, trials
from evidence.rules_on_trial.run import read
from goodqueue import _core
from goodqueue.sizing.calibrated.coverage import kinds_of
from goodqueue.sizing.calibrated.record import FILE
from goodqueue.sizing.calibrated.smallest import Calibrated, calibrated, least_if

if TYPE_CHECKING:
    from evidence.rules_on_trial.fitting.record import Trial
    from evidence.rules_on_trial.fitting.table import Fitted
    from goodqueue.sizing.calibrated.surface import Surfaces
    from goodqueue.sizing.link import Link

HOME = Path(package.__file__).parent
SEARCHES = data.FOLDER / "searches.jsonl"

RECIPE = Recipe(units=(32, 32), ridge=1e-4, iterations=400)
LEVEL = 0.9
WIDTHS = tuple(float(f"{width:.4g}") for width in np.geomspace(0.2, 6, 120))
"""Factors by which the standard errors are multiplied in turn."""


SHIFTS = tuple(float(f"{shift:.3g}") for shift in np.linspace(0, 6, 301))
"""Numbers of standard errors that are tried as the distance of an interval's end."""


FEWEST_OF_KIND = 40
"""Smallest number of searches of a kind of links for ends of their own: two lie outside each."""


@dataclass(frozen=True, slots=True)
class Search:
    """Result of a search by simulation on one link.

    Attributes:
        seed: seed of the study that contains the link.
        index: number of the link.
        packets: the smallest buffer that keeps all bounds; None if none does.
        least: the smallest that keeps utilisation and loss; None if none does.
        reached: the largest limit that was tried.
    """

    seed: int
    index: int
    packets: int | None
    least: int | None
    reached: int

    @property
    def link(self) -> Link:
        """The link with its bounds."""
        return draw.link(self.seed, self.index)


def searches(seed: int, path: Path = SEARCHES) -> list[Search]:
    """Returns the finished searches of a seed."""
    return [
        Search(seed, one["index"], one["packets"], one["least"], one["reached"])
        for one in read(path)
        if one["seed"] == seed and one["finished"]
    ]


def keep_searches(files: dict[int, Path], out: Path = SEARCHES) -> None:
    """Writes the searches of all seeds into one file, without the figures of single limits.

    Links that are too costly by today's limit (`affordable`) are left out.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        for seed, path in files.items():
            for one in sorted(read(path), key=lambda document: document["index"]):
                one.pop("seen", None)
                if affordable(draw.link(seed, one["index"]), one["index"]):
                    file.write(json.dumps({"seed": seed, **one}) + "\n")


def covers(found: Calibrated, search: Search) -> bool:
    """Returns True if the predictive interval contains `least` of the search."""
    if search.least is None:
        return found.high is None or found.high > search.reached
    return found.low <= search.least and (found.high is None or search.least <= found.high)


def width(made: Fitted, of: list[Search]) -> float:
    """Returns the smallest factor of the errors whose intervals cover 90 % (conformal)."""
    tables = [replace(made, widths=np.full(3, width)).surfaces() for width in WIDTHS]

    def covered(search: Search, place: int) -> bool:
        found = calibrated(search.link, tables[place])
        return found is not None and covers(found, search)

    needed = []
    for search in of:
        # A wider interval covers all that a narrower one covers.
        place = bisect_left(range(len(WIDTHS)), 1, key=lambda at: covered(search, at))
        needed.append(WIDTHS[place] if place < len(WIDTHS) else math.inf)
    place = min(math.ceil(LEVEL * (len(needed) + 1)), len(needed)) - 1
    return sorted(needed)[place]


def tails(made: Surfaces, of: list[Search]) -> list[tuple[float, float]]:
    """Returns the numbers of standard errors from the prediction to the ends, by kind of link.

    5 % of the searches of a kind have a buffer below the lower end, and 5 % one above the upper. A
    kind with few searches has the ends of all.
    """
    kinds: list[list[Search]] = [[] for _ in range(KINDS)]
    for search in of:
        found = calibrated(search.link, made)
        if found is not None and search.least is not None:
            kinds[2 * (search.link.profile != "rfc") + found.loss_decides].append(search)
    every = [search for searches_of_kind in kinds for search in searches_of_kind]
    return [_ends(made, one if len(one) >= FEWEST_OF_KIND else every) for one in kinds]


def _ends(made: Surfaces, of: list[Search]) -> tuple[float, float]:
    """Returns the numbers of standard errors to the ends of these searches, each with a buffer."""
    below: list[float] = []
    above: list[float] = []
    for search in of:
        found = search.least
        assert found is not None

        def reaches_down(place: int, link: Link = search.link, found: int = found) -> bool:
            low = least_if(link, made, -SHIFTS[place])
            return low is not None and low <= found

        def reaches_up(place: int, link: Link = search.link, found: int = found) -> bool:
            high = least_if(link, made, SHIFTS[place])
            return high is None or high >= found

        for needed, reaches in ((below, reaches_down), (above, reaches_up)):
            place = bisect_left(range(len(SHIFTS)), 1, key=reaches)
            needed.append(SHIFTS[min(place, len(SHIFTS) - 1)])
    ends = np.quantile([below, above], (1 + LEVEL) / 2, axis=1)
    return float(ends[0]), float(ends[1])


def write_record(of: list[Trial]) -> None:
    """Writes the record of the rules for the package."""
    counts = {name: asdict(one) for name, one in records(of).items()}
    (HOME / "record.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")


def write_coverage() -> None:
    """Writes the coverage of held-out links by kind for the package."""
    counts: dict[str, list[int]] = {}
    for search in searches(draw.CHECK_SEED):
        found = calibrated(search.link)
        assert found is not None
        for kind in kinds_of(search.link, found):
            links = counts.setdefault(kind, [0, 0])
            links[0] += 1
            links[1] += covers(found, search)
    kinds = {kind: {"links": n, "held": held} for kind, (n, held) in sorted(counts.items())}
    text = json.dumps({"results_version": _core.results_version(), "kinds": kinds}, indent=2)
    (HOME / FILE).write_text(f"{text}\n", encoding="utf-8")


def make() -> None:
    """Fits, calibrates the errors on the searches of a separate seed, and writes both files."""
    links = data.links()
    made, _ = fit(data.rows(links), RECIPE)
    factor = width(made, searches(draw.CALIBRATION_SEED))
    made = replace(made, widths=np.full(3, factor))
    ends = tails(made.surfaces(), searches(draw.CALIBRATION_SEED))
    made = replace(made, tails=np.array(ends))
    (HOME / "table.npz").write_bytes(made.file())
    write_record(trials(links, made.surfaces()))
    print(f"{len(links)} links, errors times {factor}, ends at {made.tails} of them")
