"""Options of `goodqueue demo`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True)
class Demo:
    """Reproduce a published study of bufferbloat, then size its buffer."""

    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Directory of the pictures and figures.")
    ] = Path("demo-out")
