"""`goodqueue analyze`: a capture as tables, JSON, files and a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.commands.options import drawing, pair
from goodqueue.cli.files import print_written, print_wrote, write_json
from goodqueue.cli.passive.capture import Capture
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import (
    check_apart,
    check_file,
    check_output,
    check_page,
    whole_directory,
    write_whole,
)
from goodqueue.output.passive.tables import print_analysis
from goodqueue.output.terminal import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.cli.commands.analyze import Analyze
    from goodqueue.core.drawing import Drawing
    from goodqueue.passive import Analysis


def analyze_capture(asked: Analyze) -> int:
    """Prints the analysis of a capture, and writes the requested files."""
    out, to_scenario, pictured = asked.out, asked.to_scenario, drawing(asked)
    thresholds = tuple(pair("--threshold", "NAME=VALUE", one) for one in asked.threshold or [])
    capture = Capture(
        asked.file,
        after=asked.after,
        rate=asked.link,
        drops=asked.drops,
        thresholds=thresholds,
        seed=asked.seed,
    )
    places = {"--out/": out, "--to-scenario": to_scenario, "--report": asked.report}
    check_apart(capture.files(), places)
    if out is not None:
        check_output(out)
    if to_scenario is not None:
        check_file(to_scenario)
    if asked.report is not None:
        require("matplotlib")
        check_page(asked.report)
    analysis = capture.analyze()
    scenario = None if to_scenario is None else _scenario(analysis, capture.file)
    if out is not None:
        _write(analysis, out, pictured)
    if to_scenario is not None and scenario is not None:
        write_whole(to_scenario, scenario)
        print_wrote(to_scenario)
    if asked.report is not None:
        _write_page(analysis, asked.report, asked.context.obj)
    if asked.json:
        print_json(analysis.summary)
    else:
        print_analysis(analysis, capture.of_size())
        if out is not None:
            print_written(out)
    return 0


def _scenario(analysis: Analysis, file: Path) -> str:
    from goodqueue.passive.scenario import scenario_toml

    text = scenario_toml(analysis, file.name)
    _core.Scenario.parse(text.encode(), f"the scenario of {file}", [])
    return text


def _write_page(analysis: Analysis, path: Path, command: Sequence[str]) -> None:
    from goodqueue.output.passive.page import write_page
    from goodqueue.plots.passive import pictures

    write_page(analysis, list(pictures(analysis)), command, path)


def _write(analysis: Analysis, out: Path, pictured: Drawing) -> None:
    from goodqueue.plots.passive import pictures
    from goodqueue.plots.style import save_all

    tables: dict[str, Any] = {
        name: getattr(analysis, name) for name in ("flows", "rtts", "losses", "bursts", "series")
    }
    with whole_directory(out) as directory:
        for name, frame in tables.items():
            frame.write_parquet(directory / f"{name}.parquet")
        save_all(pictures(analysis), directory, pictured)
        write_json(directory, analysis.summary)
