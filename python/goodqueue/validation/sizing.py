"""Are recommendations right? Random links, searched, and then scanned with other seeds.

A search is confirmed if a fine scan of the limits around its answer finds the smallest one that
serves at most one grid step away, and refuted if the limit that it recommends breaks a bound with
99 % confidence. Of links that nothing serves the scan must not find one that does with 99 %.
"""

from __future__ import annotations

import math
import random
import tempfile
import textwrap
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.intervals import t_interval
from goodqueue.sizing.answer import first_reach, last_reach, targets
from goodqueue.sizing.laboratory import LinkLaboratory, Runner
from goodqueue.sizing.link import Link
from goodqueue.sizing.smallest import Target, Trials, grid, smallest
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LINKS = 50
LEAST_CONFIRMED = 45
FRESH_SEED = 1_000_001
"""The first seed of the scan: no search gets there."""

STEPS_AROUND = 6
SCAN_REPLICATES = 24
MOST_REPLICATES = 64
SEED = 2026


@dataclass(frozen=True, slots=True)
class Checked:
    """One link.

    Attributes:
        link: the link.
        found: what the search recommends, in packets; None if nothing serves.
        scanned: what the scan finds; None likewise.
        steps: grid steps between the two; None where one of them has none.
        refuted: whether the scan shows with 99 % that the recommendation breaks a bound, or that
            something serves where nothing was said to.
        runs: replicates of both.
    """

    link: Link
    found: int | None
    scanned: int | None
    steps: int | None
    refuted: bool
    runs: int

    @property
    def confirmed(self) -> bool:
        """Whether search and scan agree."""
        return self.found == self.scanned or (self.steps is not None and self.steps <= 1)


def random_links(seed: int = SEED) -> Iterator[Link]:
    """Links of 1 Mb/s to 1 Gb/s, 5 to 300 ms and 1 to 300 flows, with random bounds."""
    draw = random.Random(seed)  # noqa: S311 - links, no secrets
    while True:
        rate = 10 ** draw.uniform(6, 9)
        shortest = 0.005 * 60 ** draw.random()
        longest = min(0.3, shortest * draw.choice([1, 2, 4]))
        flows = round(300 ** draw.random())
        rtts = tuple(shortest + (longest - shortest) * step / 3 for step in range(4))
        busy = draw.choice([0.9, 0.95, 0.98, 0.99])
        loss = draw.choice([None, None, 0.01, 0.02, 0.05])
        delay = draw.choice([None, None, 0.05, 0.1, 0.2])
        try:
            yield Link(
                rate,
                rtts if longest > shortest else (shortest,),
                flows,
                min_utilization=busy,
                max_loss_rate=loss,
                max_delay_s=delay,
            )
        except RequestError:  # bounds that no queue could keep are refused before any search
            continue


def affordable(links: Iterator[Link], laboratory: LinkLaboratory, most: int) -> Iterator[Link]:
    """Those whose replicates can be run, with at most so many packets."""
    from goodqueue.sizing.trial import length

    for link in links:
        reach = last_reach(link, laboratory)
        if length(link, min(reach, first_reach(link))).packets <= most:
            yield link


def check(link: Link, store: Store) -> Checked:
    """Searches one link, and scans it."""
    runner = Runner(store, Threads())
    laboratory = LinkLaboratory(runner)
    first = first_reach(link)
    laboratory.calibrate(link, first)
    searched = Trials(laboratory.sampler(link))
    helped, hurt = targets(link)
    last = last_reach(link, laboratory)
    answer = smallest(
        searched, helped, hurt, reach=(min(first, last), last), most_replicates=MOST_REPLICATES
    )
    fresh = LinkLaboratory(runner, FRESH_SEED)
    fresh.take_length_of(laboratory)
    trials = Trials(fresh.sampler(link))
    around = answer.limit or answer.floor or last
    points = _around(around, last)
    trials.ensure(points, SCAN_REPLICATES)
    aims = [*helped, *hurt]
    scanned = _least(trials, points, helped, hurt)
    if answer.limit is not None:
        refuted = _refutes(trials.replicates[answer.limit], aims)
    else:
        refuted = any(_shows(trials.replicates[point], aims) for point in points)
    steps = None
    if answer.limit is not None and scanned is not None:
        steps = abs(points.index(answer.limit) - points.index(scanned))
    runs = searched.spent + trials.spent
    return Checked(link, answer.limit, scanned, steps, refuted, runs)


