"""`goodqueue size`: from the question to the printed answer, for a file or a described link."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.cli.commands.options import drawing, overrides, taken
from goodqueue.cli.exits import EXIT_INTERRUPTED, EXIT_NOT_FEASIBLE, EXIT_UNPROVED
from goodqueue.cli.files import (
    may_import,
    print_written,
    print_wrote,
    source_of,
    write_json,
    write_scenario,
)
from goodqueue.cli.hosts import note_hosts
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_output, check_page, whole_directory
from goodqueue.errors import RequestError
from goodqueue.output.progress import duration
from goodqueue.output.sizing.answer import (
    describe,
    plain_lines,
    print_recommendation,
    print_rest,
)
from goodqueue.output.sizing.bursts import burst_lines
from goodqueue.output.sizing.verdict import verdict
from goodqueue.output.terminal import packets, print_json, progress, say, stdout
from goodqueue.passive.answer import CaptureAnswer
from goodqueue.runs.engines import choice_of
from goodqueue.runs.results.traces import files_read
from goodqueue.sizing.answer.effort import MAX_REPLICATES, QUEUES, Effort
from goodqueue.sizing.answer.listener import Listener
from goodqueue.sizing.answer.work_out import by_theory
from goodqueue.sizing.api import simulate
from goodqueue.sizing.bursts import bursts_of
from goodqueue.sizing.controls import NEED_MARKS, parse_controls
from goodqueue.sizing.device import read_device
from goodqueue.sizing.flow_records import read_flow_records
from goodqueue.sizing.known import Known
from goodqueue.sizing.question import Bounds, Question
from goodqueue.sizing.search.budget import budget_of, time_of
from goodqueue.sizing.trials.described import LinkTrial, notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from goodqueue.cli.commands.sizing.size import Size
    from goodqueue.core.drawing import Drawing
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.bursts import Bursts
    from goodqueue.sizing.flow_records import FlowRecords
    from goodqueue.sizing.link import Asked, Link
    from goodqueue.sizing.search.laboratory import Trial

QUICK = "--quick: theory only; nothing was run"


def size(asked: Size) -> int:
    """Answers for a file, a capture, or a described link; returns the exit code."""
    bounds = taken(Bounds, asked)
    if asked.file is not None:
        return _size_file(asked, asked.file, bounds.asked())
    known = taken(Known, asked)
    if asked.from_ is not None:
        return _size_capture(asked, asked.from_, known, bounds)
    records = _records(asked)
    flows = asked.flows if records is None else records.flows
    question = taken(Question, asked, packet=asked.packet or "1500B", flows=flows, bounds=bounds)
    link = known.applied(question.link())
    inputs = []
    bursts = None if records is None else bursts_of(records, link)
    if records is not None and bursts is not None:
        return _size_bursts(asked, bursts, records.notes())
    if records is not None:
        _check_long(asked, records)
        if bounds.mix is None:
            link = replace(link, local_share=records.long_share)
        inputs = [str(asked.flows_from)]
    notes = (*notes_of(link), *(() if records is None else records.notes()))
    if asked.device is not None:
        device = read_device(asked.device)
        link, notes = device.on(link), (*notes, *device.notes(link))
    return _size(asked, LinkTrial(), link, _seed(asked), notes, inputs)


def _size_bursts(asked: Size, found: Bursts, notes: tuple[str, ...]) -> int:
    """Prints the buffer of a link that is not full; it is an estimate."""
    if asked.out is not None or asked.report is not None:
        raise RequestError("this link is not full, and nothing is simulated: omit --out, --report")
    if asked.json:
        print_json(found.as_dict(notes))
    else:
        say(*burst_lines(found, notes), markup=True)
    return EXIT_UNPROVED


def _records(asked: Size) -> FlowRecords | None:
    """Returns the flow records that the request names."""
    if asked.flows_from is None:
        return None
    return read_flow_records(asked.flows_from, asked.sampling or 1)


def _check_long(asked: Size, records: FlowRecords) -> None:
    """Refuses records without long flows, to which no rule applies."""
    if not records.long.flows:
        raise RequestError(
            f"{asked.flows_from}: no flow has {records.long.least_packets} packets or more, so no "
            "rule applies; `goodqueue flows` has the sizes of all flows for a scenario"
        )


def _seed(asked: Size) -> int:
    return 1 if asked.seed is None else asked.seed


def _effort(asked: Size) -> Effort:
    """Returns the extent of the simulations."""
    queues = () if asked.only else QUEUES
    return Effort(
        replicates=asked.replicates or MAX_REPLICATES,
        queues=queues if asked.aqm is None else tuple(dict.fromkeys(asked.aqm)),
        changes=not asked.only,
        rules=not asked.only,
        budget=budget_of(asked.budget),
        time_s=time_of(asked.time),
        hosts=asked.hosts is None,
        jobs=asked.jobs,
        store=asked.store,
        memory=asked.memory,
        engine=choice_of(asked.engine or "auto"),
    )


def _size_capture(asked: Size, file: Path, known: Known, bounds: Bounds) -> int:
    """Answers for the link of a capture, with its estimated parameters."""
    from goodqueue.cli.passive.capture import Capture
    from goodqueue.output.passive.tables import estimates
    from goodqueue.passive.link import link_of
    from goodqueue.passive.size import model_for, size_analysis
    from goodqueue.passive.trial import CaptureTrial

    limits = asdict(bounds.asked())
    if bounds.mix is None:
        del limits["local_share"]  # the capture shows this share
    effort, seed, control = _effort(asked), _seed(asked), asked.control
    capture = Capture(file, after=asked.after, rate=asked.rate, rate_flag="--rate", seed=seed)
    analysis = capture.analyze()
    link = replace(link_of(analysis), **limits)
    if control is not None:
        link = replace(link, congestion_control=_one_control(control))
    link = known.applied(link)
    notes = (estimates(analysis, file), *analysis.summary["notes"])
    model = model_for(analysis, link, control, known.ack_every)

    def work(listener: Listener) -> Answer:
        return size_analysis(
            analysis, model, link, effort, seed=seed, notes=notes, listener=listener
        )

    return _size(asked, CaptureTrial(model, link), link, seed, notes, capture.files(), work)


def _one_control(text: str) -> str:
    """Returns the control of a capture's flows; refuses mixes and controls that need marks."""
    shares = parse_controls("--control", text)
    if len(shares) > 1 or shares[0][0] in NEED_MARKS:
        raise RequestError(
            f"--control {text}: the flows of a capture have one control, and none that needs "
            "marks; describe the link with --rate, --rtt and --flows to size it for others"
        )
    return shares[0][0]


