"""`goodqueue tune`: from the question to the printed answer."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from goodqueue.cli.commands.options import overrides
from goodqueue.cli.exits import exit_code_of
from goodqueue.cli.files import may_import, print_wrote, source_of
from goodqueue.cli.hosts import note_hosts
from goodqueue.core.drawing import format_of
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_file, whole_file, write_whole
from goodqueue.errors import as_typed
from goodqueue.output.terminal import print_json, progress
from goodqueue.output.tuning.screen import print_answer
from goodqueue.output.tuning.several import print_point
from goodqueue.runs.api import load
from goodqueue.runs.results.traces import files_read
from goodqueue.sizing.search.budget import budget_of, time_of
from goodqueue.tuning.api import tune as find
from goodqueue.tuning.effort import Effort
from goodqueue.tuning.several.answer import TunedPoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.cli.commands.sizing.searching import Searching
    from goodqueue.cli.commands.sizing.tune import Tune
    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.answer import Tuned
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.several.space import Space


def tune(asked: Tune) -> int:
    """Answers, prints and writes; returns the exit code."""
    source, given, allowed = source_of(asked.file), overrides(asked.set_), asked.allow_python
    own = load(source, set=given, seed=asked.seed, allow_python=may_import(allowed))
    check_apart([asked.file, *files_read(own)], {"--out": asked.out, "--plot": asked.plot})
    for file in (asked.out, asked.plot):
        if file is not None:
            check_file(file)
    if asked.plot is not None:
        require("matplotlib")
        format_of(asked.plot, "--plot")
    vary = asked.vary[0] if len(asked.vary) == 1 else asked.vary
    paths = " and ".join(one.partition("=")[0] for one in asked.vary)
    with searching(asked, paths, asked.memory) as effort:
        answer = as_typed(find)(
            source,
            vary,
            keep=asked.keep or (),
            most=asked.most,
            least=asked.least,
            set=given,
            seed=asked.seed,
            allow_python=allowed,
            **effort.options(),
        )
    if asked.json:
        print_json(answer.as_dict())
    else:
        print_tuning(answer)
    _write(asked, answer)
    if not answer.interrupted:
        note_hosts([own])
    return exit_code_of(answer)


def print_tuning(answer: Tuned | TunedPoint) -> None:
    """Prints the answer for one parameter or several."""
    if isinstance(answer, TunedPoint):
        print_point(answer)
    else:
        print_answer(answer)


def _write(asked: Tune, answer: Tuned | TunedPoint) -> None:
    """Writes the scenario and the picture, as far as there is something to write."""
    if asked.out is not None and answer.scenario is not None:
        write_whole(asked.out, answer.scenario.resolved_toml())
        print_wrote(asked.out)
    if asked.plot is not None and answer.trials.limits:
        from goodqueue.plots.shown import picture_for

        with whole_file(asked.plot) as file:
            file.write_bytes(picture_for(answer).as_bytes(format_of(asked.plot), 150))
        print_wrote(asked.plot)


@contextmanager
def searching(asked: Searching, what: str, memory: str | None) -> Iterator[Effort]:
    """Yields the limits of a search, and shows the number of its runs and of values that were run.

    Args:
        asked: the options of the command.
        what: the parameters, in words.
        memory: largest memory of all runs.
    """
    with progress() as bar:
        task = bar.add_task(f"tuning {what}", total=None)
        done = 0

        def on_run(left: int) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, total=done + left)

        def on_change(points: Axis | Space, trials: Trials) -> None:
            tried = f"{len(trials.limits)} of {len(points)} values"
            bar.update(task, description=f"tuning {what}: {tried}")

        yield Effort(
            replicates=asked.replicates,
            budget=budget_of(asked.budget),
            time_s=time_of(asked.time),
            jobs=asked.jobs,
            memory=memory,
            store=asked.store,
            on_run=on_run,
            on_change=on_change,
        )
