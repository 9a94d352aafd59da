"""Pictures and tables of two claims that papers quote, with intervals, for docs/scenarios.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.gallery.runs import Shown, of, swept
from goodqueue.plots.panels import Panel, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.gallery.runs import Take
    from goodqueue.plots.style import Picture

SEEDS = 10

LIMIT = "topology.bottleneck.queue.limit"
PACKETS = (5, 10, 15, 20, 40, 80)
WINDOWS = {"46336B": "windows of 32 segments", "1448kB": "windows of 1,000 segments"}
"""Labels of the receive windows. The smaller window asks for less than the link's rate; the larger
lets a flow use the whole link."""

SIZES = {"14600B": 14.6, "50kB": 50, "100kB": 100, "300kB": 300, "1MB": 1000}
"""Size of the short transfers in kB, by its text in the scenario; the smallest is ten segments."""

WHOLE = 1_250_000
BUFFERS = {25: WHOLE // 5, 100: WHOLE // 10}
"""C·T/√N in bytes, by the number of long flows."""


@dataclass(frozen=True)
class Claim:
    """A picture and a table that show the same runs."""

    picture: Picture
    table: str


def tiny_settings(window: str, paced: str) -> list[dict[str, str]]:
    """Returns the overrides for one kind of sender, one for each buffer."""
    fixed = {"tcp.receive_window": window, "tcp.pacing": paced}
    return [fixed | {LIMIT: f"{limit}p"} for limit in PACKETS]


def short_settings(count: int, limit: int) -> list[dict[str, str]]:
    """Returns the overrides for a number of long flows and a buffer, one for each transfer size."""
    fixed = {"flow.long.count": str(count), LIMIT: f"{limit}B"}
    return [fixed | {"flow.short.workload.size": size} for size in SIZES]


def _link(key: str) -> Take:
    return lambda summary: 100 * float(summary["links"]["bottleneck"][key])


def _transfer(summary: dict[str, Any]) -> float:
    return 1000 * float(summary["flows"]["short"]["mean_transfer_time_s"])


def _cell(summaries: Sequence[dict[str, Any]], figure: Take, digits: int) -> str:
    interval = of(summaries, figure)
    return f"{interval.mean:,.{digits}f} ± {interval.half_width:,.{digits}f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tiny_buffer() -> Claim:
    """Draws utilisation and loss of paced and of bursty senders in tiny buffers."""
    show = Shown("tiny-buffer")
    senders = {"paced": "true", "bursty": "false"}
    runs = {
        (window, name): show.replicates(tiny_settings(window, paced), SEEDS)
        for window in WINDOWS
        for name, paced in senders.items()
    }
    labels = {"46336B": "32", "1448kB": "1,000"}
    picture = stacked(
        show.name,
        title="Paced or bursty into a tiny buffer",
        caption=(
            f"Utilisation and loss against the buffer, for senders that pace and for others, with "
            f"windows of 32 segments at most, which ask for 78 % of the link, or of 1,000. Means "
            f"of {SEEDS} runs with 95 % intervals."
        ),
        xlabel="buffer, packets (logarithmic)",
        xlog=PACKETS,
        panels=[
            Panel(
                label,
                [
                    swept(f"{name}, {labels[window]}", PACKETS, summaries, _link(key))
                    for (window, name), summaries in runs.items()
                ],
                top=top,
            )
            for label, key, top in (("busy, %", "utilization", 100), ("loss, %", "loss_rate", None))
        ],
    )
    rows = [
        [
            WINDOWS[window],
            str(limit),
            *(
                _cell(runs[window, name][place], _link(key), digits)
                for key, digits in (("utilization", 1), ("loss_rate", 2))
                for name in senders
            ),
        ]
        for window in WINDOWS
        for place, limit in enumerate(PACKETS)
    ]
    head = ["senders", "buffer, packets", "busy, %, paced", "bursty", "loss, %, paced", "bursty"]
    return Claim(picture, _table(head, rows))


def short_flows() -> Claim:
    """Draws the times of short transfers behind buffers of C·T and C·T/√N."""
    show = Shown("short-flows")
    runs = {
        (count, limit): show.replicates(short_settings(count, limit), SEEDS)
        for count, small in BUFFERS.items()
        for limit in (small, WHOLE)
    }
    picture = stacked(
        show.name,
        title="Short transfers behind a small and a large buffer",
        caption=(
            f"Mean time of transfers beside 25 and 100 long flows against their size, behind a "
            f"buffer of C·T/√N and of C·T; means of {SEEDS} runs with 95 % intervals."
        ),
        xlabel="size of a transfer, kB (logarithmic)",
        xlog=list(SIZES.values()),
        panels=[
            Panel(
                "a transfer, ms (logarithmic)",
                [
                    swept(
                        f"{'C·T' if limit == WHOLE else 'C·T/√N'}, {count} flows",
                        list(SIZES.values()),
                        summaries,
                        _transfer,
                    )
                    for (count, limit), summaries in runs.items()
                ],
                log=True,
            )
        ],
    )
    figures = ((_transfer, 0), (_link("utilization"), 1), (_link("loss_rate"), 2))
    rows = [
        [
            str(count),
            size,
            *(
                _cell(runs[count, limit][place], figure, digits)
                for figure, digits in figures
                for limit in (small, WHOLE)
            ),
        ]
        for count, small in BUFFERS.items()
        for place, size in enumerate(SIZES)
    ]
    head = ["long flows", "size", "a transfer, ms, C·T/√N", "C·T", "busy, %, C·T/√N", "C·T"]
    return Claim(picture, _table([*head, "loss, %, C·T/√N", "C·T"], rows))