def _size_file(asked: Size, file: str, bounds: Asked) -> int:
    """Answers for a link of a scenario."""
    from goodqueue.runs.api import load
    from goodqueue.sizing.trials.file import FileTrial, link_name

    jitter_s = None if asked.jitter is None else _core.parse_span("--jitter", asked.jitter)
    allowed = may_import(asked.allow_python)
    scenario = load(
        source_of(file), set=overrides(asked.set_), seed=asked.seed, allow_python=allowed
    )
    trial = FileTrial(scenario, link_name(scenario, asked.link), bounds, jitter_s)
    inputs = [file, *files_read(scenario)]
    code = _size(asked, trial, trial.link, scenario.seed, trial.notes, inputs)
    if code != EXIT_INTERRUPTED:
        note_hosts([scenario])
    return code


def _size(  # noqa: PLR0913, PLR0917 - the question, its inputs, and how it is answered
    asked: Size,
    trial: Trial,
    link: Link,
    seed: int,
    notes: tuple[str, ...] = (),
    inputs: Sequence[str | Path] = (),
    work: Callable[[Listener], Answer] | None = None,
) -> int:
    out, report, effort = asked.out, asked.report, _effort(asked)
    check_apart(inputs, {"--out/": out, "--report": report})
    if report is not None:
        require("matplotlib")
        check_page(report)
    if out is not None:
        require("polars", "matplotlib")
        check_output(out)
    if asked.quick:
        answer = by_theory(link, trial, QUICK, notes)
        if not asked.json:
            print_recommendation(answer)
    else:
        # The recommendation is printed before the rest is computed.
        on_answer = _nothing if asked.json else _print_at_once
        with _bar(f"sizing {trial.name}", on_answer) as listener:
            if work is None:
                answer = simulate(trial, link, effort, seed, notes=notes, listener=listener)
            else:
                answer = work(listener)
    if out is not None:
        _write(answer, out, drawing(asked))
    if report is not None:
        _write_report(answer, report, asked.context.obj)
    if asked.json:
        print_json(answer.as_dict())
    else:
        explain = asked.explain or asked.tables is not None
        print_rest(answer, asked.syntax or "linux", explain=explain)
        if out is not None:
            print_written(out)
    return exit_code(answer)


