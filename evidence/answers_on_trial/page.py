"""The part of docs/validation.md with the answers of `goodqueue size` on drawn links."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from evidence.answers_on_trial.truth import FINE

if TYPE_CHECKING:
    from collections.abc import Iterable

MARGIN_OF_BUSY = 0.001
"""Utilisation that an answer may lack, as `size` states it."""

MARGIN = 0.03
"""Share of a bound on loss or delay that an answer may exceed it by, as `size` states it."""

SAME = 0.1
"""Largest change of an answer by which a question that differs by one per cent counts as equal."""

WITHIN = 2
"""Grid steps within which an answer counts as near."""

INTRODUCTION = (
    "`goodqueue size` answered {} drawn questions, and dense runs found the truth: the smallest "
    "buffer that keeps all bounds, on a grid of 5 % with 32 seeds. The links have 1 to 300 flows "
    "of CUBIC or Reno, 5 to 300 ms, and windows of 3 to 300 packets; links whose replicate needs "
    "more than two million packets are left out. Dense runs begin with slow start and are measured "
    "for three times the whole length of a replicate, after as much time, so that nothing of the "
    "search takes part in them."
)

BROKEN = (
    "An answer counts as broken if it misses a bound by more than the margin that `size` states "
    "(0.1 points of utilisation, 3 % of a bound on loss or delay) and two standard errors of 32 "
    "seeds."
)

SHOWN, IMPOSSIBLE = 0, 3
"""Exit codes of answers that were shown, and of bounds that no buffer keeps."""


@dataclass(frozen=True)
class Verdict:
    """A question's answer beside its truth.

    Attributes:
        row: the recorded question.
    """

    row: dict[str, Any]

    @property
    def answer(self) -> dict[str, Any]:
        """The recorded answer."""
        found: dict[str, Any] = self.row["answer"]
        return found

    @property
    def solvable(self) -> bool:
        """True if dense runs found a buffer that keeps all bounds."""
        return self.row["least"] is not None

    @property
    def above(self) -> int:
        """Largest buffer below the truth that breaks a bound by more than the stated margin."""
        broken = [
            one["packets"]
            for one in self.row["points"]
            if one["packets"] < self.row["least"] and one["worst"] > 1 + self.margin(one)
        ]
        return max(broken, default=0)

    @property
    def covered(self) -> bool:
        """True if the interval of chance meets the buffers that lie between `above` and the truth.

        The first of them keep all bounds within the margin that an answer states.
        """
        low, high = self.answer["chance"]
        if not self.solvable or low is None:
            return False
        return bool(low <= self.row["least"] and (high is None or high > self.above))

    def margin(self, point: dict[str, Any]) -> float:
        """Returns the share of the bound that decides behind a buffer, which an answer may miss."""
        return MARGIN_OF_BUSY / (1 - self.row["busy"]) if point["bound"] == "idle" else MARGIN

    @property
    def half_width(self) -> float:
        """Half of the interval of chance, as a share of the answer; infinite without an end."""
        low, high = self.answer["chance"]
        if low is None or high is None:
            return math.inf
        return float((high - low) / 2 / self.answer["packets"])

    @property
    def steps(self) -> float:
        """Grid steps of 5 %, or of one packet if that is more, from the truth to the answer."""
        packets, least = self.answer["packets"], self.row["least"]
        if abs(packets - least) <= 1:
            return float(abs(packets - least))
        if self.above < packets < least:
            return 0.0  # The bounds hold within the margin.
        by_ratio = abs(math.log(packets / least)) / math.log(FINE)
        return min(by_ratio, float(abs(packets - least)))

    @property
    def falsely_impossible(self) -> bool:
        """True if the answer says that no buffer suffices, and one does."""
        return self.solvable and self.answer["code"] == IMPOSSIBLE

    @property
    def falsely_shown(self) -> bool:
        """True if the answer counts as shown and breaks a bound, beyond margin and two errors."""
        there = self.row["there"]
        broken = there["worst"] - 2 * there["error"] > 1 + self.margin(there)
        return bool(self.answer["code"] == SHOWN and broken)

    def moved(self) -> list[str]:
        """Returns what moved the answer by one per cent, where a buffer suffices."""
        return moved(self.row) if self.solvable else []

    def expected_by_hosts(self) -> bool:
        """Returns True if the answer's range over hosts holds all the answers that moved."""
        low, high = self.answer["world"]
        others = [self.row["varied"][name]["packets"] for name in self.moved()]
        return low is not None and all(
            low <= other and (high is None or other <= high) for other in others
        )

    def truth_moved(self) -> list[str]:
        """Returns which of these changes moved the truth by as much."""
        least, truths = self.row["least"], self.row["varied_truths"]
        return [
            name
            for name in self.moved()
            if truths[name] is None or abs(truths[name] - least) > max(SAME * least, 1)
        ]


