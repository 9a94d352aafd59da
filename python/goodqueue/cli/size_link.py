"""`goodqueue size --rate …`: a link that is only described, from flags to the printed answer."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goodqueue.cli import EXIT_INTERRUPTED, EXIT_NOT_FEASIBLE
from goodqueue.cli.answer import describe, print_answer, recommendation
from goodqueue.cli.terminal import print_json, progress, stderr
from goodqueue.errors import RequestError
from goodqueue.sizing.answer import Answer, judge, size_link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.question import Question

MARKUP = re.compile(r"\[/?[a-z ]*\]")


def size_described(  # noqa: PLR0913 - options of one command
    question: Question,
    *,
    quick: bool,
    json: bool,
    report: Path | None,
    jobs: int | None,
    seed: int | None,
) -> int:
    """Answers a question, prints the answer and writes the page; returns the exit code."""
    link = question.link()
    if report is not None and not report.parent.is_dir():
        raise RequestError(f"{report.parent} is not a directory, so {report} cannot be written")
    if quick:
        answer = Answer(link, judge(link), why_theory_only="--quick: theory only, nothing was run")
    else:
        try:
            answer = _simulate(link, jobs, seed)
        except KeyboardInterrupt:
            stderr().print("interrupted: what had finished is kept, and the same command goes on")
            return EXIT_INTERRUPTED
    if json:
        print_json(answer.as_dict())
    else:
        print_answer(answer)
    if report is not None:
        _write_report(answer, report)
    return EXIT_NOT_FEASIBLE if answer.buffer is None else 0


def _simulate(link: Link, jobs: int | None, seed: int | None) -> Answer:
    from goodqueue.sizing.laboratory import LinkLaboratory
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    with user_store("sizing") as store, _bar() as on_run:
        runner = Runner(store, Threads(jobs), on_run)
        return size_link(link, LinkLaboratory(runner, 1 if seed is None else seed))


@contextmanager
def _bar() -> Iterator[Callable[[int], None]]:
    with progress() as bar:
        task = bar.add_task("simulating", total=None)
        done = 0

        def on_run(left: int) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, total=done + left)

        yield on_run


def _write_report(answer: Answer, path: Path) -> None:
    from goodqueue.plots.answer import curve, pareto
    from goodqueue.sizing.report import write

    lines = [MARKUP.sub("", line) for line in describe(answer.link)]
    sentences = [". ".join(lines) + ".", *(MARKUP.sub("", one) for one in recommendation(answer))]
    pictures = [] if answer.trials is None else [curve(answer), pareto(answer)]
    write(answer, sentences, pictures, path)
    stderr().print(f"wrote {path}")
