"""The section of docs/questions.md with questions of public threads, in our words.

Each question has one command, whose JSON is read into a sentence or a table. `answers.json` has
the figures that the page shows, for the tests of their claims.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.core.answers import answer_of
from evidence.core.derived import ROOT, Derived, relative
from evidence.core.homes import RATED, homes
from evidence.core.pages import with_part

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "questions.md"
PART = "threads"
ANSWERS = ROOT / "evidence" / "public_questions" / "answers.json"

LINE_BPS = 10e6
"""Rate of the DSL line up, in scenarios/home-dsl.toml."""

Figures = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question of public threads.

    Attributes:
        name: name in `answers.json`.
        words: the question.
        threads: addresses of the threads.
        command: the command without `goodqueue` and `--json`, as a shell takes it.
        read: returns the figures from the command's JSON.
        text: returns the answer in Markdown from the figures.
        assumes: circumstances under which the answer holds.
    """

    name: str
    words: str
    threads: tuple[str, ...]
    command: str
    read: Callable[[Any], Figures]
    text: Callable[[Figures], str]
    assumes: str


def shaper(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the rate of the shaper, and the upload with it and at the rate of the line."""
    best = answer["recommended"]
    goodput = {one["value"]: one["figures"]["upload.goodput_bps.sum"] for one in answer["values"]}
    whole = next(value for value in goodput if value == LINE_BPS)
    return {
        "rate_bps": best["value"],
        "interval_bps": best["interval"],
        "upload_bps": goodput[best["value"]]["mean"],
        "upload_at_line_bps": goodput[whole]["mean"],
        "shown": best["shown"],
    }


def shaper_text(found: Figures) -> str:
    """Returns the answer about the shaper."""
    share, low, high = (100 * bps / LINE_BPS for bps in (found["rate_bps"], *found["interval_bps"]))
    with_, without = (found[key] / 1e6 for key in ("upload_bps", "upload_at_line_bps"))
    return (
        f"At **{share:.1f} %** of the line's rate ({low:.1f} to {high:.1f} % with 95 % confidence) "
        "99 of 100 packets wait at most 5 ms in the modem. The upload gets "
        f"{with_:.2f} Mb/s in place of {without:.2f}: it loses {100 * (1 - with_ / without):.1f} %."
    )


def calls(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the call's score, the time of pages and the upload for each queue."""
    keys = ("call.mos", "web.p95_page_time_s", "upload.goodput_bps")
    return {
        side["name"]: {key: [side["figures"][key][end] for end in ENDS] for key in keys}
        for side in answer["sides"]
    }


ENDS = ("mean", "low", "high")

QUEUES = (
    "the modem's FIFO of 250 packets",
    "a shaper of 9.5 Mb/s before the same FIFO",
    "the same shaper before `fq_codel`",
    "`cake` with this bandwidth",
)
"""Descriptions of the sides, in the order of the command."""


def calls_text(found: Figures) -> str:
    """Returns the answer about calls: the best queue, and a table."""
    sides = list(found.values())
    good = [name for name, side in zip(QUEUES, sides, strict=True) if side["call.mos"][1] > GOOD]
    best = f"Yes, with {' or '.join(good)}." if good else "No, with none of these queues."
    first = (
        f"**{best}** A shaper alone does not help, because its packets wait in a FIFO, "
        "too. The score of the call is a mean opinion score (ITU-T G.107): 4.4 at best, and below "
        f"{GOOD} some users are dissatisfied."
    )
    lines = [
        first,
        "",
        "| queue | score of the call | a page, p95, s | upload, Mb/s |",
        "| --- | --- | --- | --- |",
    ]
    for name, side in zip(QUEUES, sides, strict=True):
        score = "{:.2f} ({:.2f} to {:.2f})".format(*side["call.mos"])
        page, upload = side["web.p95_page_time_s"][0], side["upload.goodput_bps"][0] / 1e6
        lines.append(f"| {name} | {score} | {page:.1f} | {upload:.2f} |")
    return "\n".join(lines)


GOOD = 4.03
"""Score from which on users are satisfied: R = 80 in table B.1 of ITU-T G.107."""

AUTORATE = "https://github.com/lynxthecat/cake-autorate/issues"

QUESTIONS = (
    Question(
        "shaper",
        "DSL at home: how far below the line's rate must my shaper be so that the modem's queue "
        "stays empty, and what does it cost?",
        (f"{AUTORATE}/225", f"{AUTORATE}/332", f"{AUTORATE}/335"),
        "tune scenarios/home-dsl.toml --vary topology.link.shaper.rate=70%..100% "
        "--keep 'modem.p99<=5ms' --most upload.goodput --replicates 16",
        shaper,
        shaper_text,
        "VDSL2 with PPPoE, and a shaper that counts IP packets. A full packet takes 1,554 bytes on "
        "this line, so that no more than 96.5 % can fit. A shaper that is told of the framing may "
        "have almost the rate of the line: `goodqueue home` finds it for your line "
        "([home.md](home.md)).",
    ),
    Question(
        "calls",
        "Will calls stay good while a backup uploads through 10 Mb/s, and with which queue?",
        (
            "https://github.com/versatica/mediasoup/pull/922",
            "https://github.com/openwrt/openwrt/issues/14306",
        ),
        "compare scenarios/home-web.toml --replicates 8 --variant '' "
        f"--variant 'topology.bottleneck.queue={{{RATED},queue={{limit=\"250p\"}}}}' "
        f"--variant 'topology.bottleneck.queue={{{RATED},queue={{kind=\"fq_codel\"}}}}' "
        '--variant \'topology.bottleneck.queue={kind="cake",bandwidth="9500kbps"}\'',
        calls,
        calls_text,
        "The sound of a call with G.711 and a playout buffer of 60 ms, beside one CUBIC upload, "
        "web pages and short downloads. The picture of a video call is not rated.",
    ),
)


def make() -> None:
    """Asks every question, records the figures and writes them into the page."""
    found: dict[str, Figures] = {}
    for one in QUESTIONS:
        done = answer_of([*shlex.split(one.command), "--json"])
        if done.returncode != 0:
            raise RuntimeError(f"goodqueue {one.command}: exit code {done.returncode}")
        found[one.name] = one.read(json.loads(done.stdout))
    ANSWERS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(text, PART, shown(found)), encoding="utf-8")


def recorded() -> dict[str, Figures]:
    """Returns the figures of all answers as they were recorded."""
    found: dict[str, Figures] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


def shown(found: dict[str, Figures]) -> str:
    """Returns the part of the page."""
    return "".join(_shown(one, found[one.name]) for one in QUESTIONS) + "\n"


def _shown(one: Question, figures: Figures) -> str:
    threads = ", ".join(f"[{_thread(place)}]({place})" for place in one.threads)
    command = one.command.replace(" --", " \\\n        --")
    return (
        f"\n### {one.words}\n\nAsked in {threads}.\n\n    goodqueue {command}\n\n"
        f"{one.text(figures)}\n\nAssumed: {one.assumes}\n"
    )


def _thread(address: str) -> str:
    """Returns the repository and the number of a thread."""
    *_, repository, _, number = address.split("/")
    return f"{repository} {number}"


THINGS = [
    Derived(
        "public_questions",
        make,
        products=(f"{relative(PAGE)}#{PART}", relative(ANSWERS)),
        inputs=("scenarios/home-dsl.toml", "scenarios/home-web.toml"),
        cells=homes,
        seeds="1 to 16",
    )
]
