"""Simulated links that are drawn at random, captured, and sized from their captures.

The truth of a link is a model (`passive.model`) with the parameters that were drawn. The link is
run once with a tap on either side of its queue. The captures are analysed and fitted as
`goodqueue size --from` does. The true and the fitted traffic are sized for the same bounds, under
the same seeds.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import goodqueue
from goodqueue.passive import analyze
from goodqueue.passive.fit import FEW_REPLICATES, fit
from goodqueue.passive.link import link_of
from goodqueue.passive.model import Choices, Model, Sender, Short
from goodqueue.passive.scenario import today as today_of
from goodqueue.passive.size import model_for
from goodqueue.passive.today import Bench
from goodqueue.passive.trial import CaptureTrial
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.answer.work_out import work_out
from goodqueue.sizing.link import Link
from goodqueue.sizing.search.budget import Budget, Plan
from goodqueue.sizing.search.laboratory import Laboratory
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.passive.today import Today

DEVELOPMENT = 1
"""Seed of the links with which the fit was developed."""

HELD_OUT = 20_261_123
"""Seed of the links by which the fit is judged; it was fixed before any of them was run."""

LINKS = 40
LARGEST_SHARE, MOST_PACKETS = 0.15, 3
"""Recommendations agree if they differ by at most this share, or by this number of packets."""

LEAST_RIGHT = 0.9
"""Smallest share of the recommendations that must agree."""

CAPTURED_PACKETS = 30_000
LEAST_S, MOST_S = 15.0, 60.0
"""Approximate number of packets of a capture, and its smallest and largest duration."""

MSS, PACKET, FRAMING = 1448, 1500, 14
FRAME_BITS = 8 * (PACKET + FRAMING)

MOST_REPLICATES = 24
SHARE = 0.5
"""Measured time of replicates, as a share of the time that the command measures."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A link with its traffic and its bounds.

    Attributes:
        number: index of the link in the order of the draw.
        model: the true traffic.
        link: the link in the form that the rules need, with the bounds.
    """

    number: int
    model: Model
    link: Link


@dataclass(frozen=True, slots=True)
class Judged:
    """A drawn link and the buffers found for it.

    Attributes:
        drawn: the link.
        truth: the buffer for the true parameters, in packets; None if no buffer suffices.
        found: the buffer from the captures, in the same form.
        carried: the range that follows from the remaining difference of fit and captures; None
            without one.
        today: the comparison of the captures with their model.
    """

    drawn: Drawn
    truth: int | None
    found: int | None
    carried: tuple[int, int | None] | None
    today: Today

    @property
    def right(self) -> bool:
        """Returns True if both agree."""
        if self.truth is None or self.found is None:
            return self.truth == self.found
        return abs(self.found - self.truth) <= max(LARGEST_SHARE * self.truth, MOST_PACKETS)


def draw(seed: int, count: int = LINKS) -> Iterator[Drawn]:
    """Draws links: 2 to 50 Mb/s, 2 to 24 flows, buffers of 0.3 to 1.5 bandwidth-delay products."""
    random = Random(seed)  # noqa: S311 - a documented stream
    for number in range(count):
        yield _drawn(number, random)


def _drawn(number: int, random: Random) -> Drawn:
    mean_rtt_s = exp(random.uniform(log(0.02), log(0.1)))
    bdp = exp(random.uniform(log(8), log(150)))
    rate = min(max(bdp * FRAME_BITS / mean_rtt_s, 2e6), 50e6)
    bdp = rate * mean_rtt_s / FRAME_BITS
    limit = max(round(bdp * random.uniform(0.3, 1.5)), 6)
    # Windows of 4 to 30 packets when the queue is full.
    flows = min(max(round((bdp + limit) / exp(random.uniform(log(4), log(30)))), 2), 24)
    control = random.choice(("cubic", "reno", "both"))
    span_s = min(max(CAPTURED_PACKETS * FRAME_BITS / rate, LEAST_S), MOST_S)
    controls = ("cubic", "reno") if control == "both" else (control, control)
    senders = [
        _sender(mean_rtt_s * random.uniform(0.5, 1.5), controls[n % 2], random, span_s)
        for n in range(flows)
    ]
    if (
        random.random() < 0.3
    ):  # Receivers acknowledge the first segments one by one, as in the recordings.
        senders = [replace(sender, opening_acks=400) for sender in senders]
    if random.random() < 0.3 and flows > 3:
        fair_bytes = rate * span_s / 8 / flows
        for place in range(2, flows, 3):
            start_s, part = random.uniform(0.05, 0.6) * span_s, random.uniform(0.05, 0.3)
            senders[place] = replace(
                senders[place], start_s=start_s, lasts=False, payload_bytes=round(part * fair_bytes)
            )
    profile = "rfc" if random.random() < 0.2 else "linux"
    if random.random() < 0.4:
        share = random.uniform(0.05, 0.15) * rate
        window = max(round(share * (mean_rtt_s + limit * FRAME_BITS / rate) / 8), 3 * MSS)
        sender = _sender(mean_rtt_s, "cubic", random, span_s)
        senders.append(replace(sender, local=False, kind="receiver_window", window_bytes=window))
    load = random.uniform(0.02, 0.1) * rate if random.random() < 0.4 else 0.0
    transfer = 8 * 10 * MSS
    count = round(load * span_s / transfer)
    model = Model(
        rate_bps=round(rate),
        framing_bytes=FRAMING,
        frame_bytes=PACKET + FRAMING,
        limit_packets=limit,
        limit_low_s=None,
        limit_high_s=None,
        aqm=False,
        senders=tuple(senders),
        short=Short(count, count * transfer // 8, mean_rtt_s) if count else None,
        other_bps=0.0,
        span_s=span_s,
        window_s=span_s,
        choices=Choices(profile=profile),
    )
    lasting = [sender for sender in model.local if sender.lasts]
    rtts = sorted(sender.rtt_s for sender in lasting)
    link = Link(
        rate_bps=round(rate),
        rtts_s=tuple(rtts),
        flows=len(lasting),
        congestion_control=controls[0],
        byte_counting=True,
        framing_bytes=FRAMING,
        max_loss_rate=_loss(flows, bdp, limit, random),
    )
    return Drawn(number, model, link)


def _loss(flows: int, bdp: float, limit: int, random: Random) -> float | None:
    """A bound on loss that half to twice the buffer keeps by the square-root law, or none."""
    if random.random() < 0.25:
        return None
    window = (bdp + limit * random.uniform(0.6, 1.6)) / flows
    return min(1.5 / max(window, 2.0) ** 2, 0.06)


def _sender(rtt_s: float, control: str, random: Random, span_s: float) -> Sender:
    return Sender(
        name="",
        kind="congestion",
        local=True,
        start_s=random.uniform(0.2, 1.0),
        end_s=span_s,
        lasts=True,
        present=False,
        payload_bytes=0,
        rtt_s=rtt_s,
        control=control,
        mss=MSS,
        timestamps=True,
        window_bytes=None,
        opening_acks=0,
        ack_every=2,
        slow_start_bytes=None,
        lost=0,
    )


def judge(drawn: Drawn, runner: Runner) -> Judged:
    """Captures a link, and sizes it by its captures and by its true traffic."""
    with tempfile.TemporaryDirectory(prefix="goodqueue-capture-") as folder:
        before, after = Path(folder, "before.pcap"), Path(folder, "after.pcap")
        goodqueue.run(
            today_of(drawn.model), seed=drawn.number + 1, trace={"before": before, "after": after}
        )
        analysis = analyze(before, after=after)
    link = replace(
        link_of(analysis),
        min_utilization=drawn.link.min_utilization,
        max_loss_rate=drawn.link.max_loss_rate,
    )
    today = fit(Bench(analysis, runner), model_for(analysis, link), Budget(), few=FEW_REPLICATES)
    truth, _ = _size(drawn.model, drawn.link, runner, None)
    found, carried = _size(today.model, link, runner, today)
    return Judged(drawn, truth, found, carried, today)


def _size(
    model: Model, link: Link, runner: Runner, today: Today | None
) -> tuple[int | None, tuple[int, int | None] | None]:
    from goodqueue.passive.carry import carried

    laboratory = Laboratory(runner, CaptureTrial(model, link))
    laboratory.plan = Plan(share=SHARE, lean=True)
    effort = Effort(replicates=MOST_REPLICATES, queues=(), changes=False, rules=False)
    answer = work_out(link, laboratory, effort)
    range_ = carried(answer, today)
    return answer.buffer, None if range_ is None else (range_.low, range_.high)


def judged(seed: int, count: int = LINKS, jobs: int | None = None) -> Iterator[Judged]:
    """Judges this number of links, in the order of the draw."""
    with (
        tempfile.TemporaryDirectory(prefix="goodqueue-captures-") as folder,
        user_store("captures", Path(folder, "store")) as store,
    ):
        runner = Runner(store, Threads(jobs, limit_of(None)))
        for drawn in draw(seed, count):
            yield judge(drawn, runner)
