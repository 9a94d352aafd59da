"""`goodqueue box`: from the question to the printed answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.boxes.api import USUAL_KEEP, Question, answer_box, split
from goodqueue.cli.exits import exit_code_of
from goodqueue.cli.files import print_wrote
from goodqueue.cli.sizing.tune import searching
from goodqueue.core.files.outdir import check_apart, check_file, write_whole
from goodqueue.output.terminal import print_json
from goodqueue.output.tuning.box import print_box

if TYPE_CHECKING:
    from goodqueue.cli.commands.sizing.box import Box


def box(asked: Box) -> int:
    """Answers, prints and writes; returns the exit code."""
    question = Question(
        ports=asked.ports,
        memory=asked.memory,
        rtt=asked.rtt,
        incast=asked.incast,
        keep=tuple(asked.keep or (USUAL_KEEP,)),
        alpha=asked.alpha,
        cell=asked.cell,
        reserved=asked.reserved,
        control=asked.control,
        mark_at=asked.mark_at,
        config=asked.config,
        seed=asked.seed,
    )
    question.box()  # refuses wrong values before anything runs
    if asked.write is not None:
        inputs = [] if asked.config is None else [split(asked.config)[0]]
        check_apart(inputs, {"--write": asked.write})
        check_file(asked.write)
    with searching(asked, "the box", asked.run_memory) as effort:
        answer = answer_box(question, effort)
    if asked.json:
        print_json(answer.as_dict())
    else:
        print_box(answer, explain=asked.explain)
    if asked.write is not None:
        write_whole(asked.write, answer.toml())
        print_wrote(asked.write)
    return exit_code_of(answer)
