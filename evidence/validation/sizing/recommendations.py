"""Validation of recommendations: random links, searched, and then scanned with other seeds.

A search is confirmed if an exhaustive scan of the limits around its answer (`validation.scan`)
finds the smallest sufficient limit at most one grid step away. A recommendation is refuted if the
recommended limit breaks a bound with 99 % confidence. For links without a sufficient limit, the
scan must not find one with 99 % confidence.
"""

from __future__ import annotations

import math
import sys
import textwrap
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from evidence.validation.sizing.scan import FAR, MOST_REPLICATES, NEAR, around, scan, steps_between
from goodqueue._core import bscl
from goodqueue.errors import RequestError
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.link import Link, as_in_theory
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.laboratory import Laboratory
from goodqueue.sizing.search.reach import first_reach, last_reach
from goodqueue.sizing.search.smallest import smallest
from goodqueue.sizing.search.trials import Trials
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import length
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINKS = 50
LEAST_CONFIRMED = 45
FRESH_SEED = 1_000_001
"""First seed of the scan, which no search reaches."""

SEED = 2026

MOST_PACKETS = 3_000_000
"""Largest number of packets of a replicate; links that need more are left out, because a scan of
them takes too long."""

RUNS = Path("target/validation/sizing")
"""Folder of replicates, one per link, so that an interrupted check can continue."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Check of one link.

    Attributes:
        number: its index among the links drawn, from 1.
        link: the link.
        found: recommendation of the search, in packets; None if no limit suffices.
        scanned: result of the scan; None if no limit suffices.
        steps: grid steps between the two; None if one of them has none.
        refuted: True if the scan shows with 99 % confidence that the recommendation breaks a bound,
            or that a limit suffices although the search found none.
        runs: replicates of both.
    """

    number: int
    link: Link
    found: int | None
    scanned: int | None
    steps: int | None
    refuted: bool
    runs: int

    @property
    def confirmed(self) -> bool:
        """True if search and scan agree."""
        return self.found == self.scanned or (self.steps is not None and self.steps <= 1)


def random_links(seed: int = SEED) -> Iterator[Link]:
    """Yields links of 1 Mb/s to 1 Gb/s, 5 to 300 ms and 1 to 300 flows, with random bounds."""
    draw = Random(seed)  # noqa: S311 - links, no secrets
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
            described = Link(
                rate,
                rtts if longest > shortest else (shortest,),
                flows,
                min_utilization=busy,
                max_loss_rate=loss,
                max_delay_s=delay,
            )
        except RequestError:  # Bounds that no queue could keep are refused before any search.
            continue
        yield as_in_theory(described)


def needs(link: Link) -> float:
    """Returns the packets of a replicate at the first limit of a search or the expected answer."""
    wanted = bscl(link)
    expected = min(wanted.packets, wanted.most_for_delay or math.inf)
    return length(link, max(first_reach(link), expected)).packets


def affordable(most_packets: float) -> Iterator[tuple[int, Link]]:
    """Yields the links whose replicates need at most this many packets, with their indices."""
    for number, link in enumerate(random_links(), 1):
        if needs(link) <= most_packets:
            yield number, link


def check(number: int, link: Link, store: Store) -> Checked | None:
    """Searches one link as `goodqueue size` does, and scans it.

    Returns None if its losses are so rare that its replicates need more than `MOST_PACKETS`.
    """
    runner = Runner(store, Threads())
    laboratory = Laboratory(runner, LinkTrial())
    first = first_reach(link)
    laboratory.calibrate(link, first)
    if laboratory.scenario(link, first).duration_s / link.packet_time_s > MOST_PACKETS:
        return None
    searched = Trials(laboratory.sampler(link))
    helped, hurt = targets(link)
    last = last_reach(link, laboratory)
    answer = smallest(
        searched, helped, hurt, reach=(min(first, last), last), most_replicates=Effort().replicates
    )
    fresh = Laboratory(runner, LinkTrial(), FRESH_SEED)
    fresh.take_length_of(laboratory)
    points = around(answer.limit or answer.floor, last)
    found = scan(fresh.sampler(link), points, helped, hurt)
    steps = None
    if answer.limit is not None and found.least is not None:
        steps = steps_between(answer.limit, found.least)
    return Checked(
        number,
        link,
        answer.limit,
        found.least,
        steps,
        bool(found.shown) if answer.limit is None else answer.limit in found.refuted,
        searched.spent + found.runs,
    )