def exit_code(answer: Answer) -> int:
    """Returns the exit code of an answer."""
    if answer.interrupted:
        return EXIT_INTERRUPTED
    if answer.trials is None:  # Theory shows nothing, whatever it expects.
        return EXIT_UNPROVED
    if answer.why_impossible is not None and answer.firm:
        return EXIT_NOT_FEASIBLE
    return 0 if answer.proved and answer.firm else EXIT_UNPROVED


def _nothing(_answer: Answer) -> None:
    """Does nothing: the answer is printed as one document at the end."""


def _print_at_once(answer: Answer) -> None:
    print_recommendation(answer)
    stdout().file.flush()


@contextmanager
def _bar(what: str, on_answer: Callable[[Answer], None]) -> Iterator[Listener]:
    """Shows the number of runs, the bracket shown so far, and the rest of the budget."""
    begun = time.monotonic()
    with progress() as bar:
        task = bar.add_task(what, total=None)
        done, bracket, left_s, share = 0, "", "", 0.0

        def on_run(left: int) -> None:
            nonlocal done
            done += 1
            bar.update(
                task,
                description=f"{what}: {bracket}{left_s}",
                completed=done,
                total=done + left,
            )

        def on_bracket(low: int, high: int | None) -> None:
            nonlocal bracket
            if high is not None:
                bracket = f"between {low + 1:,} and {packets(high)}, "
            elif low:
                bracket = f"more than {packets(low)}, "

        def on_budget(used: float) -> None:
            nonlocal left_s, share
            left_s = ""
            if 0 < share < 1:  # The runs of this share have ended.
                rest_s = (time.monotonic() - begun) * (1 - share) / share
                left_s = f"about {duration(rest_s)} left"
            share = used

        yield Listener(on_run, on_bracket, on_answer, on_budget)


def _pictures(answer: Answer) -> list[Picture]:
    if not answer.limits:
        return []
    from goodqueue.plots.answer import curve, pareto

    return [curve(answer), pareto(answer)]


def _write(answer: Answer, out: Path, pictured: Drawing) -> None:
    """Writes the directory: a replicate at the recommended buffer, tables, figures, pictures."""
    from goodqueue.core.tables import write_csv

    with whole_directory(out) as directory:
        if answer.scenario is not None:
            write_scenario(directory, answer.scenario.resolved_toml())
        for name, frame in (("rules", answer.rules), ("curve", answer.curve)):
            write_csv(frame, directory / f"{name}.csv")
            frame.write_parquet(directory / f"{name}.parquet")
        pictures = _pictures(answer)
        if pictures:
            from goodqueue.plots.style import save_all

            save_all(pictures, directory, pictured)
        write_json(directory, answer.as_dict())


def _write_report(answer: Answer, path: Path, command: Sequence[str]) -> None:
    from goodqueue.output.sizing.page import write

    question = "; ".join(plain_lines(describe(answer)))
    sentences = [f"{question}.", *plain_lines(verdict(answer))]
    tables = []
    if isinstance(answer, CaptureAnswer) and answer.today is not None:
        from goodqueue.output.passive.today import COLUMNS, TITLE, today_rows

        tables.append((TITLE, COLUMNS, today_rows(answer.today)))
    write(answer, sentences, _pictures(answer), path, command, tables)
    print_wrote(path)
