"""Runs ns-2, ns-3 and goodqueue, compares them and Linux, and writes docs/validation.md.

Exit codes: 0 all criteria hold but those known not to; 1 another does not, or a run failed;
2 something is missing.
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
    from concurrent.futures import Future

    from goodqueue.parallel import Workers
    from goodqueue.validation import linux, ns3, ns3_queues, red, variants
    from goodqueue.validation.cases import Case
    from goodqueue.validation.compare import Comparison
    from goodqueue.validation.simulators import Figures

SEEDS = 10
QUICK_SEEDS = 3
PROCESSES = 2
REPORT = Path("docs/validation.md")


def missing() -> list[str]:
    """What is needed and not there, each with the way to get it."""
    lacks = []
    if shutil.which("ns") is None:
        lacks.append("`ns`, ns-2's interpreter (Debian: apt-get install ns2)")
    if shutil.which("awk") is None:
        lacks.append("`awk` (Debian: apt-get install mawk)")
    if importlib.util.find_spec("goodqueue._core") is None:
        lacks.append("goodqueue itself, built (make setup)")
        return lacks
    if not Path("tools/ns2/dumbbell.tcl").is_file():
        lacks.append("tools/ns2/dumbbell.tcl (run this in the root of the source tree)")

    from goodqueue.validation import ns3

    return lacks + ns3.missing()


def submit(threads: Workers, case: Case, agent: str, seeds: range) -> list[list[Future[Figures]]]:
    """Starts the runs of one comparison: ns-2, the `ns2` profile, the `rfc` profile."""
    from goodqueue.validation.simulators import run_goodqueue, run_ns2

    profiles = ["ns2", "rfc"] if agent == "Sack1" else ["ns2"]
    theirs = [threads.submit(partial(run_ns2, case, agent, seed)) for seed in seeds]
    ours = [
        [threads.submit(partial(run_goodqueue, case, agent, profile, seed)) for seed in seeds]
        for profile in profiles
    ]
    return [theirs, *ours]


def compare_all(seeds: range) -> list[Comparison]:
    """Every link with Sack1, then the variants. Says on standard error how far it is."""
    from goodqueue.parallel import workers
    from goodqueue.validation.cases import CASES
    from goodqueue.validation.compare import Comparison

    pairs = [(case, "Sack1") for case in CASES]
    pairs += [(case, agent) for case in CASES for agent in case.variants]
    comparisons = []
    with workers(PROCESSES) as threads:
        started = [submit(threads, case, agent, seeds) for case, agent in pairs]
        for number, ((case, agent), groups) in enumerate(zip(pairs, started, strict=True), 1):
            runs = [[run.result() for run in group] for group in groups]
            comparisons.append(Comparison(case, agent, *runs))
            print(f"[{number}/{len(pairs)}] {case.name} {agent}", file=sys.stderr)
    return comparisons


def compare_linux(seeds: range) -> list[linux.Comparison]:
    """Every recording of Linux."""
    from goodqueue.parallel import workers
    from goodqueue.validation import linux

    with workers(PROCESSES) as threads:
        started = linux.submit(threads, seeds)
        return [
            linux.Comparison(recording, [run.result() for run in runs])
            for recording, runs in started
        ]


def compare_variants() -> list[variants.Comparison]:
    """Every pattern of drops, under each agent."""
    from goodqueue.parallel import workers
    from goodqueue.validation import variants

    with workers(PROCESSES) as threads:
        started = variants.submit(threads)
        return [
            variants.Comparison(case, *(run.result() for run in runs)) for case, runs in started
        ]


def compare_red(seeds: range) -> list[red.Comparison]:
    """Every set of RED's parameters."""
    from goodqueue.parallel import workers
    from goodqueue.validation import red

    with workers(PROCESSES) as threads:
        started = red.submit(threads, seeds)
        return [
            red.Comparison(case, [run.result() for run in theirs], [run.result() for run in ours])
            for case, theirs, ours in started
        ]


def compare_ns3(program: Path, seeds: range) -> list[ns3.Comparison]:
    """Every link with ns-3."""
    from goodqueue.parallel import workers
    from goodqueue.validation import ns3

    with workers(PROCESSES) as threads:
        started = ns3.submit(threads, program, seeds)
        return [
            ns3.Comparison(case, [run.result() for run in theirs], [run.result() for run in ours])
            for case, theirs, ours in started
        ]


def compare_ns3_queues(program: Path, seeds: range) -> list[ns3_queues.Comparison]:
    """Every queue disc of ns-3."""
    from goodqueue.parallel import workers
    from goodqueue.validation import ns3_queues

    with workers(PROCESSES) as threads:
        started = ns3_queues.submit(threads, program, seeds)
        return [
            ns3_queues.Comparison(
                case, [run.result() for run in theirs], [run.result() for run in ours]
            )
            for case, theirs, ours in started
        ]


def main() -> int:
    """Runs the validation."""
    parser = argparse.ArgumentParser(prog="python -m goodqueue.validation", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_SEEDS} seeds instead of {SEEDS}, and the report on standard output",
    )
    quick = parser.parse_args().quick
    lacks = missing()
    if lacks:
        print("validation needs: " + "; ".join(lacks), file=sys.stderr)
        return 2

    from goodqueue.validation import (
        linux,
        ns3,
        ns3_pictures,
        ns3_queues,
        ns3_report,
        red,
        variants,
    )
    from goodqueue.validation.report import report, verdict
    from goodqueue.validation.simulators import Ns2Error

    seeds = range(1, (QUICK_SEEDS if quick else SEEDS) + 1)
    try:
        patterns = compare_variants()
        queues = compare_red(seeds)
        kernel = compare_linux(seeds)
        program = ns3.build()
        controls = compare_ns3(program, seeds)
        discs = compare_ns3_queues(program, seeds)
        comparisons = compare_all(seeds)
    except (Ns2Error, ns3.Ns3Error) as error:
        print(f"a simulator failed: {error}", file=sys.stderr)
        return 1
    sections = [
        variants.section(patterns),
        red.section(queues, seeds),
        ns3_report.section(controls, seeds),
        ns3_queues.section(discs, seeds),
        linux.section(kernel, seeds),
    ]
    text = report(comparisons, sections, seeds)
    if quick:
        print(text)
    else:
        ns3_pictures.pictures(program)
        REPORT.write_text(text, encoding="utf-8")
        print(f"wrote {REPORT}", file=sys.stderr)
    for miss in linux.verdict(kernel, known=True) + ns3_queues.verdict(discs, known=True):
        print(f"known not to agree: {miss}", file=sys.stderr)
    failures = verdict(comparisons) + variants.verdict(patterns) + red.verdict(queues)
    failures += ns3.verdict(controls) + ns3_queues.verdict(discs) + linux.verdict(kernel)
    for failure in failures:
        print(f"does not agree: {failure}", file=sys.stderr)
    if not failures:
        print("every other criterion holds", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
