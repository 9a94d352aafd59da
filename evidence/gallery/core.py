"""Pictures of backbones, satellites, data centres and paths of many links."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from evidence.gallery.dots import Group, dots
from evidence.gallery.runs import Shown, Take, group, of, swept, window
from goodqueue.plots.over_time import backlog
from goodqueue.plots.panels import Line, Panel, stacked
from goodqueue.plots.style import GREY

if TYPE_CHECKING:
    from goodqueue.plots.style import Picture


def backbone() -> Picture:
    """Draws utilisation and loss for buffers around that of the square-root rule."""
    show = Shown("backbone")
    shares = (0.125, 0.25, 0.5, 1, 2, 8, 32)
    settings = [{"topology.bottleneck.queue.limit": f"{round(395_000 * s)}B"} for s in shares]
    runs = show.replicates(settings, seeds=3)

    def link(key: str) -> Take:
        return lambda summary: 100 * summary["links"]["bottleneck"][key]

    busy = swept("", shares, runs, link("utilization"))
    at = shares.index(1)
    return stacked(
        show.name,
        title="1,000 flows and the square-root rule",
        caption=(
            "Utilisation and loss against the buffer, in multiples of C·T/√N = 395 kB; means of "
            f"three runs with 95 % intervals. The rule keeps the link {busy.y[at]:.2f} % busy, as "
            "promised, and says nothing about loss: that takes a whole C·T, 32 times as much."
        ),
        xlabel="buffer, multiples of C·T/√N (logarithmic)",
        xlog=shares,
        panels=[
            Panel("busy, %", [busy], bottom=90, top=100.5),
            Panel("loss, %", [swept("", shares, runs, link("loss_rate"))]),
        ],
    )


def satellite() -> Picture:
    """Draws the windows of CUBIC, which reacts to random loss, and of BBR, which does not."""
    show = Shown("satellite")
    cases = {
        "cubic": {},
        "cubic, no random loss": {"topology.bottleneck.loss.probability": "0"},
        "bbr": {"flow.download.tcp.congestion_control": "bbr"},
    }
    runs = {name: show.run(setting) for name, setting in cases.items()}
    rates = {n: r.summary["flows"]["download"]["goodput_bps"] / 1e6 for n, r in runs.items()}
    return stacked(
        show.name,
        title="One loss in a thousand, 600 ms away",
        caption=(
            "Congestion windows over time; the path holds 1,500 kB. The download gets "
            f"{rates['cubic']:.1f} Mb/s of 20 with cubic, {rates['cubic, no random loss']:.1f} "
            f"without the random loss, and {rates['bbr']:.1f} with bbr."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "cwnd, kB",
                [window(run, "download", name) for name, run in runs.items()],
                bound=(1500, "rate · 600 ms"),
            )
        ],
    )


def three_bottlenecks() -> Picture:
    """Draws the goodput of flows across one link and across three, by drop tail and fq_codel."""
    show = Shown("three-bottlenecks")
    runs = show.replicates([{}, {"topology.queue": '{kind="fq_codel"}'}])
    rows = {"all three links": "through", "back": "on-back", "middle": "on-middle"}
    rows["front"] = "on-front"

    def mean(prefix: str) -> Take:
        return lambda summary: fmean(group(summary, prefix, "goodput_bps")) / 1e6

    return dots(
        show.name,
        title="Goodput in a parking lot",
        caption=(
            "Mean goodput of the four flows that cross all three links and of the four on each "
            "link; means of five runs with 95 % intervals. An equal share of a link among eight "
            "flows is 6.25 Mb/s with headers."
        ),
        xlabel="goodput of a flow, Mb/s",
        rows=list(rows),
        groups=[
            Group(label, [of(summaries, mean(prefix)) for prefix in rows.values()])
            for label, summaries in zip(("drop tail, 1 BDP", "fq_codel"), runs, strict=True)
        ],
    )


def partition_aggregate() -> Picture:
    """Draws the time of an answer against the number of servers."""
    show = Shown("partition-aggregate")
    servers = (8, 16, 32, 64, 128)
    cases = {
        "alpha 1": {},
        "alpha 8": {"topology.pool.0.alpha": "8"},
        "alpha 1, timeouts from 5 ms": {"tcp.rto.minimum": "5ms"},
    }

    def answer(summary: dict[str, Any]) -> float:
        return 1000 * fmean(group(summary, "worker", "mean_exchange_time_s"))

    lines = [
        swept(
            name,
            servers,
            show.replicates([setting | {"flow.worker.count": str(n)} for n in servers]),
            answer,
        )
        for name, setting in cases.items()
    ]
    ideal = [n * 64_000 * 8 * 1538 / 1448 / 10e9 * 1000 for n in servers]
    return stacked(
        show.name,
        title="64 kB from each of many servers",
        caption=(
            "Mean time from a request to the end of its answer, against the number of servers "
            "that answer at once; means of five runs with 95 % intervals. Where the end of an "
            "answer is lost, a timeout of 200 ms follows: a threshold that gives the port more of "
            "the memory puts that off, a shorter timeout softens it. Grey: when the last answer "
            "has passed the port."
        ),
        xlabel="servers (logarithmic)",
        xlog=servers,
        panels=[
            Panel(
                "an answer, ms (logarithmic)",
                [*lines, Line("the port's rate", servers, ideal, form="line", colour=GREY)],
                log=True,
            )
        ],
    )


def shared_buffer() -> Picture:
    """Draws the backlog of three ports of a switch with shared memory, two of them overloaded."""
    show = Shown("shared-buffer")
    run = show.run({"record.access": "true"})
    names = ("first", "second", "third")
    lines = [backlog(run, f"{n}.far_access.reverse", f"port to {n}", "bytes") for n in names]
    return stacked(
        show.name,
        title="Three ports, one memory",
        caption=(
            "Kilobytes that wait at each port of a switch with 1 MB of shared memory and dynamic "
            "thresholds of alpha 1. Two overloaded ports come to hold a third each; the third "
            "port, which is not, finds the rest free. The first tenth of a second."
        ),
        xlabel="time, s",
        panels=[Panel("kB waiting", lines)],
        until=0.1,
    )
