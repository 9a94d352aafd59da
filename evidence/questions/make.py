"""docs/questions.md: the questions of five kinds of users, and the answers of `goodqueue size`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.core.cells import Cell
from evidence.core.derived import ROOT, Derived
from evidence.core.pages import with_part
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import Extent

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "questions.md"
PART = "answers"


@dataclass(frozen=True)
class Question:
    """A question of a user.

    Attributes:
        user: kind of user, a heading of the page.
        words: the question in words.
        flags: the arguments of `goodqueue size`.
        reason: independent reasoning about the answer.
    """

    user: str
    words: str
    flags: str
    reason: str


HOME, OPERATOR = "At home", "Operators and ISPs"
CENTRE, LABORATORY, CLASS = "Data centres", "Researchers", "Teachers and students"

QUESTIONS = (
    Question(
        HOME,
        "An upload makes calls stutter: how short may the queue of my 20 Mb/s uplink be?",
        "--rate 20Mbps --rtt 30ms --flows 4 --max-delay 50ms",
        "CUBIC keeps 0.7 of its window, so a fifth of the BDP of 50 packets fills the link.",
    ),
    Question(
        HOME,
        "One upload on a modem that sends 1 Mb/s",
        "scenarios/bufferbloat.toml",
        "One Reno flow needs a BDP or two of small packets, not the 100 packets of the modem.",
    ),
    Question(
        HOME,
        "My provider shapes the cable to 20 Mb/s",
        "scenarios/cable-modem.toml",
        "The shaper is the bottleneck: its BDP is 50 packets, not 200 of the line.",
    ),
    Question(
        HOME,
        "A DSL line whose upload begins after 20 s",
        "scenarios/adsl.toml",
        "The BDP is three packets, so a handful suffices once the upload has begun.",
    ),
    Question(
        OPERATOR,
        "A gigabit with 300 flows, at most 1 % of loss and 20 ms",
        "--rate 1Gbps --rtt 10ms..120ms --flows 300 --max-loss 1% --max-delay 20ms",
        "Loss decides, at windows of about 20 packets, and 20 ms allow 1,666 packets.",
    ),
    Question(
        OPERATOR,
        "Six flows and hardly any loss",
        "--rate 35.7Mbps --rtt 71.5ms --flows 6 --max-loss 0.1%",
        "The loss of CUBIC is lowest below one BDP and rises with deep buffers, in step.",
    ),
    Question(
        OPERATOR,
        "Many Reno flows on a short path, at most 0.5 % of loss",
        "--rate 45Mbps --flows 109 --rtt 13ms..34ms --max-loss 0.5% --control reno",
        "W must be about 1.2/sqrt(p) = 17 to 27 packets per flow, which is 20 to 30 BDP.",
    ),
    Question(
        OPERATOR,
        "2,000 flows on a gigabit, at most 10 ms of delay",
        "--rate 1Gbps --rtt 10ms..60ms --flows 2000 --max-delay 10ms",
        "1.5 packets per flow: a dozen packets fill the link, and a fifth of all packets is lost.",
    ),
    Question(
        CENTRE,
        "Eight flows at 25 Gb/s and 50 µs",
        "--rate 25Gbps --rtt 50us --flows 8",
        "CUBIC is in its Reno-friendly region: about BDP/sqrt(8) = 37 packets.",
    ),
    Question(
        CENTRE,
        "Four flows at 10 Gb/s and 100 µs",
        "--rate 10Gbps --rtt 100us --flows 4",
        "The same region: about BDP/sqrt(4) = 42 packets.",
    ),
    Question(
        LABORATORY,
        "Three CUBIC flows on a long path",
        "--rate 247.4Mbps --rtt 43ms..119ms --flows 3",
        "CUBIC keeps 0.7 of its window: flows out of step need at most 0.43/sqrt(3) = 0.25 BDP, "
        "413 packets.",
    ),
    Question(
        LABORATORY,
        "Two flows, with bounds on loss and delay",
        "--rate 147.7Mbps --flows 2 --rtt 21ms..76ms --max-loss 2% --max-delay 10ms",
        "10 ms allow 123 packets, a fifth of the BDP; two flows out of step need at most 0.3 BDP.",
    ),
    Question(
        LABORATORY,
        "100 Gb/s with 20,000 flows",
        "--rate 100Gbps --rtt 10ms..200ms --flows 20000 --max-loss 1%",
        "Packets take hours; BDP/sqrt(N) is 6,187 packets, and the hybrid engine tries none below "
        "0.5 % of the BDP.",
    ),
    Question(
        CLASS,
        "The saw-tooth of one Reno flow",
        "--rate 10Mbps --rtt 100ms --flows 1 --as-in-theory --min-utilization 99%",
        "A window that is halved needs nearly one BDP of 83 packets (Villamizar and Song).",
    ),
    Question(
        CLASS,
        "The same flow with CUBIC of Linux",
        "--rate 10Mbps --rtt 100ms --flows 1 --min-utilization 99%",
        "It keeps 0.7 of its window: at most 0.43 BDP, 36 packets.",
    ),
    Question(
        CLASS,
        "Does a larger buffer always lose less?",
        "--rate 50Mbps --rtt 40ms --flows 100 --max-loss 1%",
        "No: with deep buffers flows of CUBIC lose in step, and no buffer keeps 1 % here.",
    ),
)


def answer(question: Question, store: str) -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the answer of a question."""
    call = "import sys; from goodqueue.cli import main; sys.exit(main())"
    words = ["size", *question.flags.split(), "--only", "answer", "--json", "--store", store]
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", call, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout)


