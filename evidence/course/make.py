"""The figures of docs/course: pictures of two queues, and fetch times beside those of students."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.derived import Derived, relative
from evidence.core.homes import homes
from evidence.core.pages import with_part
from evidence.course import worksheet
from evidence.gallery.runs import Shown, of, window
from goodqueue.plots.over_time import backlog, round_trips
from goodqueue.plots.panels import Panel, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.plots.style import Picture

SCENARIO = "course-bufferbloat"
PAGE = Path("docs/course/bufferbloat-answers.md")
PART = "fetches"
PICTURES = Path("docs/img/course")
STUDENTS = Path(__file__).parent / "published" / "students.csv"

LIMIT = "topology.link.uplink.queue.limit"
BACK = "topology.link.uplink.reverse.queue.limit"
RATE = "topology.link.uplink.rate"
DELAY = "topology.link.uplink.delay"

QUEUES = (20, 100)
"""Packets of the two queues that the assignment compares."""

LINKS = {("10", "4"): ("10Mbps", "2ms"), ("1.5", "20"): ("1500kbps", "10ms")}
"""Rate and one-way delay by the published rate in Mb/s and base round-trip time in ms."""

SEEDS = 10
DRAWN_S = 60
DPI = 110


def settings(link: tuple[str, str], packets: int) -> dict[str, str]:
    """Returns the values of the scenario for a link and a queue, which both directions have."""
    limits = dict.fromkeys((LIMIT, BACK), f"{packets}p")
    return {RATE: link[0], DELAY: link[1], **limits}


@dataclass(frozen=True)
class Row:
    """Fetch times of one source, in seconds.

    Attributes:
        source: repository of the students, or ours.
        short: mean, and standard deviation or half width, behind the short queue.
        long: the same behind the long queue.
    """

    source: str
    short: tuple[float, float]
    long: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Mean fetch time behind the long queue as a multiple of that behind the short one."""
        return self.long[0] / self.short[0]

    def line(self) -> str:
        """The row of the table."""
        cells = [f"{mean:.2f} ± {by:.2f}" for mean, by in (self.short, self.long)]
        return f"| {self.source} | {cells[0]} | {cells[1]} | {self.ratio:.1f} |"


def students(link: tuple[str, str]) -> list[Row]:
    """Returns the published results of a link, by its rate in Mb/s and round-trip time in ms."""
    with STUDENTS.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                one["repository"],
                (float(one["q20_mean_s"]), float(one["q20_sd_s"])),
                (float(one["q100_mean_s"]), float(one["q100_sd_s"])),
            )
            for one in csv.DictReader(file)
            if (one["rate_mbps"], one["base_rtt_ms"]) == link
        ]


def fetch_times(link: tuple[str, str]) -> list[Interval]:
    """Returns the mean fetch time in seconds behind each queue, with its interval over seeds."""
    runs = Shown(SCENARIO).replicates([settings(link, one) for one in QUEUES], SEEDS)
    return [of(one, lambda run: run["flows"]["page"]["mean_page_time_s"]) for one in runs]


def text() -> str:
    """Returns the part of the page: a table of fetch times for each link."""
    lines = ["", HEAD, "| --- | ---: | ---: | ---: |"]
    for published, link in LINKS.items():
        short, long = fetch_times(link)
        ours = Row(
            f"**goodqueue**, {published[0]} Mb/s, {published[1]} ms",
            (short.mean, short.half_width),
            (long.mean, long.half_width),
        )
        lines += [one.line() for one in [ours, *students(published)]]
    return "\n".join([*lines, ""])


HEAD = "| source | 20 packets, s | 100 packets, s | long ÷ short |"


def picture(packets: int) -> Picture:
    """Draws the window, the ping's round-trip times and the backlog behind one queue."""
    run = Shown(SCENARIO).run(settings(LINKS["10", "4"], packets))
    ping, link = run.summary["flows"]["ping"], run.summary["links"]["uplink"]
    return stacked(
        f"q{packets}",
        title=f"A queue of {packets} packets",
        caption=(
            f"Congestion window of the upload, round-trip times of the ping and packets that wait "
            f"behind a queue of {packets} packets, over the first {DRAWN_S} s. The link is "
            f"{link['utilization'] * 100:.1f} % busy, and the ping takes "
            f"{ping['mean_rtt_s'] * 1000:.0f} ms on average."
        ),
        xlabel="time, s",
        panels=[
            Panel("window, kB", [window(run, "upload", "")]),
            Panel("ping, ms", [round_trips(run, "ping", "")]),
            Panel("packets waiting", [backlog(run, "uplink", "")]),
        ],
        until=DRAWN_S,
    )


def make() -> None:
    """Draws the pictures, and writes their captions and the table into the page."""
    drawn: Sequence[Picture] = [picture(one) for one in QUEUES]
    page = PAGE.read_text(encoding="utf-8")
    for one in drawn:
        PICTURES.mkdir(parents=True, exist_ok=True)
        one.save_as(PICTURES, ["png"], DPI)
        before, after = page.split(f"](../img/course/{one.name}.png)")
        before = before[: before.rindex("![")] + f"![{one.caption}"
        page = f"{before}](../img/course/{one.name}.png){after}"
    PAGE.write_text(with_part(page, PART, text()), encoding="utf-8")


THINGS = [
    Derived(
        "course/fetches",
        make,
        products=(
            *(relative(PICTURES / f"q{one}.png") for one in QUEUES),
            f"{PAGE}#{PART}",
        ),
        inputs=(f"scenarios/{SCENARIO}.toml", relative(STUDENTS)),
        cells=homes,
        programs=("make.py",),
        seeds=f"1 to {SEEDS}",
    ),
    Derived(
        "course/lessons",
        worksheet.make,
        products=(f"{worksheet.PAGE}#{worksheet.PART}",),
        inputs=tuple(relative(worksheet.STORIES / f"{one}.json") for one in ("stories", "shelves")),
        programs=("worksheet.py",),
    ),
]
