"""The link of a scenario file as rules see it, and its own traffic as what is simulated of it.

Rules know long flows of one kind: those TCP flows without end whose data cross the link. What a
file does not say (bounds, and what share of the capacity those flows have) is asked for beside it;
what rules do not know of it is told in notes. A replicate is the file's run, as long as it says,
behind another limit and under another seed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.settings import changed, settings_of
from goodqueue.sizing.export import exports, linux_queue
from goodqueue.sizing.link import DECREASE, Link
from goodqueue.sizing.trials.described import WHOLE, Extent, length
from goodqueue.sizing.trials.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import LongFlow, Scenario
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Asked

JITTER_FRAMES = 10
"""Without a round trip, starts differ by the time of so many frames."""


def link_name(scenario: Scenario, wanted: str | None) -> str:
    """The link to size: the one asked for, else the one called bottleneck, else the only one."""
    if wanted is not None:
        return wanted
    forward = [name for name in scenario.links if not name.endswith(".reverse")]
    if "bottleneck" in forward:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    names = ", ".join(forward[:8]) + (", …" if len(forward) > 8 else "")
    raise RequestError(f"which link? name one with --link: {names}")


def read_link(scenario: Scenario, name: str, asked: Asked) -> tuple[Link, tuple[str, ...]]:
    """The link as rules see it, and what they do not see, a sentence each.

    Raises:
        ScenarioError: if there is no such link, or it has no queue.
        RequestError: of bounds that nothing could keep on it.
    """
    buffer = scenario.buffer(name, 1)
    flows = scenario.long_flows(name)
    controls = Counter(flow["congestion_control"] for flow in flows)
    control, why_none = _control(controls, name)
    notes = [] if why_none is None else [why_none]
    if control is not None and len(controls) > 1:
        mixed = ", ".join(f"{count} {one}" for one, count in controls.most_common())
        notes.append(f"long flows differ in congestion control ({mixed}): rules take {control}")
    known = flows if control is not None else []
    rtts = _round_trips(known) or (() if buffer["base_rtt_s"] is None else (buffer["base_rtt_s"],))
    if known and asked.local_share == 1 and _others_cross(scenario, flows):
        notes.append(
            "other flows may cross the link: rules take the long ones to have all of it unless "
            "told their share (--mix); simulation has them all"
        )
    link = Link(
        rate_bps=buffer["rate_bps"],
        rtts_s=rtts,
        flows=len(known),
        packet_bytes=buffer["packet_bytes"],
        framing_bytes=buffer["frame_bytes"] - buffer["packet_bytes"],
        congestion_control=control or "reno",
        profile=None,  # the file's own
        max_window_packets=_window(known, buffer["packet_bytes"], buffer["rate_bps"]),
        paced=bool(known) and all(flow["paced"] for flow in known),
        byte_counting=any(flow["byte_counting"] for flow in known),
        **asdict(asked),
    )
    return link, tuple(notes)


def _control(controls: Counter[str], name: str) -> tuple[str | None, str | None]:
    """The congestion control that rules take, or why they can say nothing."""
    if not controls:
        return None, f"no TCP flow without end crosses {name}: no rule speaks of such traffic"
    control = controls.most_common(1)[0][0]
    if control in {*DECREASE, "bbr"}:
        return control, None
    return None, f"the long flows have {control}, of which no rule speaks"


def _round_trips(flows: Sequence[LongFlow]) -> tuple[float, ...]:
    """Base round-trip times, each once if each has as many flows as any other."""
    counts = Counter(flow["base_rtt_s"] for flow in flows)
    if len(set(counts.values())) <= 1:
        return tuple(sorted(counts))
    return tuple(sorted(counts.elements()))


def _window(flows: Sequence[LongFlow], packet_bytes: int, rate_bps: float) -> float | None:
    """What receivers' windows allow in packets, if that is less than the path of a flow holds."""
    binding = [
        flow["receive_window_bytes"] / packet_bytes
        for flow in flows
        if flow["receive_window_bytes"] < rate_bps * flow["base_rtt_s"] / 8
    ]
    return max(binding) if len(binding) == len(flows) and binding else None


