"""Shows which of the things that were derived from runs have aged, and makes them again.

python -m evidence list            every thing, its state, its date and its cost
python -m evidence check           runs all canaries; ends with 1 if STALE.md lacks a stale thing
python -m evidence fingerprints    writes those of this engine into the package
python -m evidence make NAME ...   makes things again, and what they need if it is not fresh
python -m evidence make --stale    makes again what is stale or has no stamp
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import TYPE_CHECKING

from evidence.core import fingerprints, stamps
from evidence.core.check import check
from evidence.core.derived import ROOT, MissingError, everything, scratch
from evidence.core.stamps import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.core.derived import Derived


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("list", "check"):
        commands.add_parser(name).add_argument("--json", action="store_true")
    commands.add_parser("fingerprints")
    one = commands.add_parser("make")
    one.add_argument("names", nargs="*", metavar="NAME", help="a thing, or a folder of evidence/")
    one.add_argument("--stale", action="store_true", help="what is stale or has no stamp")
    one.add_argument(
        "--alone", action="store_true", help="leave what the things need as it is, even if stale"
    )
    asked = parser.parse_args(words)
    os.chdir(ROOT)
    if asked.command == "list":
        return _list(as_json=asked.json)
    if asked.command == "check":
        return _check(as_json=asked.json)
    if asked.command == "fingerprints":
        fingerprints.write()
        return 0
    unknown = [name for name in asked.names if not _named([name])]
    if unknown:
        parser.error(f"nothing is called {unknown[0]!r}: choose from {', '.join(everything())}")
    if not asked.names and not asked.stale:
        parser.error("name a thing, or write --stale")
    return _make(_named(asked.names), stale=asked.stale, alone=asked.alone)


def _named(names: Sequence[str]) -> list[Derived]:
    return [
        thing for thing in everything().values() if thing.name in names or thing.folder in names
    ]


def _list(*, as_json: bool) -> int:
    rows = []
    for thing in everything().values():
        stamp = stamps.read(thing)
        row = {"name": thing.name, "state": str(stamps.state_of(thing))}
        row["because"] = stamps.reason_of(thing)
        row["date"] = stamp.date if stamp else ""
        row["results version"] = str(stamp.results_version) if stamp else ""
        row["CPU seconds"] = f"{stamp.cpu_s:.0f}" if stamp else ""
        rows.append(row)
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    widths = [max(len(row[key]) for row in [*rows, {k: k for k in rows[0]}]) for key in rows[0]]
    for line in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        cells = (text.ljust(width) for text, width in zip(line.values(), widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _check(*, as_json: bool) -> int:
    begun = time.process_time()
    verdict = check()
    spent_s = time.process_time() - begun
    if as_json:
        document = {"states": verdict.states, "reasons": verdict.reasons, "faults": verdict.faults}
        print(json.dumps(document, indent=2))
        return 1 if verdict.faults else 0
    for fault in verdict.faults:
        print(fault, file=sys.stderr)
    counts = ", ".join(f"{len(verdict.named(state))} {state}" for state in State)
    print(f"evidence: {counts}; {verdict.canaries} canaries in {spent_s:.1f} s of processor time")
    stale = verdict.named(State.STALE)
    if stale:
        print(f"to make again: {', '.join(stale)} ({_cost(stale)})")
    return 1 if verdict.faults else 0


def _cost(names: Sequence[str]) -> str:
    """Returns the processor time that things took when they were made last."""
    found = [stamps.read(everything()[name]) for name in names]
    known_s = sum(stamp.cpu_s for stamp in found if stamp)
    without = sum(stamp is None for stamp in found)
    text = (
        f"about {known_s / 60:.0f} min of processor time"
        if known_s >= 90
        else (f"about {known_s:.0f} s of processor time")
    )
    return text + (f", and {without} whose time is not known" if without else "")


def _make(wanted: Sequence[Derived], *, stale: bool, alone: bool) -> int:
    """Makes things in order, with what they need and is not fresh unless `alone`."""
    names = {thing.name for thing in wanted}
    if stale:
        aged = (State.STALE, State.UNKNOWN)
        names |= {
            thing.name
            for thing in everything().values()
            if thing.measured is None and stamps.state_of(thing) in aged
        }
    waiting = [] if alone else list(names)
    while waiting:
        for need in everything()[waiting.pop()].needs:
            if need not in names and stamps.state_of(everything()[need]) is not State.FRESH:
                names.add(need)
                waiting.append(need)
    order = [name for name in everything() if name in names]
    if not order:
        print("nothing is stale")
        return 0
    print(f"{len(order)} to make: {_cost(order)}", file=sys.stderr)
    os.environ["XDG_CACHE_HOME"] = str(scratch())
    for number, name in enumerate(order, 1):
        print(f"[{number}/{len(order)}] {name}", file=sys.stderr, flush=True)
        try:
            stamp = stamps.make(everything()[name])
        except MissingError as error:
            print(error, file=sys.stderr)
            return 2
        print(f"    {stamp.cpu_s:.1f} s; left: {_cost(order[number:])}", file=sys.stderr)
    stamps.forget()
    fingerprints.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
