"""The parts of the validation: each runs, judges and describes one comparison."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evidence.validation import simulators
from evidence.validation.compare import Comparison
from evidence.validation.l4s import report as l4s
from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from evidence.validation.linux import report as linux
from evidence.validation.ns2 import chains, red, report, variants
from evidence.validation.ns2.cases import CASES
from evidence.validation.ns3 import controls, queues
from evidence.validation.ns3 import report as ns3_report
from evidence.validation.papers import ns2_studies
from goodqueue.core.parallel import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from evidence.validation.ns2.cases import Case
    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel
    from goodqueue.core.parallel import Workers

C = TypeVar("C")
R = TypeVar("R")

PROCESSES = 2

FULL_SEEDS = 10
"""Number of seeds of a full comparison; with fewer, slow parts run a reduced set."""


@dataclass(frozen=True)
class Part:
    """The outcome of one part.

    Attributes:
        text: its section of the report, under a heading of the second level.
        failures: descriptions of the criteria that do not hold.
        known: descriptions of the criteria that are known not to hold.
    """

    text: str
    failures: Sequence[str]
    known: Sequence[str] = ()


def _results(runs: Sequence[Future[Figures]]) -> list[Figures]:
    return [run.result() for run in runs]


def _submit(threads: Workers, case: Case, agent: str, seeds: range) -> list[list[Future[Figures]]]:
    """Starts the runs of one comparison: ns-2, the `ns2` profile, the `rfc` profile."""
    profiles = ["ns2", "rfc"] if agent == "Sack1" else ["ns2"]
    theirs = [threads.submit(partial(simulators.run_ns2, case, agent, seed)) for seed in seeds]
    ours = [
        [
            threads.submit(partial(simulators.run_goodqueue, case, agent, profile, seed))
            for seed in seeds
        ]
        for profile in profiles
    ]
    return [theirs, *ours]


def _compare(
    cases: Sequence[C],
    make: Callable[[C, list[Figures], list[Figures]], R],
    theirs: Callable[[C, int, Cancel], Figures],
    ours: Callable[[C, int, Cancel], Figures],
    seeds: Callable[[C], range],
) -> list[R]:
    """Runs both simulators in every case under its seeds, and returns the comparisons."""
    with workers(PROCESSES) as threads:
        started = [
            (
                case,
                [
                    [threads.submit(partial(run, case, seed)) for seed in seeds(case)]
                    for run in (theirs, ours)
                ],
            )
            for case in cases
        ]
        return [make(case, *map(_results, runs)) for case, runs in started]


def links(seeds: range) -> Part:
    """Compares S1 to S4 with Sack1, then with the other agents; prints its progress on stderr."""
    pairs = [(case, "Sack1") for case in CASES]
    pairs += [(case, agent) for case in CASES for agent in case.variants]
    comparisons = []
    with workers(PROCESSES) as threads:
        started = [_submit(threads, case, agent, seeds) for case, agent in pairs]
        for number, ((case, agent), groups) in enumerate(zip(pairs, started, strict=True), 1):
            comparisons.append(Comparison(case, agent, *map(_results, groups)))
            print(f"[{number}/{len(pairs)}] {case.name} {agent}", file=sys.stderr)
    return Part(report.report(comparisons, seeds), report.verdict(comparisons))


def loss_by_loss(_seeds: range) -> Part:
    """Compares every pattern of drops under each agent; these runs do not depend on chance."""
    with workers(PROCESSES) as threads:
        comparisons = [
            variants.Comparison(case, *(run.result() for run in runs))
            for case, runs in variants.submit(threads)
        ]
    return Part(variants.section(comparisons), variants.verdict(comparisons))


def red_parameters(seeds: range) -> Part:
    """Compares every set of RED's parameters."""
    runs = red.run_ns2, red.run_goodqueue
    comparisons = _compare(red.CASES, red.Comparison, *runs, lambda _case: seeds)
    return Part(red.section(comparisons, seeds), red.verdict(comparisons))


def several_links(seeds: range) -> Part:
    """Compares parking lots and links with a slow reverse direction."""
    runs = chains.run_ns2, chains.run_goodqueue
    comparisons = _compare(chains.CASES, chains.Comparison, *runs, lambda _case: seeds)
    return Part(chains.section(comparisons, seeds), chains.verdict(comparisons))


