"""Link of a scenario file as the rules see it, and trials with the scenario's own traffic.

Rules apply to long flows of one kind: TCP flows without end whose data cross the link. The user
states the facts that a file does not contain: the bounds, and the share of the capacity of those
flows. Notes describe the traffic that rules do not consider. A replicate is the file's run with its
own length, with another limit and another seed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.text import shortened
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.runs.plugins import LIMIT, class_of, takes_limit
from goodqueue.runs.settings import changed, settings_of
from goodqueue.sizing.controls import CONTROLS
from goodqueue.sizing.export import exports, linux_queue, shared_memory
from goodqueue.sizing.link import Link
from goodqueue.sizing.shared.pool import pool_of, with_memory
from goodqueue.sizing.trials.length import WHOLE, Extent, length
from goodqueue.sizing.trials.meter import Meter
from goodqueue.sizing.trials.queries import times_of
from goodqueue.sizing.trials.shaped import from_the_first_flow, shaped_rate_bps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import LongFlow, Scenario
    from goodqueue.sizing.export import Export, Unit
    from goodqueue.sizing.link import Asked

MAX_NAMES = 40
"""Largest number of links that a message names."""

JITTER_FRAMES = 10
"""Largest random delay of starts in frame times, for a link without round-trip times."""


def link_name(scenario: Scenario, wanted: str | None) -> str:
    """Returns the link to size: the requested one, the one called bottleneck, or the only one.

    Raises:
        RequestError: if there is no such link, or if several could be meant.
    """
    forward = [name for name in scenario.links if not name.endswith(".reverse")]
    names = ", ".join(forward[:MAX_NAMES])
    if len(forward) > MAX_NAMES:
        names += f", … ({len(forward)} in all)"
    if wanted in scenario.links:
        return wanted
    if wanted is not None:
        near = get_close_matches(wanted, scenario.links, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise RequestError(
            f"--link {shortened(wanted)}: there is no such link\n"
            f"  help: {hint}the links are {names}, and the other direction of each is called as in "
            f"{forward[0]}.reverse"
        )
    if "bottleneck" in forward:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    message = f"several links could be sized; choose one with --link: {names}"
    raise RequestError(f"{message}{_by_times(scenario)}")


def _by_times(scenario: Scenario) -> str:
    """Returns the command for a memory whose flows end; empty for another scenario.

    Such flows keep no link busy, so the time that they take decides and not the utilisation.
    """
    pools = settings_of(scenario)["topology"].get("pool", [])
    times = times_of(scenario)
    if not pools or not times:
        return ""
    capacity = _core.parse_size("capacity", pools[0]["capacity"])
    low, high = f"{capacity // SPAN_OF_MEMORY}B", f"{capacity * SPAN_OF_MEMORY}B"
    path = f"topology.pool.{pools[0]['name']}.capacity"
    group, metric = next(iter(times.items()))
    figure = "completion" if metric.endswith("completion_time_s") else "p99"
    return (
        f"\n  help: the flows of {group} end, so their times decide, and not how busy a link is: "
        f"goodqueue tune FILE --vary {path}={low}..{high} --keep '{group}.{figure}<=TIME' "
        f"--least {path} finds the memory (docs/tune.md)"
    )


SPAN_OF_MEMORY = 8
"""Ratio of the ends of the memory in a proposed range to the memory of the file."""


def read_link(scenario: Scenario, name: str, asked: Asked) -> tuple[Link, tuple[str, ...]]:
    """Returns the link as the rules see it, and sentences about what they do not consider.

    Raises:
        ScenarioError: if there is no such link, or it has no queue.
        RequestError: if nothing could keep the bounds on it.
    """
    buffer = scenario.buffer(name, 1)
    flows = scenario.long_flows(name)
    controls = Counter(flow["congestion_control"] for flow in flows)
    control, why_none = _control(controls, name)
    notes = [] if why_none is None else [why_none]
    if control is not None and len(controls) > 1:
        mixed = ", ".join(f"{count} {one}" for one, count in controls.most_common())
        notes.append(
            f"long flows have different congestion controls ({mixed}); the rules assume {control}"
        )
    known = flows if control is not None else []
    rtts = _round_trips(known) or (() if buffer["base_rtt_s"] is None else (buffer["base_rtt_s"],))
    if known and asked.local_share == 1 and _others_cross(scenario, flows):
        notes.append(
            "other flows may cross the link; the rules assume that the long flows have "
            "its whole capacity unless --mix gives their share; the simulation contains "
            "all flows"
        )
    counts_packets = not buffer["counted_in_bytes"] and pool_of(scenario, name) is None
    if counts_packets and _others_cross(scenario, flows):
        notes.append(
            f"the limit of {name} counts packets of any size, so ACKs and small packets take the "
            "place of full ones; a limit in bytes has another answer, which is searched in bytes "
            "if the file states the limit in bytes, such as 100kB"
        )
    shaped_bps = shaped_rate_bps(scenario, name)
    if shaped_bps is not None:
        notes.append(
            f"the queue of {name} shapes to {shaped_bps / 1e6:g} Mb/s, which is the rate of the "
            "bottleneck: utilisation and bandwidth-delay product are of this rate"
        )
    link = Link(
        rate_bps=shaped_bps or buffer["rate_bps"],
        rtts_s=rtts,
        flows=len(known),
        packet_bytes=buffer["packet_bytes"],
        framing_bytes=buffer["frame_bytes"] - buffer["packet_bytes"],
        congestion_control=control or "reno",
        profile=None,  # the file's own
        max_window_packets=_window(known, buffer["packet_bytes"], shaped_bps or buffer["rate_bps"]),
        paced=bool(known) and all(flow["paced"] for flow in known),
        byte_counting=any(flow["byte_counting"] for flow in known),
        **asdict(asked),
    )
    return link, tuple(notes)


def _control(controls: Counter[str], name: str) -> tuple[str | None, str | None]:
    """Returns the congestion control for the rules, or the reason why no rule applies."""
    if not controls:
        return None, (f"no TCP flow without end crosses {name}, so no rule applies to this traffic")
    control = controls.most_common(1)[0][0]
    if control in CONTROLS:
        return control, None
    return None, f"the long flows have {control}, to which no rule applies"


def _round_trips(flows: Sequence[LongFlow]) -> tuple[float, ...]:
    """Returns base round-trip times, without repetitions if all have the same number of flows."""
    counts = Counter(flow["base_rtt_s"] for flow in flows)
    if len(set(counts.values())) <= 1:
        return tuple(sorted(counts))
    return tuple(sorted(counts.elements()))


def _window(flows: Sequence[LongFlow], packet_bytes: int, rate_bps: float) -> float | None:
    """Returns the receivers' window in packets if it is smaller than a flow's path can hold."""
    binding = [
        flow["receive_window_bytes"] / packet_bytes
        for flow in flows
        if flow["receive_window_bytes"] < rate_bps * flow["base_rtt_s"] / 8
    ]
    return max(binding) if len(binding) == len(flows) and binding else None


def _others_cross(scenario: Scenario, flows: Sequence[LongFlow]) -> bool:
    """Returns True if the file has groups of flows other than the long ones of this link."""
    groups = {flow["group"]: flow["group_count"] for flow in flows}
    return scenario.flow_count > sum(groups.values())


class FileTrial:
    """A scenario's own traffic behind any limit of one link.

    Attributes:
        name: the link's name.
        link: the link as the rules see it.
        notes: sentences about what the rules do not consider.
        jitter_s: largest random delay of the start of flows that do not set it.
        pool: shared memory that decides what the link may hold, and is sized then; or None.
    """

    elastic = False

    def __init__(
        self, scenario: Scenario, name: str, asked: Asked, jitter_s: float | None = None
    ) -> None:
        """Reads the link and checks it.

        Args:
            scenario: the scenario; its own limit of the link is not used.
            name: the link to size, such as `bottleneck`.
            asked: the bounds, and other facts that the file does not contain.
            jitter_s: largest random delay of the start of flows that do not set it; None for one
                base round-trip time of the link.

        Raises:
            RequestError: if the link's queue in Python takes no limit, or if a run does not fit
                into memory.
        """
        scenario.with_limit(name, 1)  # reports that a link has no queue
        self.name = name
        self.pool = pool_of(scenario, name)
        # The names of its metrics come from its network, which is built for them.
        check_runs([scenario], limit_of(None))
        self.link, self.notes = read_link(scenario, name, asked)
        scenario, late = from_the_first_flow(scenario, name)
        if late is not None:
            self.notes = (*self.notes, late)
        self.jitter_s = _default_jitter_s(self.link) if jitter_s is None else jitter_s
        self._asked = asked
        self._scenarios = {self.link: scenario.with_default_jitter(self.jitter_s)}
        own = _own_queue(scenario, name)
        if own is not None:
            note = f"the queue of {name} is {own}, and the answer is its limit"
            self.notes = (*self.notes, note)
        elif self.pool is not None:
            self.notes = (*self.notes, self.pool.decides(name))
        elif not _is_fifo(self._commands(self.link, 1)):
            about = f"the queue of {name} is not a drop-tail FIFO"
            rules = ", which the rules assume" if self.link.flows else ""
            self.notes = (*self.notes, f"{about}{rules}; the answer is its limit")

    def scenario(
        self,
        link: Link,
        packets: int,
        queue: str | None = None,
        extent: Extent = WHOLE,
    ) -> Scenario:
        """Returns the file's run with this limit, or with another queue with its defaults.

        The file states the length of the run. It is shortened if time does not suffice.
        """
        scenario = self._cut(link, packets, extent.share)
        if queue is None and self.pool is not None:
            return with_memory(scenario, self.name, self.pool, packets)
        if queue is None:
            return scenario.with_limit(self.name, packets)
        return changed(scenario, {f"{self._key(scenario)}.queue": {"kind": queue}})

    def meter(self, link: Link) -> Meter:
        """Returns the meter of a run."""
        scenario = self._of(link)
        counts = Counter(flow["name"] for flow in scenario.long_flows(self.name))
        known = set(scenario.metric_names()) if counts else set()
        # A group with the name of a link has its metrics under other names.
        stems = {
            name if f"{name}.goodput_bps.jain" in known else f"flow.{name}": count
            for name, count in counts.items()
        }
        shaped_bps = shaped_rate_bps(scenario, self.name)
        whole = 1.0
        if shaped_bps is not None:
            whole = shaped_bps / scenario.buffer(self.name, 1)["rate_bps"]
        return Meter(self.name, stems, whole, link.for_bursts)

    def _of(self, link: Link) -> Scenario:
        """Returns the scenario of a link; its bounds do not change it."""
        return self._scenarios.get(link) or self._scenarios[self.link]

    def _cut(self, link: Link, packets: int, share: float) -> Scenario:
        """Returns the file's run, or a share of its warm-up and of its measured part.

        A link with long flows keeps at least as much of both parts as a described link. If the
        shortened file is not a valid scenario, for example because a flow starts later, it is run
        unchanged.
        """
        whole = self._of(link)
        if share == 1:
            return whole
        measured_s = whole.duration_s - whole.warmup_s
        start_up_s, least_s = share * whole.warmup_s, share * measured_s
        if link.flows:
            reach = length(link, max(packets, 1), Extent(share=share), cold=True)
            start_up_s = min(max(start_up_s, reach.start_up_s), whole.warmup_s)
            least_s = min(max(least_s, reach.duration_s - reach.start_up_s), measured_s)
        start_up_us, end_us = (round(1e6 * end) for end in (start_up_s, start_up_s + least_s))
        try:
            return changed(whole, {"warmup": f"{start_up_us}us", "duration": f"{end_us}us"})
        except ScenarioError:
            return whole

    def others(self, link: Link) -> dict[str, Link]:
        """Returns links with fewer long flows, longer round trips, or another control for them.

        Changes that the file cannot express are left out.
        """
        scenario = self._of(link)
        flows = scenario.long_flows(self.name)
        groups = {flow["group"]: flow["group_count"] for flow in flows}
        wanted: dict[str, dict[str, object]] = {
            "flows / 4": {
                f"flow.{group}.count": max(count // 4, 1) for group, count in groups.items()
            }
        }
        if Counter(flow["group"] for flow in flows) == groups:  # every member crosses the link
            wanted["RTT x 2"] = {
                f"flow.{group}.rtt": [
                    _nanoseconds(2 * flow["base_rtt_s"]) for flow in flows if flow["group"] == group
                ]
                for group in groups
            }
        if link.flows and link.congestion_control == "reno":
            wanted["CUBIC instead of Reno"] = {
                f"flow.{group}.tcp.congestion_control": "cubic" for group in groups
            }
            if not link.byte_counting:
                wanted["Reno that grows by bytes acknowledged (Linux)"] = {
                    f"flow.{group}.tcp.byte_counting": True for group in groups
                }
        found = {}
        for what, changes in wanted.items():
            try:
                another = changed(scenario, changes)
                other, _ = read_link(another, self.name, self._asked)
            except (ScenarioError, RequestError):
                continue
            if other != link:
                found[what] = other
                self._scenarios[other] = another
        return found

    def hosts(self, link: Link) -> dict[str, Link]:  # noqa: ARG002 - see `Trial`
        """Returns no other hosts, because the file describes its own."""
        return {}

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """Returns the buffer as lines to paste, in packets or in bytes as the file's queue counts.

        A queue that is not a FIFO has lines for Linux only.
        """
        if self.pool is not None:
            return (shared_memory(packets, self.pool),)
        commands = self._commands(link, packets)
        if _is_fifo(commands):
            unit: Unit = "bytes" if self._counts_bytes(link) else "packets"
            return exports(packets, link.packet_bytes, link.rate_bps, unit)
        return (linux_queue(commands),) if commands else ()

    def _counts_bytes(self, link: Link) -> bool:
        return self._of(link).buffer(self.name)["counted_in_bytes"]

    def _commands(self, link: Link, packets: int) -> list[str]:
        """Returns the commands for the link's queue in Linux; none if Linux does not have it."""
        try:
            return self.scenario(link, packets).qdisc(self.name, fifo_in_bytes=True)
        except ScenarioError:
            return []

    def _key(self, scenario: Scenario) -> str:
        """Returns the link's key in the file: a name in a dumbbell, else a list entry."""
        dumbbell = settings_of(scenario)["topology"]["shape"] == "dumbbell"
        return f"topology.{self.name}" if dumbbell else f"topology.link.{self.name}"


def _own_queue(scenario: Scenario, link: str) -> str | None:
    """Returns the class in Python of the link's queue; None if it is built in.

    Raises:
        RequestError: if the class takes no limit.
    """
    name = dict(scenario.python_queues()).get(link)
    if name is not None and not takes_limit(class_of(name)):
        raise RequestError(f"{name} has no limit to size: give its constructor a parameter {LIMIT}")
    return name


def _is_fifo(commands: Sequence[str]) -> bool:
    return any(" bfifo " in command for command in commands)


def _nanoseconds(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"


def _default_jitter_s(link: Link) -> float:
    """Returns one base round-trip time: enough to vary every phase, too little to change shares."""
    return link.mean_rtt_s or JITTER_FRAMES * link.packet_time_s