def moved(row: dict[str, Any]) -> list[str]:
    """Returns what moved an answer by more than a tenth and a packet, by one per cent."""
    own = row["answer"]["packets"]
    return [
        name
        for name, other in row["varied"].items()
        if abs(other["packets"] - own) > max(SAME * own, 1)
    ]


def text(rows: Iterable[dict[str, Any]]) -> str:
    """Returns the part of the page."""
    verdicts = [Verdict(row) for row in rows]
    solvable = [one for one in verdicts if one.solvable]
    answered = [one for one in solvable if one.answer["code"] != IMPOSSIBLE]
    widths = sorted(one.half_width for one in solvable)
    works = sorted(one.answer["work"] for one in verdicts)
    unsteady = [one for one in solvable if one.moved()]
    figures = (
        ("a buffer suffices", f"{len(solvable)} of {len(verdicts)}", ""),
        (
            "the interval of chance holds the truth",
            f"{sum(one.covered for one in solvable)} of {len(solvable)}",
            "90 %",
        ),
        ("half width of that interval, median", f"{100 * median(widths):.1f} %", "8 % or less"),
        (
            "distance of the answer from the truth, median",
            f"{median([one.steps for one in answered]):.1f} steps",
            "1 or less",
        ),
        (
            "answers within two steps of the truth",
            f"{sum(one.steps <= WITHIN for one in answered)} of {len(answered)}",
            "",
        ),
        (
            "“no buffer suffices” where one does",
            f"{sum(one.falsely_impossible for one in verdicts)}",
            "0",
        ),
        ("shown, and a bound is broken", f"{sum(one.falsely_shown for one in verdicts)}", "0"),
        (
            "moved by more than 10 % if rate, round trip or bounds change by 1 %",
            f"{len(unsteady)} of {len(solvable)}",
            "5 % or fewer",
        ),
        (
            "of these, links on which the truth moves as much",
            f"{sum(bool(one.truth_moved()) for one in unsteady)} of {len(unsteady)}",
            "",
        ),
        (
            "of these, links whose answer's range over hosts holds the moved answers",
            f"{sum(one.expected_by_hosts() for one in unsteady)} of {len(unsteady)}",
            "",
        ),
        (
            "simulated packets of an answer, median and 95th percentile",
            f"{_millions(median(works))}, {_millions(works[int(0.95 * (len(works) - 1))])}",
            "",
        ),
    )
    lines = [
        "## Answers on drawn links",
        "",
        INTRODUCTION.format(len(verdicts)),
        "",
        "| | found | wanted |",
        "| --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in figures),
        "",
        BROKEN,
        "",
        "| question | truth | answer | chance | exit code | |",
        "| --- | ---: | ---: | --- | --- | --- |",
        *(_line(one) for one in verdicts),
        "",
    ]
    return "\n".join(lines)


def _millions(packets: float) -> str:
    return f"{packets / 1e6:.1f} million"


def _line(one: Verdict) -> str:
    answer = one.answer
    truth = f"{one.row['least']:,}" if one.solvable else f"none up to {one.row['above']:,}"
    cells = (
        f"`{one.row['flags']}`",
        truth,
        f"{answer['packets']:,}",
        _ends(answer["chance"]),
        f"{answer['code']}",
        "; ".join(_remarks(one)),
    )
    return f"| {' | '.join(cells)} |"


def _remarks(one: Verdict) -> list[str]:
    found = []
    if one.falsely_impossible:
        found.append("**a buffer suffices**")
    if one.falsely_shown:
        there = one.row["there"]
        found.append(f"**{there['bound']} is {there['worst']:.2f} times its bound**")
    if one.solvable and not one.falsely_impossible and not one.covered:
        found.append("outside the interval")
    with_truth = one.truth_moved()
    found += [
        f"1 % of the {name}" + (" moves it and the truth" if name in with_truth else " moves it")
        for name in one.moved()
    ]
    return found


def _ends(pair: list[int | None]) -> str:
    low, high = pair
    if low is None:
        return "-"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
