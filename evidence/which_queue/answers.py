"""The answers of docs/which-queue.md: which queue suits which link, and what it costs.

An answer states figures and makes claims about them. A test fails if a claim does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.which_queue.figures import Figure, Quantity, ping, use

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evidence.which_queue.figures import Figures

FAIR = ("drr", "sfq", "fq_codel", "fq_pie", "cake")
"""Disciplines with a queue for each flow. The shaper before `fq_codel` has a rate of its own."""

FIFO, BLOATED = "drop_tail, 1 BDP", "drop_tail, 1000 packets"

MOS = Quantity("9.1", "call, 1 web, 5 bulk", "call.mos", 1)
SLOW_USE = Quantity("8.2.6", "both phases", "bottleneck.utilization", 100)
SLOW_DELAY = Quantity("8.2.6", "10 Mb/s", "bottleneck.mean_queueing_delay_s", 1000)
CORE = "1000 Mb/s, 50 ms"


@dataclass(frozen=True)
class Answer:
    """Recommended queue for a kind of link.

    Attributes:
        link: the kind of link.
        run: the recommended queue.
        figures: the figures behind it.
        cost: the price of it.
        claims: statements that must hold, with their truth.
    """

    link: str
    run: str
    figures: str
    cost: str
    claims: dict[str, bool]


def answers(found: Figures) -> list[Answer]:
    """Returns the answers, in the order of the page."""
    return [_uplink(found), _downlink(found), _radio(found), _core(found)]


def below(one: Figure, others: Iterable[Figure]) -> bool:
    """Returns True if an interval is below all others."""
    return all(one.high < other.low for other in others)


def _single(found: Figures) -> list[str]:
    """Returns the disciplines with one queue for all flows."""
    return [name for name in found.queues if name not in {*FAIR, "tbf before fq_codel"}]


def _uplink(found: Figures) -> Answer:
    slow, fast = ping("1 Mb/s, 50 ms"), ping("10 Mb/s, 50 ms")
    pings = [found.of(name, fast) for name in _single(found)]
    waits = f"{found.of('fq_codel', fast)} ms at 10 Mb/s and {found.of('fq_codel', slow)} at 1"
    bloated = f"{found.of(BLOATED, fast)} and {found.of(BLOATED, slow)}"
    used, busy = (found.of(name, use("10 Mb/s, 50 ms")) for name in ("fq_codel", FIFO))
    mos = f"{found.of('fq_codel', MOS)} in place of {found.of(BLOATED, MOS)}"
    return Answer(
        "home uplink, 1 to 20 Mb/s",
        "`fq_codel`; `cake` if you also shape to less than the modem's rate",
        f"A ping waits {waits} (p99), in place of {bloated} behind 1000 packets of tail drop. A "
        f"call beside five bulk flows has a MOS of {mos}.",
        f"{used} % of 10 Mb/s is used, in place of {busy}.",
        {
            "a ping waits less behind fq_codel than behind any single queue": below(
                found.of("fq_codel", fast), pings
            ),
            "a ping waits less behind cake than behind any single queue": below(
                found.of("cake", fast), pings
            ),
            "a call is better behind fq_codel": below(
                found.of(BLOATED, MOS), [found.of("fq_codel", MOS)]
            ),
            "at least 95 % of 10 Mb/s is used": used.mean >= 95,
        },
    )


def _downlink(found: Figures) -> Answer:
    cases = ("100 Mb/s, 50 ms", "1000 Mb/s, 50 ms")
    used = [found.of("fq_codel", use(case)) for case in cases]
    waits = [found.of("codel", ping(case)) for case in cases]
    tuned = found.of("red", use(cases[1]))
    far = [found.of(name, use("100 Mb/s, 500 ms")) for name in ("fq_codel", FIFO)]
    return Answer(
        "home downlink, 50 to 1000 Mb/s",
        "`fq_codel`; `codel` if the device has a single queue",
        f"A ping waits {found.of('fq_codel', ping(cases[0]))} ms at 100 Mb/s behind `fq_codel`, "
        f"{waits[0]} behind `codel` and {found.of(BLOATED, ping(cases[0]))} behind 1000 packets. "
        f"Neither needs tuning; `red` with the thresholds of 10 Mb/s uses {tuned} % of 1000.",
        f"Over 500 ms {far[0]} % of 100 Mb/s is used, in place of {far[1]} behind a buffer of the "
        "whole bandwidth-delay product.",
        {
            "fq_codel keeps at least 95 % of both rates busy": all(one.mean >= 95 for one in used),
            "a ping waits less than 10 ms behind codel at both rates": all(
                one.high < 10 for one in waits
            ),
            "a ping waits less behind fq_codel than behind codel at both rates": all(
                below(found.of("fq_codel", ping(case)), [found.of("codel", ping(case))])
                for case in cases
            ),
            "red uses less than half of 1000 Mb/s": tuned.high < 50,
            "fq_codel loses use over 500 ms": below(far[0], far[1:]),
        },
    )


def _radio(found: Figures) -> Answer:
    names = ("fq_codel", FIFO, BLOATED)
    waits = [found.of(name, SLOW_DELAY) for name in names]
    used = [found.of(name, SLOW_USE) for name in names]
    return Answer(
        "Wi-Fi, LTE: a rate that changes",
        "`fq_codel`, above a driver that holds few packets itself",
        f"When 100 Mb/s fall to 10 for 20 s, packets wait {waits[0]} ms on average, in place of "
        f"{waits[1]} behind one bandwidth-delay product of the mean rate and {waits[2]} behind "
        "1000 packets.",
        f"{used[0]} % of the changing rate is used, in place of {used[1]} and {used[2]}: six Reno "
        "flows take longer than a phase to fill the higher rate.",
        {
            "packets wait less behind fq_codel": below(waits[0], waits[1:]),
            "fq_codel uses less of the rate": below(used[0], used[1:]),
        },
    )


def _core(found: Figures) -> Answer:
    names = (FIFO, "codel", "fq_codel")
    costs = [found.cost(name) or 0 for name in names]
    delays = [found.of(name, _p99(CORE)) for name in names]
    used = [found.of(name, use(CORE)) for name in names]
    return Answer(
        "core and data centre, 1 Gb/s and more",
        "`drop_tail` as small as `goodqueue size` allows; `codel` if few flows share the link; "
        "`step` where all senders are DCTCP",
        f"A packet costs {costs[0]} instructions here, in place of {costs[1]} (`codel`) and "
        f"{costs[2]} (`fq_codel`). With four flows at 1000 Mb/s the p99 of the delay is "
        f"{delays[0]} ms behind one bandwidth-delay product and {delays[1]} behind `codel`, and "
        f"both keep the link busy: {used[0]} and {used[1]} %.",
        "Flows are not isolated: one that does not yield, or many with a short round trip, take "
        "the others' share.",
        {
            "tail drop is the cheapest": costs[0] < costs[1] < costs[2],
            "codel has less delay than one bandwidth-delay product": below(delays[1], delays[:1]),
            "both keep at least 99 % busy": min(used[0].mean, used[1].mean) >= 99,
        },
    )


def _p99(case: str) -> Quantity:
    return Quantity("12", case, "bottleneck.p99_queueing_delay_s", 1000)
