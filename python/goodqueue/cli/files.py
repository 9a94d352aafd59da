"""Files of an output directory that every command writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goodqueue.outdir import MARKER

if TYPE_CHECKING:
    from pathlib import Path


def write_scenario(directory: Path, toml: str) -> None:
    """The scenario that was run, with every key written out."""
    (directory / "scenario.toml").write_text(toml, encoding="utf-8")


def write_json(directory: Path, summary: dict[str, object]) -> None:
    """The figures, as `--json` prints them."""
    text = json.dumps(summary, indent=2, allow_nan=False)
    (directory / MARKER).write_text(text + "\n", encoding="utf-8")