def check_links(
    count: int = LINKS, most_packets: float = MOST_PACKETS, folder: Path = RUNS
) -> list[Checked]:
    """Checks this many random links, and reports progress on standard error."""
    checked: list[Checked] = []
    links = affordable(most_packets)
    while len(checked) < count:
        number, link = next(links)
        with closing(Store.open(folder / str(number), keep_both=True)) as store:
            one = check(number, link, store)
        if one is not None:
            checked.append(one)
            print(f"[{len(checked)}/{count}] {' | '.join(_cells(one))}", file=sys.stderr)
    return checked


def describe(checked: Sequence[Checked], most_packets: float) -> str:
    """Returns the section of the report."""
    confirmed = sum(one.confirmed for one in checked)
    refuted = sum(one.refuted for one in checked)
    runs = sum(one.runs for one in checked)
    summary = (
        f"`goodqueue size` was run on {len(checked)} of {checked[-1].number} links drawn at random "
        "(1 Mb/s to 1 Gb/s, 5 to 300 ms, 1 to 300 flows, random bounds). They are the links whose "
        "replicates, with the buffer that theory expects, need at most "
        f"{most_packets:,.0f} packets ({_limit(most_packets)}). Each answer is compared with a "
        f"scan under other seeds: of all {2 * NEAR + 1} grid points around the answer and every "
        f"{FAR}th below it, or of the whole grid in the same way if no buffer suffices. A limit "
        "gets replicates until it is shown with 99 % confidence to keep all bounds or to break "
        f"one, at most {MOST_REPLICATES}; a limit that is still open then is judged by its mean. "
        f"**{confirmed} are confirmed** within one step (the larger of 5 % and a packet), and "
        f"{refuted} are refuted. An answer is refuted if its limit was shown to break a bound, or "
        f"if it has no limit and one was shown to suffice. {runs:,} replicates were run."
    )
    return "\n".join(
        [
            "## Recommendations on random links",
            "",
            *textwrap.wrap(summary, 100),
            "",
            "| rate, Mb/s | RTT, ms | flows | bounds | search | scan | steps | verdict |",
            "| ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |",
            *(f"| {' | '.join(_cells(one))} |" for one in checked),
            "",
        ]
    )


def _limit(most_packets: float) -> str:
    if most_packets >= MOST_PACKETS:
        return "a scan of others takes too long"
    return f"`make evidence NAME=validation` takes those of up to {MOST_PACKETS / 1e6:g} million"


def _cells(one: Checked) -> list[str]:
    link = one.link
    bounds = [f"{link.min_utilization:.0%} busy"]
    if link.max_loss_rate is not None:
        bounds.append(f"loss {link.max_loss_rate:.0%}")
    if link.max_delay_s is not None:
        bounds.append(f"{1e3 * link.max_delay_s:.0f} ms")
    rtts = f"{1e3 * min(link.rtts_s):.0f}"
    if len(link.rtts_s) > 1:
        rtts += f" to {1e3 * max(link.rtts_s):.0f}"
    verdict = "confirmed" if one.confirmed else "**not confirmed**"
    return [
        f"{link.rate_bps / 1e6:.3g}",
        rtts,
        str(link.flows),
        ", ".join(bounds),
        "none" if one.found is None else f"{one.found:,}",
        "none" if one.scanned is None else f"{one.scanned:,}",
        "" if one.steps is None else str(one.steps),
        verdict + (", **refuted**" if one.refuted else ""),
    ]
