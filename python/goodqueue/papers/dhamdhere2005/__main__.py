"""Prints the paper's figures, ours beside what its text states, and draws them if asked to.

    python -m goodqueue.papers.dhamdhere2005 [fig1 …] [--pictures DIR] [--json]

Runs are kept in `~/.cache/goodqueue/dhamdhere2005` (`XDG_CACHE_HOME`): a second call is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from goodqueue.cli.terminal import print_json, stdout, table
from goodqueue.papers.dhamdhere2005.figures import FIGURES, Figure, slope
from goodqueue.papers.dhamdhere2005.mix import Mix
from goodqueue.papers.dhamdhere2005.pictures import picture
from goodqueue.study.runner import Runner
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

DPI = 110


def main() -> None:
    """Computes what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*FIGURES, []], metavar="figure")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    store = Store.open(cache / "goodqueue" / "dhamdhere2005", keep_both=True)
    try:
        mix = Mix(Runner(store, Threads(), _progress))
        figures = [FIGURES[name](mix) for name in asked.names or FIGURES]
    finally:
        store.close()
    stated = tomllib.loads(files(__package__).joinpath("stated.toml").read_text("utf-8"))
    if asked.json:
        print_json([_as_dict(figure, stated[figure.name]) for figure in figures])
    else:
        for figure in figures:
            _print(figure, stated[figure.name])
    if asked.pictures is not None:
        for figure in figures:
            picture(figure, stated[figure.name]).save_as(asked.pictures, ["png"], dpi=DPI)


def _progress(left: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{left} runs left ", end="", file=sys.stderr)


def _print(figure: Figure, stated: str) -> None:
    console = stdout()
    flows = sorted({count for points in figure.curves.values() for count in points})
    rows = [
        [
            f"{count}",
            *(_cell(figure, label, count) for label in figure.curves),
        ]
        for count in flows
    ]
    console.print(table(f"{figure.name}: {figure.title}", ["flows", *figure.curves], rows))
    if figure.name == "fig1":
        for label, points in figure.curves.items():
            if label not in figure.theory:
                console.print(f"alpha, {label}: {slope(points):.2f}")
    console.print(f"values in {figure.unit}; the paper: {stated}\n", soft_wrap=True)


def _cell(figure: Figure, label: str, count: int) -> str:
    value = figure.curves[label].get(count)
    if value is None:
        return ""
    width = f" ±{value.half_width:.{figure.digits}f}" if value.half_width else ""
    return f"{value.mean:.{figure.digits}f}{width}"


def _as_dict(figure: Figure, stated: str) -> dict[str, Any]:
    return {
        "figure": figure.name,
        "title": figure.title,
        "unit": figure.unit,
        "stated": stated,
        "curves": {
            label: [
                {"flows": count, "mean": value.mean, "half_width": value.half_width}
                for count, value in points.items()
            ]
            for label, points in figure.curves.items()
        },
    }


if __name__ == "__main__":
    main()
