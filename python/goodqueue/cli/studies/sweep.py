"""`goodqueue sweep`: runs the runs of a study file and stores them in a folder."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.cli.commands.options import overrides
from goodqueue.cli.exits import EXIT_FAILED_RUNS, EXIT_INTERRUPTED
from goodqueue.cli.files import may_import, source_of
from goodqueue.cli.hosts import note_hosts
from goodqueue.cli.studies.executor import executor_of
from goodqueue.cli.studies.report import check_outside, write_report
from goodqueue.core.drawing import FORMATS, drawing_of
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart
from goodqueue.core.files.reading import has_bytes
from goodqueue.errors import RequestError
from goodqueue.output.progress import JsonLines, Terminal
from goodqueue.output.studies.plan import print_plan
from goodqueue.output.terminal import counted, print_json, say, stdout
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.study.estimate import estimate
from goodqueue.study.model import Stop
from goodqueue.study.record.store import STUDY, Store
from goodqueue.study.sweep import Study, Sweep, Tally, check_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.cli.commands.studies import Sweep as SweepOptions
    from goodqueue.core.drawing import Drawing
    from goodqueue.study.model import Executor, StudyPlan


def sweep_study(asked: SweepOptions) -> int:
    """Runs the runs of a study that its folder does not contain; returns the exit code."""
    require("polars", *(["matplotlib"] if asked.report is not None else []))
    file, pictured = asked.file, drawing_of(asked.format_, caption=asked.caption, usual=FORMATS)
    part = _part(asked.shard)
    allowed = may_import(asked.allow_python)
    study = Study(source_of(file), set=overrides(asked.set_), allow_python=allowed).plan
    check_part(study, part)
    folder = _folder(asked)
    if asked.metrics:
        say(*study.variants[0].scenario.metric_names())
        return 0
    if study.plots:
        from goodqueue.plots.study.pictures import check_plots

        check_plots(study)
    check_outside("--report", asked.report, [folder])
    if file != "-":
        check_apart([file], {"--out": folder, "--report": asked.report})
        _check_study(file, folder, study)
    limit = limit_of(asked.memory)
    note_hosts(variant.scenario for variant in study.variants)
    if asked.cluster is None:
        scenarios = (variant.scenario for variant in study.variants)
        check_runs(scenarios, limit, series=study.keep.series)
    executor = executor_of(asked.cluster, asked.jobs, limit)
    try:
        if asked.dry_run:
            return _dry_run(study, folder, executor.workers, part, asked)
        tally = _sweep(study, folder, executor, part, asked)
    finally:
        executor.close()
    pictures = [] if tally.interrupted or part != (1, 1) else _draw(study, folder, pictured)
    _report(tally, folder, asked)
    if not tally.interrupted:
        _write_report(study, folder, asked)
    if pictures and not (asked.json or asked.json_lines):
        say(f"pictures: {', '.join(map(str, pictures))}")
    if tally.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_FAILED_RUNS if tally.failed else 0


def _folder(asked: SweepOptions) -> Path:
    """Returns the folder of the runs; by default it has the name of the study."""
    if asked.out is not None:
        return asked.out
    file = asked.file
    if file == "-" and not (asked.dry_run or asked.metrics):
        raise RequestError(
            "a study from standard input has no name; name the folder of its runs with --out"
        )
    return Path(f"{'study' if file == '-' else Path(file).stem}-runs")


def _sweep(
    study: StudyPlan, folder: Path, executor: Executor, part: tuple[int, int], asked: SweepOptions
) -> Tally:
    """Runs the runs that the folder does not contain."""
    store = Store.open(folder, study.text, keep_both=asked.keep_both)
    try:
        stop = Stop()
        watcher = JsonLines() if asked.json_lines else Terminal()
        with watcher, _interruptible(stop, watcher):
            sweep = Sweep(study, store, executor, stop, watcher=watcher, part=part)
            return sweep.run(retry_failed=asked.retry_failed)
    finally:
        store.close()


def _draw(study: StudyPlan, folder: Path, pictured: Drawing) -> list[Path]:
    """Draws the pictures that the study defines."""
    if not study.plots:
        return []
    from goodqueue.plots.study.pictures import draw
    from goodqueue.study.results import Results

    return draw(Results(folder), study, folder, pictured)


def _write_report(study: StudyPlan, folder: Path, asked: SweepOptions) -> None:
    """Writes the page that the command names, if any."""
    if asked.report is None:
        return
    from goodqueue.study.results import Results

    write_report(Results(folder), asked.report, None, study)
    if not (asked.json or asked.json_lines):
        say(f"report: {asked.report}")


def _check_study(file: str, folder: Path, study: StudyPlan) -> None:
    """Refuses to replace the study file that is read by its resolved form."""
    kept = folder / STUDY
    if kept.exists() and kept.samefile(file) and not has_bytes(kept, study.text.encode()):
        raise RequestError(
            f"--out {folder}: the study file {file} is its {STUDY}, which would be replaced by the "
            "study as resolved; name another folder"
        )


def _report(tally: Tally, folder: Path, asked: SweepOptions) -> None:
    facts = {
        "runs": tally.done,
        "failed": tally.failed,
        "known": tally.known,
        "interrupted": tally.interrupted,
        "folder": str(folder),
    }
    if asked.json_lines:
        return
    if asked.json:
        print_json(facts)
        return
    console = stdout()
    known = f", {tally.known:,} known before" if tally.known else ""
    failed = f", {tally.failed:,} failed" if tally.failed else ""
    console.print(f"{counted(tally.done, 'run')}{failed}{known}", markup=False)
    if tally.failed:
        console.print(f"reasons: goodqueue results {folder} --failed", markup=False)
    if tally.interrupted:
        console.print("interrupted; the same command continues", markup=False)
    say(f"written to {folder}")


def _dry_run(
    study: StudyPlan, folder: Path, workers: int, part: tuple[int, int], asked: SweepOptions
) -> int:
    """Prints the planned runs and their estimated cost."""
    least = study.stop.min_replicates if study.stop else len(study.seeds)
    total = len(study.variants) * least
    runs = {variant.index: least / part[1] for variant in study.variants}
    cost = estimate(study.variants, runs)
    if asked.json:
        print_json(
            {
                "title": study.title,
                "variants": [dict(variant.parameters) for variant in study.variants],
                "seeds": list(study.seeds),
                "runs": total,
                "cpu_s": cost.seconds,
                "wall_s": cost.seconds / workers,
                "shortest_run_s": cost.shortest_s,
                "longest_run_s": cost.longest_s,
                "folder": str(folder),
            }
        )
        return 0
    print_plan(study, least, cost, workers)
    return 0


def _part(text: str | None) -> tuple[int, int]:
    """Parses K/N."""
    if text is None:
        return 1, 1
    part, slash, parts = text.partition("/")
    if slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts):
        return int(part), int(parts)
    raise RequestError(f"--shard {text}: write K/N with K from 1 to N, as in 1/4")


@contextmanager
def _interruptible(stop: Stop, watcher: Terminal | JsonLines) -> Iterator[None]:
    """Makes Ctrl-C finish the current runs, and a second one stop them."""

    def handle(_signal: int, _frame: object) -> None:
        if stop.draining:
            stop.abort()
        else:
            stop.drain()
            watcher.stopping()

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as of a job in the background
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
