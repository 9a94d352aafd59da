"""Pictures of links at home and at work."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from evidence.gallery.dots import Group, dots
from evidence.gallery.runs import (
    Shown,
    Take,
    arrival_rate,
    group,
    of,
    swept,
    waited,
)
from goodqueue.plots.over_time import backlog, round_trips
from goodqueue.plots.panels import Line, Panel, stacked

if TYPE_CHECKING:
    from goodqueue.plots.style import Picture

QUEUE = "topology.bottleneck.queue"
FAIR = {QUEUE: '{kind="fq_codel"}'}

QUEUES_DOWN = "topology.bottleneck.reverse.queue"
EVENINGS = {
    "drop tail, 100 packets": ('{limit="100p"}', '{limit="100p"}'),
    "fq_codel both ways": ('{kind="fq_codel"}', '{kind="fq_codel"}'),
}


def bufferbloat() -> Picture:
    """Draws the backlog and a ping behind queues of 100 and of 8 packets."""
    show = Shown("bufferbloat")
    large, small = show.run(), show.run({"topology.bottleneck.queue.limit": "8p"})
    link = [run.summary["links"]["bottleneck"]["utilization"] * 100 for run in (large, small)]
    rtt = [run.summary["flows"]["ping"]["mean_rtt_s"] * 1000 for run in (large, small)]
    return stacked(
        show.name,
        title="One upload, two buffers",
        caption=(
            "Packets that wait, and round-trip times of a ping, over time. With 100 packets of "
            f"buffer the link is {link[0]:.1f} % busy and the ping takes {rtt[0]:.0f} ms on "
            f"average; with 8 packets {link[1]:.1f} % and {rtt[1]:.0f} ms."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "packets waiting",
                [
                    backlog(large, "bottleneck", "limit 100"),
                    backlog(small, "bottleneck", "limit 8"),
                ],
            ),
            Panel("ping, ms", [round_trips(large, "ping", ""), round_trips(small, "ping", "")]),
        ],
        until=60,
    )


def home_web() -> Picture:
    """Draws the waiting times of a household with drop tail and with fq_codel."""
    show = Shown("home-web")
    runs = show.replicates([{}, FAIR])
    rows = {
        "a web page": lambda s: s["flows"]["web"]["mean_page_time_s"] * 1000,
        "a short download": lambda s: s["flows"]["downloads"]["mean_transfer_time_s"] * 1000,
        "a ping (p99)": lambda s: s["flows"]["ping"]["p99_rtt_s"] * 1000,
    }
    upload = [of(r, lambda s: s["flows"]["upload"]["goodput_bps"] / 1e6).mean for r in runs]
    mos = [of(r, lambda s: s["flows"]["call"]["mos"]).mean for r in runs]
    return dots(
        show.name,
        title="An evening at home, beside an upload",
        caption=(
            "What one waits for, on average over five runs, with 95 % intervals. fq_codel in "
            f"place of 250 packets of drop tail lifts the call from {mos[0]:.1f} to {mos[1]:.1f} "
            f"MOS and takes the upload from {upload[0]:.1f} to {upload[1]:.1f} Mb/s."
        ),
        xlabel="ms (logarithmic)",
        rows=list(rows),
        groups=[
            Group(label, [of(r, figure) for figure in rows.values()])
            for label, r in zip(("drop tail, 250 packets", "fq_codel"), runs, strict=True)
        ],
        log=True,
    )


def evening() -> Picture:
    """Draws the backlog and a ping while a phone uploads pictures and other hosts use the link."""
    show = Shown("evening")
    runs = {name: show.run({QUEUE: up, QUEUES_DOWN: down}) for name, (up, down) in EVENINGS.items()}
    flows = [run.summary["flows"] for run in runs.values()]
    late = [100 * flow["game"]["up_loss"] for flow in flows]
    pages = [flow["web"]["mean_page_time_s"] for flow in flows]
    video = [flow["video"]["video_bitrate_bps"] / 1e6 for flow in flows]
    return stacked(
        show.name,
        title="A phone uploads its pictures after 40 s",
        caption=(
            f"Packets that wait before the uplink, and round-trip times of a ping. With drop tail "
            f"{late[0]:.0f} % of the player's updates are lost or late, with fq_codel "
            f"{late[1]:.0f} %; a web page takes {pages[0]:.1f} and {pages[1]:.1f} s, and the video "
            f"has {video[0]:.1f} and {video[1]:.1f} Mb/s."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "packets waiting",
                [backlog(run, "bottleneck", name) for name, run in runs.items()],
            ),
            Panel("ping, ms", [round_trips(run, "ping", "") for run in runs.values()]),
        ],
    )


def adsl() -> Picture:
    """Draws the rate of a download and a ping, before and during an upload."""
    show = Shown("adsl")
    tail, fair = show.run(packets=True), show.run(FAIR, packets=True)
    rates = [run.summary["flows"]["download"]["goodput_bps"] / 1e6 for run in (tail, fair)]
    return stacked(
        show.name,
        title="The upload begins after 20 s",
        caption=(
            "The download's rate and the round-trip time of a ping. Its ACKs wait behind the "
            f"upload in 64 kB of drop tail, and the download falls to {rates[0]:.1f} Mb/s on "
            f"average; flows served in turn leave it {rates[1]:.1f} Mb/s."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "download, Mb/s",
                [
                    arrival_rate(tail, "download", "up: drop tail, 64 kB"),
                    arrival_rate(fair, "download", "up: fq_codel"),
                ],
                top=16,
            ),
            Panel("ping, ms", [round_trips(tail, "ping", ""), round_trips(fair, "ping", "")]),
        ],
    )


LIMITS = (10, 20, 40, 80, 160, 320, 640)


def office() -> Picture:
    """Draws the quality of calls and the time of web pages against the limit of a FIFO."""
    show = Shown("office")
    runs = show.replicates([{f"{QUEUE}.limit": f"{limit}p"} for limit in LIMITS])
    (fair,) = show.replicates([FAIR])

    def call(summary: dict[str, Any]) -> float:
        return fmean(group(summary, "speak", "mos"))

    def page(summary: dict[str, Any]) -> float:
        return fmean(group(summary, "web", "mean_page_time_s"))

    def used(summary: dict[str, Any]) -> float:
        return 100 * float(summary["links"]["bottleneck"]["utilization"])

    def panel(label: str, figure: Take, name: str = "", top: float | None = None) -> Panel:
        level = of(fair, figure).mean
        across = Line(name and "fq_codel", [LIMITS[0], LIMITS[-1]], [level] * 2, form="steps")
        return Panel(label, [swept(name, LIMITS, runs, figure), across], top=top)

    return stacked(
        show.name,
        title="How large should the office's FIFO be?",
        caption=(
            "Mean opinion score of the ten callers, time of a web page, and utilisation of the "
            "uplink against the limit of a FIFO, beside fq_codel; means of five runs with 95 % "
            "intervals. Between 80 and 160 packets calls have a good score and the link is busy; "
            "with larger limits the calls' playout buffers run empty."
        ),
        xlabel="limit of the FIFO, packets (logarithmic)",
        xlog=LIMITS,
        panels=[
            panel("calls, MOS", call, "drop tail", top=5),
            panel("web page, s", page),
            panel("busy, %", used, top=105),
        ],
    )


def cellular() -> Picture:
    """Draws the backlog and a ping on a radio link whose rate varies."""
    show = Shown("cellular")
    runs = [show.run(), show.run({QUEUE: '{kind="codel"}'})]
    rates = [run.summary["flows"]["download"]["goodput_bps"] / 1e6 for run in runs]
    names = ("drop tail, 250 packets", "codel")
    return stacked(
        show.name,
        title="A radio that fades",
        caption=(
            "Packets that wait, and round-trip times of a ping, on a link that has 0, 2, 8 or 20 "
            f"Mb/s. The download gets {rates[0]:.1f} Mb/s with drop tail and {rates[1]:.1f} with "
            "codel: a short queue costs rate if the next second cannot be predicted."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "packets waiting",
                [backlog(run, "bottleneck", name) for run, name in zip(runs, names, strict=True)],
            ),
            Panel("ping, ms", [round_trips(run, "ping", "") for run in runs]),
        ],
    )


def wifi() -> Picture:
    """Draws a ping behind a limit in packets and behind fq_codel, which controls the delay."""
    show = Shown("wifi")
    cases = {
        "drop tail, cubic": {},
        "fq_codel, cubic": FAIR,
        "fq_codel, bbr": FAIR | {"tcp.congestion_control": "bbr"},
    }
    runs = {name: show.run(setting) for name, setting in cases.items()}
    used = [100 * run.summary["links"]["bottleneck"]["utilization"] for run in runs.values()]
    return stacked(
        show.name,
        title="A rate between 6 and 48 Mb/s",
        caption=(
            "Round-trip times of a ping beside a download, over time. The utilisation of the radio "
            f"is {used[0]:.0f}, {used[1]:.0f} and {used[2]:.0f} %: behind fq_codel a sender must "
            "follow the rate by itself, which bbr does and cubic does not."
        ),
        xlabel="time, s",
        panels=[
            Panel(
                "ping, ms (logarithmic)",
                [round_trips(run, "ping", name) for name, run in runs.items()],
                log=True,
            )
        ],
    )


def cable_modem() -> Picture:
    """Draws the distribution of the queueing delay behind PIE and behind two FIFOs."""
    show = Shown("cable-modem")
    inner = f"{QUEUE}.queue"
    cases = {
        "pie, 10 ms": {},
        "drop tail, 64 kB": {inner: '{limit="64kB"}'},
        "drop tail, 256 kB": {inner: '{limit="256kB"}'},
    }
    runs = {name: show.run(setting) for name, setting in cases.items()}
    pages = [run.summary["flows"]["web"]["mean_page_time_s"] for run in runs.values()]
    return stacked(
        show.name,
        title="Waiting in a cable modem",
        caption=(
            "Distribution function of the upstream packets' waiting time. A web page takes "
            f"{pages[0]:.2f} s with PIE, {pages[1]:.2f} s with 64 kB and {pages[2]:.2f} s with "
            "256 kB of drop tail."
        ),
        xlabel="queueing delay, ms",
        panels=[
            Panel(
                "packets, %",
                [waited(run, "bottleneck", name) for name, run in runs.items()],
                top=102,
            )
        ],
    )
