"""`goodqueue analyze`: a capture as tables, JSON, files and a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.capture_tables import print_analysis
from goodqueue.cli.files import print_written, write_json
from goodqueue.cli.terminal import print_json, stderr, stdout
from goodqueue.errors import RequestError
from goodqueue.outdir import check_output, whole_directory

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.cli.capture import Capture
    from goodqueue.passive import Analysis


def analyze_capture(
    capture: Capture, *, json: bool, out: Path | None, to_scenario: Path | None
) -> int:
    """Prints what a capture tells, and writes what was asked for."""
    if out is not None:
        check_output(out)
    if to_scenario is not None and not to_scenario.parent.is_dir():
        raise RequestError(
            f"{to_scenario.parent} is not a directory, so {to_scenario} cannot be written"
        )
    analysis = capture.analyze()
    scenario = None if to_scenario is None else _scenario(analysis, capture.file)
    if out is not None:
        _write(analysis, out)
    if json:
        print_json(analysis.summary)
    else:
        print_analysis(analysis, capture)
        if out is not None:
            print_written(stdout(), out)
    if to_scenario is not None and scenario is not None:
        to_scenario.write_text(scenario, encoding="utf-8")
        stderr().print(f"wrote {to_scenario}", markup=False)
    return 0


def _scenario(analysis: Analysis, file: Path) -> str:
    from goodqueue.passive.scenario import scenario_toml

    text = scenario_toml(analysis, file.name)
    _core.Scenario.parse(text.encode(), f"the scenario of {file}", [])
    return text


def _write(analysis: Analysis, out: Path) -> None:
    from goodqueue.plots.passive import pictures
    from goodqueue.plots.style import save_all

    tables: dict[str, Any] = {
        name: getattr(analysis, name) for name in ("flows", "rtts", "losses", "bursts", "series")
    }
    with whole_directory(out) as directory:
        for name, frame in tables.items():
            frame.write_parquet(directory / f"{name}.parquet")
        save_all(pictures(analysis), directory)
        write_json(directory, analysis.summary)
