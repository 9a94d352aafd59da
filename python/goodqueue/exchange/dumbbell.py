"""A scenario as the dumbbell of long or sized TCP transfers that other tools can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from goodqueue import _core
from goodqueue.errors import ScenarioError
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Table = dict[str, Any]

FAST = 1000
"""Rate of a link that is unlimited in the scenario, as a multiple of the bottleneck's rate."""

HEADER_BYTES = 40
"""Headers of IP and TCP without options, in bytes."""

IMPAIRMENTS = (
    "service",
    "pool",
    "loss",
    "jitter",
    "reorder",
    "duplicate",
    "interrupts",
    "pause",
    "autorate",
)


@dataclass(frozen=True, slots=True)
class Group:
    """Equal flows, whose round-trip times may differ.

    Attributes:
        name: name of the group in the scenario.
        count: number of flows.
        start_s: earliest start of the first flow, in seconds.
        interval_s: time between the starts of successive flows, in seconds.
        jitter_s: largest random addition to each start, in seconds.
        near_s: one-way delay of the near access link, in seconds; flow i has entry i modulo the
            number of entries.
        far_s: the same for the far access link.
        bytes: payload of a flow; None for a flow without end.
        tcp: the resolved table of TCP switches.
    """

    name: str
    count: int
    start_s: float
    interval_s: float
    jitter_s: float
    near_s: tuple[float, ...]
    far_s: tuple[float, ...]
    bytes: int | None
    tcp: Table

    @property
    def mss(self) -> int:
        """Payload of a full segment in bytes."""
        return _core.parse_size("mss", self.tcp["mss"])

    def segments(self, key: str) -> int:
        """Returns a number of segments that the scenario gives in segments or in bytes."""
        text = str(self.tcp[key])
        if text.endswith("p"):
            return int(text[:-1])
        return max(1, _core.parse_size(key, text) // self.mss)

    def segments_or_none(self, key: str) -> int | None:
        """Returns a number of segments; None if the scenario sets no limit."""
        return None if self.tcp[key] == "unlimited" else self.segments(key)

    @property
    def control(self) -> str:
        """Name of the congestion control."""
        return kind_of(self.tcp["congestion_control"])


@dataclass(frozen=True, slots=True)
class Dumbbell:
    """A dumbbell as every target needs it.

    Attributes:
        file: name of the scenario's file, for messages.
        target: name of the tool for which the scenario is read.
        title: title of the scenario.
        seed: the scenario's seed.
        duration_s: length of a run in seconds.
        warmup_s: time before measurements begin, in seconds.
        rate_bps: rate of the bottleneck in bits per second.
        reverse_bps: rate of its reverse direction.
        access_bps: rate of the near and of the far access links.
        delay_s: propagation delay of the bottleneck, one way, in seconds.
        framing_bytes: bytes that each frame has beside its IP packet, on every link.
        queue: the resolved table of the bottleneck's queue.
        limit_packets: room of that queue in packets; None for a limit in bytes, and for none.
        limit_bytes: room of that queue in bytes; None for a limit in packets, and for none.
        reverse_packets: room of the queue in the reverse direction; None if it is unlimited.
        groups: the flows.
        pings: names of the flows that only measure, which no script has.
        qdisc: the queue as commands of Linux's `tc`; None if it has no equivalent there.
    """

    file: str
    target: str
    title: str
    seed: int
    duration_s: float
    warmup_s: float
    rate_bps: int
    reverse_bps: int
    access_bps: tuple[int, int]
    delay_s: float
    framing_bytes: int
    queue: Table
    limit_packets: int | None
    limit_bytes: int | None
    reverse_packets: int | None
    groups: tuple[Group, ...]
    pings: tuple[str, ...]
    qdisc: tuple[str, ...] | None

    def omitted(self) -> list[str]:
        """Returns a note about the flows that the script does not have."""
        return [f"flow {name!r} is a ping and is left out" for name in self.pings]

    def scaled(self, bps: int, framing_bytes: int) -> int:
        """Returns the rate at which a full packet takes the same time with other framing."""
        packet = self.groups[0].mss + HEADER_BYTES
        return round(bps * (packet + framing_bytes) / (packet + self.framing_bytes))

    def refuse(self, key: str, lack: str, remedy: str) -> NoReturn:
        """Raises the error of a key that the target cannot express."""
        refuse(self.file, key, f"{self.target} {lack}", remedy)


def refuse(file: str, key: str, message: str, remedy: str) -> NoReturn:
    """Raises the error of a key: the file, the key, what is lacking, and a remedy."""
    raise ScenarioError(
        f"error: {file}: {key}: {message}\n  help: {remedy}",
        file=file,
        key=key,
        message=message,
        help=remedy,
    )


def kind_of(value: str | Mapping[str, Any]) -> str:
    """Returns the kind of a key that is a name or a table with `kind`."""
    return value if isinstance(value, str) else str(value["kind"])


def parameters_of(value: str | Mapping[str, Any]) -> Table:
    """Returns the parameters of a key that is a name or a table with `kind`."""
    return {} if isinstance(value, str) else {k: v for k, v in value.items() if k != "kind"}


def seconds(text: str) -> float:
    """Returns a time of a resolved scenario in seconds."""
    return _core.parse_span("a time", text)


def dumbbell(scenario: _core.Scenario, file: str, target: str) -> Dumbbell:
    """Reads a scenario.

    Raises:
        ScenarioError: for the first key that no target can express.
    """
    resolved: Table = settings_of(scenario)
    topology = resolved["topology"]
    if topology["shape"] != "dumbbell":
        lack = f"gets dumbbells only, and this is a {topology['shape']}"
        refuse(file, "topology.shape", f"{target} {lack}", 'write shape = "dumbbell"')
    direct = _direct(topology["bottleneck"]["framing"])
    links = {name: topology.get(name, direct) for name in ("access", "far_access", "bottleneck")}
    framing = _checked_links(file, target, links)
    link = links["bottleneck"]
    rate = _core.parse_rate("rate", link["rate"])
    access = tuple(_rate(links[name]["rate"], rate) for name in ("access", "far_access"))
    limits = _limits(scenario, link["queue"])
    return Dumbbell(
        file=file,
        target=target,
        title=resolved["title"],
        seed=resolved["seed"],
        duration_s=seconds(resolved["duration"]),
        warmup_s=seconds(resolved["warmup"]),
        rate_bps=rate,
        reverse_bps=_rate(link["reverse"]["rate"], rate),
        access_bps=(access[0], access[1]),
        delay_s=seconds(link["delay"]),
        framing_bytes=framing,
        queue=link["queue"],
        limit_packets=limits[0],
        limit_bytes=limits[1],
        reverse_packets=_reverse_limit(file, target, link["reverse"]["queue"]),
        groups=tuple(_groups(file, target, resolved["flow"], links)),
        pings=tuple(
            flow["name"] for flow in resolved["flow"] if flow["workload"]["kind"] == "ping"
        ),
        qdisc=_qdisc(scenario),
    )


def _direct(framing: str) -> Table:
    """Returns the access link of hosts without one: it neither delays packets nor holds them."""
    way: Table = {"rate": "unlimited", "delay": "0s", "framing": framing, "drop_list": []}
    way["queue"] = {"kind": "drop_tail", "limit": "unlimited"}
    return {**way, "reverse": way}


def _checked_links(file: str, target: str, links: Mapping[str, Table]) -> int:
    """Refuses impaired links, and returns the framing that all of them have."""
    framings = set()
    for name, link in links.items():
        for place, direction in ((name, link), (f"{name}.reverse", link["reverse"])):
            key = f"topology.{place}"
            for part in IMPAIRMENTS:
                if part in direction:
                    lack = "gets links of a constant rate that lose nothing but by their queue"
                    refuse(file, f"{key}.{part}", f"{target} {lack}", f"leave out {part}")
            if direction["drop_list"]:
                lack = "gets links that lose nothing but by their queue"
                refuse(file, f"{key}.drop_list", f"{target} {lack}", "leave out drop_list")
            if direction["delay"] != link["delay"]:
                lack = "gets the same delay in both directions"
                refuse(file, f"{key}.delay", f"{target} {lack}", "leave it out")
            framings.add(str(direction["framing"]))
        if name != "bottleneck" and link["queue"].get("limit") != "unlimited":
            lack = "gets hosts whose own queues never overflow"
            refuse(file, f"topology.{name}.queue", f"{target} {lack}", "leave it out")
    if len(framings) > 1 or not next(iter(framings)).endswith("B"):
        lack = "gets the same bytes of framing on every link"
        refuse(file, "topology.framing", f"{target} {lack}", 'write framing = "14B" there only')
    return _core.parse_size("framing", framings.pop())


def _rate(text: str, bottleneck_bps: int) -> int:
    if text == "unlimited":
        return FAST * bottleneck_bps
    return _core.parse_rate("rate", text)


def _limits(scenario: _core.Scenario, queue: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Returns the room of the bottleneck's queue in packets, or in bytes."""
    if queue.get("limit") == "unlimited":
        return None, None
    buffer = scenario.buffer("bottleneck")
    if buffer["counted_in_bytes"]:
        return None, buffer["limit_bytes"]
    return buffer["limit_packets"], None


def _reverse_limit(file: str, target: str, queue: Mapping[str, Any]) -> int | None:
    limit = str(queue.get("limit", "unlimited"))
    if queue["kind"] != "drop_tail" or not (limit == "unlimited" or limit.endswith("p")):
        lack = "gets a drop-tail queue in packets in the reverse direction"
        remedy = 'write reverse = { queue = { limit = "1000p" } }'
        refuse(file, "topology.bottleneck.reverse.queue", f"{target} {lack}", remedy)
    return None if limit == "unlimited" else int(limit[:-1])


def _qdisc(scenario: _core.Scenario) -> tuple[str, ...] | None:
    try:
        return tuple(scenario.qdisc("bottleneck"))
    except ScenarioError:
        return None


def _groups(
    file: str, target: str, flows: list[Table], links: Mapping[str, Table]
) -> Iterator[Group]:
    bottleneck = seconds(links["bottleneck"]["delay"])
    near, far = (seconds(links[name]["delay"]) for name in ("access", "far_access"))
    for flow in flows:
        key = f"flow.{flow['name']}"
        workload = flow["workload"]
        if workload["kind"] == "ping":  # measures, and is no load
            continue
        if workload["kind"] != "bulk":
            lack = f"gets TCP transfers only, and this workload is {workload['kind']!r}"
            refuse(file, f"{key}.workload", f"{target} {lack}", 'write { kind = "bulk" }')
        for other in sorted(workload.keys() - {"kind", "size"}):
            lack = "gets transfers that end after their last byte, or never"
            refuse(file, f"{key}.workload.{other}", f"{target} {lack}", "leave it out")
        if "stop" in flow:
            lack = "gets transfers that end after their last byte, or never"
            refuse(file, f"{key}.stop", f"{target} {lack}", "leave it out")
        if "interface" in flow:
            lack = "has hosts of its own"
            refuse(file, f"{key}.interface", f"{target} {lack}", "leave it out")
        if (flow["from"], flow["to"]) != (0, 1):
            lack = "gets flows whose data cross the bottleneck forwards"
            refuse(file, f"{key}.from", f"{target} {lack}", "leave out from and to")
        rtts = [seconds(one) for one in _rtts(flow)]
        accesses = [(rtt / 2 - bottleneck) / 2 for rtt in rtts]
        yield Group(
            name=flow["name"],
            count=flow["count"],
            start_s=seconds(flow["start"]),
            interval_s=seconds(flow["start_interval"]),
            jitter_s=seconds(flow.get("start_jitter", "0s")),
            near_s=tuple(accesses) or (near,),
            far_s=tuple(accesses) or (far,),
            bytes=_bytes(workload["size"]),
            tcp=flow["tcp"],
        )


def _bytes(size: str) -> int | None:
    return None if size == "unlimited" else _core.parse_size("size", size)


def _rtts(flow: Mapping[str, Any]) -> list[str]:
    """Returns the base round-trip times of a group, in the order of its flows."""
    rtt = flow.get("rtt", [])
    if isinstance(rtt, str):
        return [rtt]
    if isinstance(rtt, list):
        return rtt
    first, last = seconds(rtt["from"]), seconds(rtt["to"])
    classes = rtt["classes"]
    step = (last - first) / max(1, classes - 1)
    return [f"{first + step * index:.12f}s" for index in range(classes)]
