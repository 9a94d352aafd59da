"""The cost of searches, and two of their constants, on drawn links whose smallest buffer is known.

    python -m evidence.studies.searches [FOLDER]

asks the questions of `answers_on_trial` again, with the usual budget and with small ones, and
prints the figures of docs/sizing.md ("Is it right?"). Runs and finished answers are
stored in the folder. It takes twelve minutes of one processor.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from evidence.answers_on_trial.draw import LINKS, Question, questions
from evidence.answers_on_trial.make import rows
from evidence.answers_on_trial.page import Verdict
from goodqueue._core import grid
from goodqueue.sizing.answer import longer
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.api import size_link
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BUDGET_PACKETS
from goodqueue.sizing.search.smallest import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.sizing.answer.answer import Answer

BUDGETS = (2e6, 6e6, BUDGET_PACKETS)
"""Budgets in packets: small ones shorten replicates."""


def searched(question: Question, budget: float, store: Path) -> dict[str, Any]:
    """Returns what a search with this budget found, and whether longer replicates checked it."""
    usual = budget == BUDGET_PACKETS
    effort = Effort(
        queues=(), changes=False, rules=False, budget=budget, hosts=usual, jobs=1, store=store
    )
    with patch.object(longer, "unchecked", wraps=longer.unchecked) as not_checked:
        answer = size_link(question.link, effort)
    return {
        "packets": answer.number,
        "shown": answer.proved,
        "low": _largest_not_kept(question, answer),
        "chance": answer.chance,
        "share": answer.share,
        "unchecked": not_checked.called,
        "over": answer.budget_over,
        "used": answer.used_packets,
    }


def _largest_not_kept(question: Question, answer: Answer) -> int:
    """Returns the largest limit below the answer that was shown not to suffice, or to be close."""
    trials, (helped, _) = answer.trials, targets(question.link)
    if trials is None:
        return 0
    below = [limit for limit in trials.limits if limit < answer.number]
    return max((one for one in below if trials.answer(one, helped) in UNDECIDED), default=0)


def answers(folder: Path) -> Iterator[dict[str, Any]]:
    """Yields the answers of each question by budget; finished ones are read from the folder."""
    for number, question in enumerate(islice(questions(), LINKS)):
        kept = folder / f"{number}.json"
        if not kept.exists():
            print(f"    {number + 1} of {LINKS}", file=sys.stderr, flush=True)
            found = {f"{one:g}": searched(question, one, folder / "runs") for one in BUDGETS}
            kept.write_text(json.dumps(found), encoding="utf-8")
        yield json.loads(kept.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Outcome:
    """A search beside the truth of its question.

    Attributes:
        found: result of the search.
        verdict: the question with its truth.
    """

    found: dict[str, Any]
    verdict: Verdict

    @property
    def beyond(self) -> float | None:
        """Ratio of an answer shown beyond a grid step to the smallest limit that might suffice."""
        limit, low = self.found["packets"], self.found["low"]
        if not self.found["shown"] or sum(low < one < limit for one in grid(limit)) <= 1:
            return None
        return float(limit / (low + 1))

    @property
    def over_truth(self) -> float | None:
        """Ratio of the answer to the truth; None if no buffer suffices."""
        least = self.verdict.row["least"]
        return float(self.found["packets"] / least) if least else None

    @property
    def needed(self) -> float | None:
        """Factor by which the interval must be widened to hold the truth; None without both."""
        low, high = self.found["chance"]
        if not self.verdict.solvable or low is None or high is None:
            return None
        return float(max(low / self.verdict.row["least"], (self.verdict.above + 1) / high, 1.0))


def main(folder: Path) -> None:
    """Prints the cost, the answers that are shown beyond a grid step, and the unchecked ones."""
    folder.mkdir(parents=True, exist_ok=True)
    every = list(zip(answers(folder), map(Verdict, rows()), strict=True))
    for budget in BUDGETS:
        some = [Outcome(found[f"{budget:g}"], verdict) for found, verdict in every]
        used = sorted(one.found["used"] / 1e6 for one in some)
        print(
            f"budget {budget / 1e6:g}M: {median(used):.1f}M packets in the median, "
            f"{used[int(0.95 * (len(used) - 1))]:.1f}M in the 95th percentile; "
            f"{sum(one.found['shown'] for one in some)} of {len(some)} shown"
        )
        for one in some:
            if one.beyond is not None:
                print(f"  shown {one.beyond:.2f} above: {_ratio(one.over_truth)} of the truth")
            if one.found["unchecked"]:
                print(f"  unchecked: the interval must be widened by {_ratio(one.needed)}")


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "target/searches"))
