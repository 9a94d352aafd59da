"""docs/questions.md: questions of five kinds of users, and the answers of `goodqueue size`.

`questions.toml` has the questions with independent reasoning and the range that follows from it,
and `answers.json` has the answers. An interrupted call continues with its finished answers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evidence.core.answers import Asked
from evidence.core.cells import Cell
from evidence.core.derived import ROOT, Derived
from evidence.core.pages import with_part
from evidence.questions.ask import (
    ANSWERS,
    FAULTS,
    MENDED,
    OUTCOMES,
    Answer,
    Question,
    answer,
    files,
    questions,
    recorded,
)
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.search.budget import PACKETS_PER_S
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import Extent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = ROOT / "docs" / "questions.md"
PART = "answers"

USERS = {
    "home": "At home",
    "operator": "Operators and ISPs",
    "data centre": "Data centres",
    "researcher": "Researchers",
    "student": "Teachers and students",
}
"""Headings of the page by kind of user."""


def make() -> None:
    """Asks every question, records the answers and writes them into the page."""
    found: dict[str, Answer] = {}
    for number, question in enumerate(questions(), start=1):
        one = found[question.flags] = answer(question)
        agrees = "agrees" if one.agrees(question) else f"expected {question.expected}"
        print(f"{number} {question.flags}: {one} {agrees}", flush=True)
    lines = ",\n".join(f"{json.dumps(flags)}: {json.dumps(vars(found[flags]))}" for flags in found)
    ANSWERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(text, PART, shown(questions(), found)), encoding="utf-8")


def shown(asked_for: Sequence[Question], found: dict[str, Answer]) -> str:
    """Returns the part of the page: the count, and a table for each kind of user."""
    blind = [one for one in asked_for if not one.known]
    agree, blindly = (
        sum(found[one.flags].agrees(one) for one in some) for some in (asked_for, blind)
    )
    programs, ranges = (sum(one.mended == what for one in asked_for) for what in MENDED)
    counts = {"agree": agree, "all": len(asked_for), "blind": len(blind), "blindly": blindly}
    counts |= {"first": agree - programs - ranges, "programs": programs, "ranges": ranges}
    work = sum(one.work for one in found.values())
    lines = [
        "",
        COUNT.format(**counts, work=work / 1e9, minutes=work / PACKETS_PER_S / 60),
    ]
    for user, heading in USERS.items():
        lines += ["", f"### {heading}", "", *HEAD]
        lines += [row(one, found[one.flags]) for one in asked_for if one.user == user]
    return "\n".join(lines) + "\n\n"


COUNT = (
    "**{agree} of {all} answers lie in the range that the reasoning gives.** Without changes "
    "after the answers\nwere known it would be {first}: {programs} answers agree only since the "
    "program was changed, because the reasoning showed\nthat they were wrong, and {ranges} since "
    "its range was. {blind} ranges were written before their answers were\nknown; {blindly} of "
    "these answers lie in them. All answers together took the work of {work:.1f} milliard packets, "
    "about\n{minutes:.0f} minutes of one processor."
)
HEAD = (
    "| question | `goodqueue size` | packets | expected | chance | hosts | exit code | reasoning |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def row(question: Question, found: Answer) -> str:
    """Returns a row of the page's table."""
    wanted = question.expected
    expected = OUTCOMES[wanted] if isinstance(wanted, str) else ends(wanted)
    reason = question.reason
    if question.fault is not None:
        reason += f" *{FAULTS[question.fault]}:* {question.found}"
    if question.mended is not None:
        reason += f" *{MENDED[question.mended]}:* {question.before}"
    cells = (
        question.words,
        f"`{question.flags}`".replace("|", "\\|"),
        packets(found),
        expected if found.agrees(question) else f"**not** {expected}",
        ends(found.chance),
        ends(found.hosts),
        f"{found.exit_code}",
        reason,
    )
    return f"| {' | '.join(cells)} |"


def packets(found: Answer) -> str:
    """Returns the number of packets with the outcome."""
    if found.packets is None:
        return OUTCOMES[found.outcome]
    kind = {"impossible": " (nearest)", "bursts": " (for bursts)", "packets": ""}[found.outcome]
    return f"{found.packets:,}{kind}"


def ends(pair: Sequence[int | None]) -> str:
    """Returns an interval of buffers."""
    low, high = pair
    if low is None:
        return "-"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


AS_IN_THEORY = Link(10e6, (0.1,), 1, congestion_control="reno", profile="rfc", byte_counting=False)
"""The link of the saw-tooth."""


def cells() -> Iterator[Cell | Asked]:
    """Yields each user's cheapest question with runs, and short runs of both engines."""
    found = recorded()
    for user in USERS:
        own = [one.flags for one in questions() if one.user == user and found[one.flags].work]
        yield Asked(f"size {min(own, key=lambda flags: found[flags].work)} --only answer --json")
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
        products=(f"docs/questions.md#{PART}", "evidence/questions/answers.json"),
        inputs=("evidence/questions/questions.toml", *files(questions())),
        needs=("hybrid/error",),  # Answers of the hybrid engine have its intervals.
        cells=cells,
        seeds="8 to 64 for each limit, from 1 on",
    )
]