def _others_cross(scenario: Scenario, flows: Sequence[LongFlow]) -> bool:
    """Whether the file has groups of flows other than the long ones of this link."""
    groups = {flow["group"]: flow["group_count"] for flow in flows}
    return len(scenario.flows()) > sum(groups.values())


class FileTrial:
    """A scenario's own traffic behind any limit of one link.

    Attributes:
        name: the link's name.
        link: the link as the rules see it.
        notes: what they do not see.
        jitter_s: by how much flows that say nothing of it start later, at most.
    """

    elastic = False

    def __init__(
        self, scenario: Scenario, name: str, asked: Asked, jitter_s: float | None = None
    ) -> None:
        """Reads the link, checked.

        Args:
            scenario: what is run; its own limit of the link plays no part.
            name: the link to size, such as `bottleneck`.
            asked: the bounds, and what else the file does not say.
            jitter_s: by how much flows that say nothing of it start later, at most; None for one
                base round-trip time of the link.
        """
        scenario.with_limit(name, 1)  # says of a link without a queue that it has none
        self.name = name
        self.link, self.notes = read_link(scenario, name, asked)
        self.jitter_s = _default_jitter_s(self.link) if jitter_s is None else jitter_s
        self._asked = asked
        self._scenarios = {self.link: scenario.with_default_jitter(self.jitter_s)}
        if not _is_fifo(self._commands(self.link, 1)):
            about = f"{name} has a queue that is no drop-tail FIFO"
            rules = ", which is what rules assume" if self.link.flows else ""
            self.notes = (*self.notes, f"{about}{rules}: what is sized is its limit")

    def scenario(
        self,
        link: Link,
        packets: int,
        queue: str | None = None,
        extent: Extent = WHOLE,
    ) -> Scenario:
        """The file's run behind so many packets; or behind another queue, with its defaults.

        A file says itself how long it runs. Where time does not allow that, it is cut.
        """
        scenario = self._cut(link, packets, extent.share)
        if queue is None:
            return scenario.with_limit(self.name, packets)
        return changed(scenario, {f"{self._key(scenario)}.queue": {"kind": queue}})

    def meter(self, link: Link) -> Meter:
        """What is read of a run."""
        scenario = self._scenarios[link]
        counts = Counter(flow["name"] for flow in scenario.long_flows(self.name))
        known = set(scenario.metric_names()) if counts else set()
        # A group that is called as a link is has its metrics elsewhere.
        stems = {
            name if f"{name}.goodput_bps.jain" in known else f"flow.{name}": count
            for name, count in counts.items()
        }
        return Meter(self.name, stems)

    def _cut(self, link: Link, packets: int, share: float) -> Scenario:
        """The file's run, or a share of its warm-up and of what follows.

        Of a link with long flows at least as much stays of both as of one described. A file of
        which that makes no scenario, say because a flow starts later, is run as it is.
        """
        whole = self._scenarios[link]
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
        """The same file with fewer long flows, longer round trips, or another control for them.

        Those that the file cannot express are left out.
        """
        scenario = self._scenarios[link]
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
                wanted["Reno that counts bytes (Linux)"] = {
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

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """The buffer as lines to paste; a queue that is no FIFO as commands for Linux only."""
        commands = self._commands(link, packets)
        if _is_fifo(commands):
            return exports(packets, link.packet_bytes, link.rate_bps)
        return (linux_queue(commands),) if commands else ()

    def _commands(self, link: Link, packets: int) -> list[str]:
        """The link's queue for Linux; nothing if Linux does not have it."""
        try:
            return self.scenario(link, packets).qdisc(self.name, fifo_in_bytes=True)
        except ScenarioError:
            return []

    def _key(self, scenario: Scenario) -> str:
        """Where the file has the link: a dumbbell by its name, other shapes in a list."""
        dumbbell = settings_of(scenario)["topology"]["shape"] == "dumbbell"
        return f"topology.{self.name}" if dumbbell else f"topology.link.{self.name}"


def _is_fifo(commands: Sequence[str]) -> bool:
    return any(" bfifo " in command for command in commands)


def _nanoseconds(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"


def _default_jitter_s(link: Link) -> float:
    """One base round-trip time: enough to shift every phase, too little to matter to a share."""
    return link.mean_rtt_s or JITTER_FRAMES * link.packet_time_s
