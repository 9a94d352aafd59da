"""The answers of `goodqueue size` on drawn links, their truth by dense runs, and their page."""

from __future__ import annotations

import json
import sys
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.answers_on_trial import page
from evidence.answers_on_trial.asked import asked
from evidence.answers_on_trial.draw import LINKS, Question, questions
from evidence.answers_on_trial.truth import FINE_SEEDS, Dense, truth
from evidence.core.answers import Asked
from evidence.core.cells import Cell
from evidence.core.derived import Derived, relative, scratch
from evidence.core.pages import with_part
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import Extent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DATA = Path(__file__).parent / "data"

ANSWERS = DATA / "answers.jsonl"
"""One line for each question: the answer, and the answers to its variations."""

TRUTHS = DATA / "truths.jsonl"
"""One line for each question: the smallest buffer, and the figures behind that of the answer."""

CHEAPEST = 6
"""Number of questions that are asked again whenever stamps are checked."""

PAGE = Path("docs/validation.md")
PART = "answers"


def answered(question: Question) -> dict[str, Any]:
    """Returns a question's answer, and the answers to its variations."""
    return {
        "flags": " ".join(question.flags),
        "busy": question.busy,
        "answer": asked(question),
        "varied": {name: asked(one) for name, one in question.varied().items()},
    }


def make_answers() -> None:
    """Asks every question."""
    _write(ANSWERS, [partial(answered, one) for one in islice(questions(), LINKS)])


def truth_of(question: Question, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the truth of a question, with the figures behind the answer's buffer.

    Variations that moved the answer have their own truth.
    """
    dense = Dense(question.link)
    found = truth(dense)
    there = dense.at(row["answer"]["packets"], FINE_SEEDS)
    varied = question.varied()
    moved = {name: truth(Dense(varied[name].link)).least for name in page.moved(row)}
    return {**found.as_dict(), "there": there.as_dict(), "varied_truths": moved}


def make_truths() -> None:
    """Finds the truth of every question."""
    pairs = zip(islice(questions(), LINKS), _read(ANSWERS), strict=True)
    _write(TRUTHS, [partial(truth_of, question, row) for question, row in pairs])


def _write(path: Path, calls: Sequence[Callable[[], dict[str, Any]]]) -> None:
    """Writes what the calls return; an interrupted function continues after the last one."""
    unfinished = scratch() / f"answers_on_trial-{path.name}"
    done = unfinished.read_text(encoding="utf-8").count("\n") if unfinished.exists() else 0
    with unfinished.open("a", encoding="utf-8") as file:
        for number, call in enumerate(calls[done:], done + 1):
            print(f"    {number} of {len(calls)}", file=sys.stderr, flush=True)
            file.write(json.dumps(call()) + "\n")
            file.flush()
    path.parent.mkdir(exist_ok=True)
    path.write_text(unfinished.read_text(encoding="utf-8"), encoding="utf-8")
    unfinished.unlink()


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows() -> list[dict[str, Any]]:
    """Returns the recorded questions, each with its truth."""
    return [one | other for one, other in zip(_read(ANSWERS), _read(TRUTHS), strict=True)]


def make_page() -> None:
    """Writes the part of the page."""
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, PART, page.text(rows())), encoding="utf-8")


def cells() -> Iterator[Cell]:
    """Yields short runs of the first links of each kind of hosts."""
    for question in islice(questions(), 8):
        link = question.link
        packets = max(round(link.bdp_packets / 4), 4)
        yield Cell(LinkTrial().scenario(link, packets, None, Extent(share=0.01)).canonical_toml())


def questions_and_cells() -> Iterator[Cell | Asked]:
    """Yields the cheapest questions and short runs."""
    by_work = sorted(_read(ANSWERS), key=lambda row: row["answer"]["work"])
    yield from (Asked(f"size {row['flags']} --only answer --json") for row in by_work[:CHEAPEST])
    yield from cells()


THINGS = [
    Derived(
        "answers_on_trial/answers",
        make_answers,
        products=(relative(ANSWERS),),
        cells=questions_and_cells,
        programs=("asked.py", "draw.py", "make.py"),
        seeds="from 1 on",
    ),
    Derived(
        "answers_on_trial/truths",
        make_truths,
        products=(relative(TRUTHS),),
        needs=("answers_on_trial/answers",),
        cells=cells,
        programs=("draw.py", "make.py", "truth.py"),
        seeds="5,000,001 to 5,000,032",
    ),
    Derived(
        "answers_on_trial/page",
        make_page,
        products=(f"{PAGE}#{PART}",),
        needs=("answers_on_trial/truths",),
        programs=("make.py", "page.py"),
    ),
]
