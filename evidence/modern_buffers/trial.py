"""Runs links with modern congestion controls behind the buffers of the rules for them.

Links are a pure function of a seed and a number. Each link runs behind the buffer of every rule,
under two seeds. A rule keeps its promise if mean utilisation and loss keep the bounds of the link.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.modern_buffers.versions import is_present, newest, stamped
from evidence.rules_on_trial.draw import Draw
from evidence.rules_on_trial.run import METRICS, metrics_of, read
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.calibrated.record import Record
from goodqueue.sizing.controls import main_control, parse_controls
from goodqueue.sizing.link import Link
from goodqueue.sizing.rules import RULES
from goodqueue.sizing.trials.described import own_queue, settings
from goodqueue.sizing.trials.length import Extent, length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goodqueue.runs.settings import Settings
    from goodqueue.sizing.rules import Rule

DATA = Path(__file__).parent / "data"
FILE = "rules.jsonl"
SEED = 23
REPLICATES = 2
CAP_PACKETS = 1_000_000
"""Largest number of packets of a run; links that need more are left out."""

CONTROLS = (
    *("cubic paced", "reno paced", "bbr", "bbr3", "prague"),
    *("cubic:70%,bbr3:30%", "cubic:50%,prague:50%"),
)
"""Controls of the links in turn; `paced` has paced senders."""

RATES_BPS, RTTS_S = (3e6, 150e6), (0.005, 0.1)
LEAST_WINDOW = 8
"""Smallest number of packets in flight per flow without a queue."""
UTILIZATIONS = (0.95, 0.98, 0.99)
LOSSES = (0.002, 0.05)
EPOCHS_SHARE = 0.25
THRESHOLDS = ("l4s_step", "dctcp_threshold")
"""Rules that give a marking threshold: their link has a queue that marks above it."""

OWN_RULES = tuple(rule for rule in RULES if rule.trial == "modern")
ALSO = ("window_decrease", "sqrt_n", "bdp")
"""Older rules that are run for comparison."""


def link(index: int) -> Link | None:
    """Returns the link of that number; None if the draw is not a valid link."""
    draw = Draw(SEED, index, 0)
    words, _, paced = CONTROLS[index % len(CONTROLS)].partition(" ")
    shares = parse_controls("control", words)
    first = draw.logarithmic("rtt", RTTS_S)
    rtts = (first,) if draw("spread?") < 0.3 else (first, 1.5 * first, 2 * first, 3 * first)
    rate = draw.logarithmic("rate", RATES_BPS)
    most = rate * sum(rtts) / len(rtts) / (8 * 1500) / LEAST_WINDOW
    try:
        return Link(
            rate_bps=rate,
            rtts_s=rtts,
            flows=round(draw.logarithmic("flows", (1.0, max(most, 2.0)))),
            congestion_control=main_control(shares),
            controls=shares if len(shares) > 1 else (),
            paced=bool(paced),
            min_utilization=draw.one_of("utilization", UTILIZATIONS),
            max_loss_rate=draw.logarithmic("loss", LOSSES) if draw("loss?") < 1 / 3 else None,
        )
    except RequestError:
        return None


def rules_of(its_link: Link) -> list[tuple[Rule, int]]:
    """Returns the rules that are run on a link, with their buffers in packets."""
    found = []
    for rule in RULES:
        packets = rule.advise(its_link).whole_packets
        is_run = rule in OWN_RULES or rule.name in ALSO
        if is_run and packets is not None and (rule.name not in THRESHOLDS or its_link.needs_marks):
            found.append((rule, packets))
    return found


def queue_of(its_link: Link, rule: Rule, packets: int) -> Settings:
    """Returns the queue with the rule's number: its limit, or its marking threshold."""
    if rule.name in THRESHOLDS:
        limit = max(8 * packets, round(2 * its_link.bdp_packets), 20)
        return {"kind": "step", "threshold": f"{packets}p", "limit": f"{limit}p"}
    return own_queue(its_link, packets)


def one_link(index: int) -> dict[str, Any]:
    """Returns the results of one link; no runs if it is left out."""
    its_link = link(index)
    document: dict[str, Any] = {"index": index, "runs": []}
    if its_link is None:
        return document
    for rule, packets in rules_of(its_link):
        reach = length(its_link, packets, Extent(share=EPOCHS_SHARE))
        if reach.packets > CAP_PACKETS:
            continue
        described = settings(its_link, packets, queue_of(its_link, rule, packets), reach)
        figures = []
        for replicate in range(REPLICATES):
            try:
                scenario = scenario_of(described, "the link").with_seed(1000 * index + replicate)
            except ScenarioError:
                break
            found = metrics_of(scenario.run(series=False, packets=False))
            figures.append([found[METRICS[name]] for name in ("utilization", "loss_rate")])
        if figures:
            means = [sum(column) / len(figures) for column in zip(*figures, strict=True)]
            rounded = [float(f"{mean:.5g}") for mean in means]
            document["runs"].append([rule.name, packets, *rounded])
    return document


def scenarios(index: int, most: int) -> Iterator[str]:
    """Yields the scenarios of a link behind its rules' buffers as TOML, at most so many."""
    its_link = link(index)
    if its_link is not None:
        for rule, packets in rules_of(its_link)[:most]:
            reach = length(its_link, packets, Extent(share=EPOCHS_SHARE))
            described = settings(its_link, packets, queue_of(its_link, rule, packets), reach)
            yield scenario_of(described, "the link").canonical_toml()


def run(indices: Iterable[int], folder: Path = DATA) -> None:
    """Runs the links that the folder does not contain, and appends their results to its file."""
    done = {one["index"] for one in documents(folder) if is_present(one)}
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("a", encoding="utf-8") as file:
        for index in indices:
            if index not in done:
                file.write(json.dumps(stamped(one_link(index))) + "\n")
                file.flush()


def documents(folder: Path = DATA) -> list[dict[str, Any]]:
    """Returns the results of all links, of the newest results version, by their numbers."""
    found = newest(read(folder / FILE))
    return sorted(found, key=lambda one: int(one["index"]))


def judged() -> list[tuple[str, str, bool, bool]]:
    """Returns (rule, controls, assumptions held, promise kept) of every rule on every link."""
    rules = {rule.name: rule for rule in RULES}
    found = []
    for document in documents():
        its_link = link(document["index"])
        for name, _, utilization, loss in document["runs"]:
            assert its_link is not None
            if rules[name].advise(its_link).packets is None:
                continue
            kept = utilization >= its_link.min_utilization and (
                its_link.max_loss_rate is None or loss <= its_link.max_loss_rate
            )
            held = rules[name].advise(its_link).holds
            control = CONTROLS[document["index"] % len(CONTROLS)]
            found.append((name, control, held, kept))
    return found


def records(found: Iterable[tuple[str, str, bool, bool]]) -> dict[str, Record]:
    """Returns the record of each rule for modern flows."""
    by_rule = {rule.name: Record(0, 0, 0, 0) for rule in OWN_RULES}
    for name, _, held, kept in found:
        if name in by_rule:
            one = by_rule[name]
            by_rule[name] = replace(
                one,
                held=one.held + held,
                held_kept=one.held_kept + (held and kept),
                run=one.run + 1,
                run_kept=one.run_kept + kept,
            )
    return {name: one for name, one in by_rule.items() if one.run}