def _around(limit: int, last: int) -> list[int]:
    points = grid(max(2 * limit, last))
    at = points.index(limit) if limit in points else len(points) - 1
    return points[max(at - STEPS_AROUND, 0) : at + STEPS_AROUND + 1]


def _least(
    trials: Trials, points: Sequence[int], helped: Sequence[Target], hurt: Sequence[Target]
) -> int | None:
    """The smallest point from which on all scanned keep what buffers help."""
    failing = [point for point in points if not trials.passes(point, helped)]
    above = [point for point in points if not failing or point > failing[-1]]
    if not above or not trials.passes(above[0], hurt):
        return None
    return above[0]


def _refutes(replicates: Sequence[Mapping[str, float]], aims: Sequence[Target]) -> bool:
    """Whether a bound is broken with 99 % confidence (one-sided: the end of a 98 % interval)."""
    for aim in aims:
        interval = t_interval([one[aim.figure] for one in replicates], 0.98)
        end = interval.high if aim.at_least else interval.low
        if not aim.met_by(end):
            return True
    return False


def _shows(replicates: Sequence[Mapping[str, float]], aims: Sequence[Target]) -> bool:
    """Whether all bounds are kept with 99 % confidence."""
    for aim in aims:
        interval = t_interval([one[aim.figure] for one in replicates], 0.98)
        end = interval.low if aim.at_least else interval.high
        if not math.isfinite(end) or not aim.met_by(end):
            return False
    return True


def check_links(count: int = LINKS, most_packets: int = 3_000_000) -> list[Checked]:
    """Checks so many random links."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store.open(Path(folder) / "runs")) as store,
    ):
        laboratory = LinkLaboratory(Runner(store, Threads()))
        links = affordable(random_links(), laboratory, most_packets)
        return [check(next(links), store) for _ in range(count)]


def describe(checked: Sequence[Checked]) -> str:
    """The section of the report."""
    confirmed = sum(one.confirmed for one in checked)
    refuted = sum(one.refuted for one in checked)
    summary = (
        f"`goodqueue size` on {len(checked)} links drawn at random (1 Mb/s to 1 Gb/s, 5 to 300 ms, "
        "1 to 300 flows, random bounds). Each answer is held against a scan of the 13 grid points "
        f"around it with {SCAN_REPLICATES} replicates of other seeds: {confirmed} are confirmed "
        f"within one step (5 % or a packet), {refuted} refuted with 99 % confidence."
    )
    lines = [
        "## Recommendations on random links",
        "",
        *textwrap.wrap(summary, 120),
        "",
        "| rate, Mb/s | RTT, ms | flows | bounds | search | scan | steps | refuted |",
        "| ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |",
    ]
    for one in checked:
        link = one.link
        bounds = [f"{link.min_utilization:.0%} busy"]
        if link.max_loss_rate is not None:
            bounds.append(f"loss {link.max_loss_rate:.0%}")
        if link.max_delay_s is not None:
            bounds.append(f"{1e3 * link.max_delay_s:.0f} ms")
        rtts = f"{1e3 * min(link.rtts_s):.0f}"
        if len(link.rtts_s) > 1:
            rtts += f" to {1e3 * max(link.rtts_s):.0f}"
        cells = [
            f"{link.rate_bps / 1e6:.3g}",
            rtts,
            str(link.flows),
            ", ".join(bounds),
            "none" if one.found is None else f"{one.found:,}",
            "none" if one.scanned is None else f"{one.scanned:,}",
            "" if one.steps is None else str(one.steps),
            "yes" if one.refuted else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
