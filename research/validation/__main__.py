"""Runs ns-2, ns-3 and goodqueue, compares them and Linux, and writes docs/validation.md.

Exit codes: 0 no criterion fails except those known to fail; 1 another criterion fails, or a run
failed; 2 a prerequisite is missing.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from research.validation.parts import Part

SEEDS = 10
QUICK_SEEDS = 3
OF_NS2 = {"links", "variants", "red", "chains", "papers-ns2"}
"""Names of the parts that run ns-2."""

REPORT = Path("docs/validation.md")


def missing(only: str | None) -> list[str]:
    """Returns the prerequisites that are missing, each with the command that installs it."""
    lacks = []
    if only is None or only in OF_NS2:
        if shutil.which("ns") is None:
            lacks.append("`ns`, ns-2's interpreter (Debian: apt-get install ns2)")
        if shutil.which("awk") is None:
            lacks.append("`awk` (Debian: apt-get install mawk)")
    if importlib.util.find_spec("goodqueue._core") is None:
        lacks.append("goodqueue itself, built (make setup)")
        return lacks
    if not Path("tools/ns2/dumbbell.tcl").is_file():
        lacks.append("tools/ns2/dumbbell.tcl (run this in the root of the source tree)")

    from research.validation.ns3 import controls

    return lacks + (controls.missing() if only is None or only.startswith("ns3") else [])


def write(parts: dict[str, Part], only: str | None) -> None:
    """Writes the report, or one section of it, and ns-3's pictures if that part was run."""
    from research.validation.ns3 import controls, pictures
    from research.validation.parts import replaced

    if "ns3" in parts:
        pictures.pictures(controls.build())
    text = "\n".join(part.text for part in parts.values())
    if only is not None:
        text = replaced(REPORT.read_text(encoding="utf-8"), text)
    REPORT.write_text(text, encoding="utf-8")
    print(f"wrote {REPORT}", file=sys.stderr)


def main() -> int:
    """Runs the validation."""
    parser = argparse.ArgumentParser(prog="python -m research.validation", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_SEEDS} seeds instead of {SEEDS}, and the report on standard output",
    )
    parser.add_argument(
        "--only",
        metavar="PART",
        help="run this part alone and replace its section of the report: links, variants, red, "
        "chains, papers-ns2, ns3, ns3-queues, linux, l4s, sizing, root-n or captures",
    )
    parser.add_argument(
        "--most-packets",
        type=float,
        metavar="PACKETS",
        help="in part sizing leave out links whose replicates need more, which take most of its "
        "time",
    )
    options = parser.parse_args()
    lacks = missing(options.only)
    if lacks:
        print("validation needs: " + "; ".join(lacks), file=sys.stderr)
        return 2

    from research.validation.ns3.controls import Ns3Error
    from research.validation.parts import PARTS, recommendations
    from research.validation.simulators import Ns2Error

    if options.only is not None and options.only not in PARTS:
        parser.error(f"no part {options.only!r}: choose from {', '.join(PARTS)}")
    seeds = range(1, (QUICK_SEEDS if options.quick else SEEDS) + 1)
    try:
        chosen = list(PARTS) if options.only is None else [options.only]
        capped = partial(recommendations, most_packets=options.most_packets)
        run: dict[str, Callable[[range], Part]] = {**PARTS, "sizing": capped}
        parts = {name: run[name](seeds) for name in chosen}
    except (Ns2Error, Ns3Error) as error:
        print(f"a simulator failed: {error}", file=sys.stderr)
        return 1
    if options.quick:
        print("\n".join(part.text for part in parts.values()))
    else:
        write(parts, options.only)
    for miss in (miss for part in parts.values() for miss in part.known):
        print(f"known not to agree: {miss}", file=sys.stderr)
    failures = [failure for part in parts.values() for failure in part.failures]
    for failure in failures:
        print(f"does not agree: {failure}", file=sys.stderr)
    if not failures:
        print("every other criterion holds", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
