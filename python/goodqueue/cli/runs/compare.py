"""`goodqueue compare`: scenarios side by side, as tables, JSON, pictures and a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.cli.commands.options import drawing, overrides
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.cli.files import print_written, print_wrote, source_of, write_json
from goodqueue.cli.hosts import note_hosts
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_output, check_page, whole_directory
from goodqueue.errors import RequestError
from goodqueue.output.progress import counted_runs
from goodqueue.output.runs.comparison import print_comparison, write_comparison
from goodqueue.output.terminal import goes_on, print_json, stderr
from goodqueue.runs.api import load, run
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.runs.results.traces import files_read
from goodqueue.sizing.trials.file import link_name
from goodqueue.study.compare import Side, compare, names_of, split_settings
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.cli.commands.runs.compare import Compare
    from goodqueue.core.drawing import Drawing
    from goodqueue.plots.style import Picture
    from goodqueue.study.compare import Comparison

MAX_SIDES = 12
"""Largest number of scenarios whose lines can be distinguished in one picture."""


def compare_scenarios(asked: Compare) -> int:
    """Runs the scenarios, prints their differences, writes the files; returns the exit code."""
    pictured = drawing(asked)
    sides = _sides(asked)
    drawn = asked.out is not None or asked.report is not None
    if drawn:
        require("polars", "matplotlib")
    if asked.out is not None:
        check_output(asked.out)
    if asked.report is not None:
        check_page(asked.report)
    read = [name for side in sides for name in files_read(side.scenario)]
    named = [file for file in asked.files if file != "-"]
    check_apart(
        [*named, *read],
        {"--out/": asked.out, "--store": asked.store, "--report": asked.report},
    )
    limit = limit_of(asked.memory)
    note_hosts(side.scenario for side in sides)
    check_runs((side.scenario for side in sides), limit, series=drawn)
    with user_store("compare", asked.store) as store, counted_runs("comparing") as on_run:
        runner = Runner(store, Threads(asked.jobs, limit), on_run)
        try:
            found = compare(sides, runner, asked.replicates)
        except KeyboardInterrupt:
            stderr().print(goes_on(runner.lasting))
            return EXIT_INTERRUPTED
    pictures = _drawn(found, asked.memory) if drawn else []
    if asked.out is not None:
        _write(found, asked.out, pictured, pictures)
    if asked.report is not None:
        write_comparison(found, pictures, sys.argv[1:], asked.report)
    if asked.json:
        print_json(found.as_dict())
        return 0
    print_comparison(found)
    if asked.out is not None:
        print_written(asked.out)
    if asked.report is not None:
        print_wrote(asked.report)
    return 0


def _sides(asked: Compare) -> list[Side]:
    """Returns the scenarios by their names.

    Raises:
        RequestError: if there is nothing to compare, or two scenarios have the same name.
        ScenarioError: if a scenario is wrong.
    """
    files, variants, common = asked.files, asked.variant or [], overrides(asked.set_)
    if len(files) > 1 and variants:
        raise RequestError(
            "--variant changes one file, but several are named; name one file, or omit --variant"
        )
    if len(files) == 1 and len(variants) < 2:
        raise RequestError(
            f"{files[0]} alone cannot be compared; name a second file, or give --variant "
            "at least twice (--variant '' is the file as written)"
        )
    if files.count("-") > 1:
        raise RequestError("standard input holds one scenario, and - is named twice")
    sources = {file: source_of(file) for file in files}
    if len(files) > 1:
        names = ["stdin" if file == "-" else Path(file).stem for file in files]
        if len(set(names)) < len(names):
            names = list(files)
        settings: list[list[tuple[str, str]]] = [[] for _ in files]
    else:
        settings = [split_settings(text) for text in variants]
        names, files = names_of(settings), [*files] * len(variants)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RequestError(f"{twice} is named twice; omit one")
    if len(names) > MAX_SIDES:
        raise RequestError(
            f"{len(names)} scenarios are more than the {MAX_SIDES} that a table and a "
            "picture can show; write a study for `goodqueue sweep`"
        )
    sides = []
    for name, file, own in zip(names, files, settings, strict=True):
        scenario = load(sources[file], set=[*common, *own], seed=asked.seed)
        link = link_name(scenario, asked.link)
        scenario.buffer(link, 1)  # raises an error for a link that does not exist
        sides.append(Side(name, scenario, link))
    return sides


def _drawn(found: Comparison, memory: str | None) -> list[Picture]:
    """Returns pictures over time of the first seed, with a line for each side."""
    from goodqueue.plots.compare import pictures

    results = {
        side.name: run(
            side.scenario.resolved_toml(),
            seed=found.seeds[0],
            series=True,
            packets=False,
            throughput=True,
            memory=memory,
        )
        for side in found.sides
    }
    return pictures(results, [side.link for side in found.sides])


def _write(found: Comparison, out: Path, pictured: Drawing, drawn: Sequence[Picture]) -> None:
    """Writes the directory: figures, scenarios, and pictures of the first seed."""
    from goodqueue.plots.style import save_all

    with whole_directory(out) as directory:
        for index, side in enumerate(found.sides, start=1):
            text = side.scenario.resolved_toml()
            (directory / f"scenario-{index}.toml").write_text(text, encoding="utf-8")
        save_all(drawn, directory, pictured)
        write_json(directory, found.as_dict())