def studies(seeds: range) -> Part:
    """Compares every cell of the two ns-2 studies of buffer sizes."""
    with workers(PROCESSES) as threads:
        started = ns2_studies.submit(threads, seeds)
        checks = ns2_studies.compare([(cell, _results(runs)) for cell, runs in started])
    failures = ns2_studies.verdict(checks)
    known = [] if failures else ns2_studies.misses(ns2_studies.judged(checks))
    return Part(ns2_studies.section(checks, seeds), failures, known)


def ns3_controls(seeds: range) -> Part:
    """Compares every congestion control with ns-3."""
    runs = partial(controls.run_ns3, controls.build()), controls.run_ours
    cases, make = controls.CASES, controls.Comparison
    comparisons = _compare(cases, make, *runs, lambda case: seeds[: case.seeds])
    return Part(ns3_report.section(comparisons, seeds), controls.verdict(comparisons))


def ns3_disciplines(seeds: range) -> Part:
    """Compares every queue discipline with ns-3's queue disc."""
    runs = partial(queues.run_ns3, controls.build()), queues.run_ours
    few = seeds[: queues.MAX_SEEDS]
    comparisons = _compare(queues.CASES, queues.Comparison, *runs, lambda _case: few)
    return Part(
        queues.section(comparisons, seeds),
        queues.verdict(comparisons),
        queues.verdict(comparisons, known=True),
    )


def linux_recordings(seeds: range) -> Part:
    """Compares every recording of Linux."""
    with workers(PROCESSES) as threads:
        started = [
            (part.CRITERIA, linux_recording.submit(threads, part.recordings(), seeds))
            for part in (linux, linux_deep)
        ]
        usual, deep = (
            [
                linux_recording.Comparison(recording, _results(runs), criteria)
                for recording, runs in own
            ]
            for criteria, own in started
        )
    return Part(
        linux.section(usual, seeds, deep),
        linux_recording.verdict([*usual, *deep]),
        linux_recording.verdict([*usual, *deep], known=True),
    )


def l4s_flows(seeds: range) -> Part:
    """Compares TCP Prague and DualPI2 with published figures of Linux."""
    with workers(PROCESSES) as threads:

        def compare(
            rows: Sequence[l4s.Row], seeds: range, rig: l4s.Rig
        ) -> list[tuple[l4s.Row, list[Future[Figures]]]]:
            return [
                (row, [threads.submit(partial(l4s.run, row, seed, rig=rig)) for seed in seeds])
                for row in rows
            ]

        rows = l4s.rows()
        dual = [row for row in rows if l4s.is_dual(row)]
        started = {l4s.RIG_2020: compare(rows, seeds, l4s.RIG_2020)}
        started |= {rig: compare(dual, seeds[:1], rig) for rig in l4s.OTHER_RIGS}
        found = {
            rig: [l4s.Comparison(row, _results(runs)) for row, runs in pairs]
            for rig, pairs in started.items()
        }
    comparisons = found.pop(l4s.RIG_2020)
    missed = [goal.words for goal in l4s.goals(comparisons) if not goal.is_met]
    return Part(l4s.section(comparisons, found, seeds), [], missed)


def square_root(seeds: range) -> Part:
    """Measures the buffer for 99 % by number of flows; on a slower link if seeds are few."""
    from evidence.validation.root_n import measured as root_n
    from evidence.validation.root_n import report as root_n_report

    full = len(seeds) >= FULL_SEEDS
    regular = root_n.out_of_step() if full else root_n.out_of_step(100e6, (16, 64))
    count = root_n.SEEDS if full else len(seeds)
    measured = root_n.measured([*regular, *root_n.cases_that_fail()], count)
    well, ill = measured[: len(regular)], measured[len(regular) :]
    if full:
        root_n_report.picture(well, ill).save(root_n_report.FOLDER)
    return Part(
        root_n_report.section(well, ill, count),
        root_n_report.verdict(well, ill),
        root_n_report.known(well),
    )


def captured(seeds: range) -> Part:
    """Captures beside their models, and buffers from captures; fewer links if seeds are few."""
    from evidence.validation.passive import captures

    scenes = captures.recorded()
    links = captures.links() if len(seeds) >= FULL_SEEDS else captures.links(8)
    return Part(captures.section(scenes, links), captures.failures(scenes, links))


PARTS: Mapping[str, Callable[[range], Part]] = {
    "links": links,
    "variants": loss_by_loss,
    "red": red_parameters,
    "chains": several_links,
    "papers-ns2": studies,
    "ns3": ns3_controls,
    "ns3-queues": ns3_disciplines,
    "linux": linux_recordings,
    "l4s": l4s_flows,
    "root-n": square_root,
    "captures": captured,
}
"""All parts, in the order of the report."""