def make() -> None:
    """Asks every question and writes the answers into the page."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as store:
        for number, question in enumerate(QUESTIONS):
            code, found = answer(question, f"{store}/{number}")
            if not lines or QUESTIONS[number - 1].user != question.user:
                lines += ["", f"### {question.user}", "", *HEAD]
            lines.append(row(question, code, found["decision"]))
            print(lines[-1], flush=True)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(text, PART, "\n".join(lines) + "\n\n"), encoding="utf-8")


HEAD = (
    "| question | `goodqueue size` | packets | chance | hosts | decides | exit code | reasoning |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)
NAMES = {"utilization": "utilisation", "loss_rate": "loss", "p99_delay_s": "delay", None: "-"}


def row(question: Question, code: int, decision: dict[str, Any]) -> str:
    """Returns a row of the page's table."""
    cells = (
        question.words,
        f"`{question.flags}`",
        f"{decision['packets']:,}" + ("" if decision["nearest_miss"] is None else " (nearest)"),
        ends(decision["chance"]),
        ends(decision["world"]),
        NAMES[decision["deciding_bound"]],
        f"{code}",
        question.reason,
    )
    return f"| {' | '.join(cells)} |"


def ends(pair: list[int | None]) -> str:
    """Returns an interval of buffers."""
    low, high = pair
    if low is None:
        return "-"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


AS_IN_THEORY = Link(10e6, (0.1,), 1, congestion_control="reno", profile="rfc", byte_counting=False)
"""The link of the saw-tooth."""


def cells() -> Iterator[Cell]:
    """Yields short runs of some of the questions' links by both engines, which answer questions."""
    for link, packets in (
        (Link(20e6, (0.03,), 4), 9),
        (Link(10e6, (0.1,), 1), 36),  # Its window follows the cubic curve for seconds.
        (Link(35.7e6, (0.0715,), 6), 146),
        (Link(25e9, (50e-6,), 8), 40),
        (Link(45e6, rtt_range(0.013, 0.034), 109, congestion_control="reno"), 400),
        (AS_IN_THEORY, 64),
    ):
        scenario = LinkTrial().scenario(link, packets, None, Extent(share=0.01))
        yield Cell(scenario.canonical_toml())
        yield Cell(scenario.canonical_toml(), engine="hybrid")


THINGS = [
    Derived(
        "questions",
        make,
        products=(f"docs/questions.md#{PART}",),
        needs=("hybrid/error",),  # Answers of the hybrid engine have its intervals.
        cells=cells,
        seeds="8 to 64 for each limit, from 1 on",
    )
]
