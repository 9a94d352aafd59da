"""The compiled core: conversions between Python and the Rust crates."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, TypeAlias, TypedDict, final

Table: TypeAlias = dict[str, tuple[str, bytes]]
"""Columns by name: numpy type and bytes. Absent values are -1 or NaN."""

class Buffer(TypedDict):
    """A buffer in every unit, and what they are converted by."""

    link: str
    rate_bps: int
    frame_bytes: int
    packet_bytes: int
    base_rtt_s: float | None
    counted_in_bytes: bool
    limit_packets: int | None
    limit_bytes: int | None
    limit_ms: float | None
    limit_bdp: float | None

class LongFlow(TypedDict):
    """A TCP flow without end, as rules for buffer sizes see it.

    `name` and `group` are name and number of its group of flows in the file, which has
    `group_count` of them.
    """

    name: str
    group: int
    group_count: int
    base_rtt_s: float
    congestion_control: str
    byte_counting: bool
    paced: bool
    receive_window_bytes: int

def version() -> str:
    """The version of the core."""

def schema() -> str:
    """The JSON Schema of scenario files."""

def parse_fraction(what: str, text: str) -> float:
    """Reads `98%` or a number from 0 to 1; `what` names it in messages."""

def parse_span(what: str, text: str) -> float:
    """Reads a time (`50ms`) as seconds; `what` names it in messages."""

def parse_spans(what: str, text: str) -> list[float] | tuple[float, float]:
    """Reads times as seconds: `40ms` and `20ms,80ms` as a list, `20ms..534ms` as its two ends."""

def parse_rate(what: str, text: str) -> int:
    """Reads a rate (`50Mbps`) as bits per second; `what` names it in messages."""

def parse_size(what: str, text: str) -> int:
    """Reads a size (`1500B`) as bytes; `what` names it in messages."""

def measure(text: str) -> tuple[float, str] | None:
    """Reads a number with its unit as columns of results have it.

    `10Mbps` is (10000000.0, "_bps"): the value, and the end of such a column's name. None of
    anything else.
    """

def parse_qdisc(text: str) -> tuple[str, list[str], list[str]]:
    """Reads lines of `tc`: the queue's table, the commands that make it, what is not shown.

    Raises:
        goodqueue.ScenarioError: with what has no equivalent, and why.
    """

def check_queue(
    factory: Callable[[], object], *, seed: int, work_conserving: bool, largest_packet: int
) -> tuple[dict[str, int], tuple[str, str, int, str] | None]:
    """Tries a queue discipline: counts; or the rule it broke, the load, the call, what was seen."""

@final
class Packet:
    """A packet as a queue sees it."""

    @property
    def flow(self) -> int:
        """Number of its flow."""

    @property
    def is_forward(self) -> bool:
        """Whether it goes from the flow's client to its server."""

    @property
    def number(self) -> int:
        """How many packets its flow sent in this direction before."""

    @property
    def size(self) -> int:
        """Size of the IP packet in bytes."""

    @property
    def arrived_s(self) -> float:
        """When it reached the queue, in seconds."""

    @property
    def ecn(self) -> Literal["not-ect", "ect0", "ect1", "ce"]:
        """The ECN field."""

    @property
    def dscp(self) -> int:
        """Its differentiated services code point."""

    @property
    def hosts(self) -> tuple[int, int]:
        """Numbers of the flow's hosts: client and server."""

    @property
    def is_ack(self) -> bool:
        """Whether it is a TCP segment without payload."""

@final
class QueueContext:
    """What a queue is given at each call."""

    @property
    def now_s(self) -> float:
        """The time, in seconds."""

    def frame_bytes(self, packet: Packet) -> int:
        """The bytes that a packet takes in the queue and on the wire."""

    def random(self) -> float:
        """A number from 0 to below 1, from the link's own random stream."""

    def drop(
        self,
        packet: Packet,
        reason: Literal["overlimit", "early", "forced", "target_exceeded"] = "overlimit",
    ) -> None:
        """Drops a packet."""

    def mark(
        self, packet: Packet, reason: Literal["early", "forced", "target_exceeded"] = "early"
    ) -> bool:
        """Marks a packet that understands marks; says whether it did."""

@final
class Cancel:
    """A switch that stops the runs it was given to."""

    def __init__(self) -> None: ...
    def set(self) -> None:
        """Stops them."""

def hybrid_version() -> int:
    """The version of what runs of the hybrid engine yield."""

def results_version() -> int:
    """The version of what runs yield: results of equal versions are equal."""

@final
class Study:
    """A study file whose own keys are valid."""

    @staticmethod
    def parse(text: bytes, file_name: str, overrides: list[tuple[str, str]]) -> Study:
        """Reads a study file; `overrides` are (path, value) pairs of its base scenario.

        Raises:
            goodqueue.ScenarioError: with place, mistake and remedy.
        """

    @property
    def variants(self) -> int:
        """How many points of its grid are not excluded."""

    def outline_json(self) -> str:
        """All but the variants, as JSON: `title`, `axes`, `seeds`, `stop`, `keep`, `plots`."""

    def parameters_json(self, variant: int) -> str:
        """The values of the axes at a variant by column, as JSON."""

    def scenario(self, variant: int) -> Scenario:
        """The scenario of a variant.

        Raises:
            goodqueue.ScenarioError: at the axis whose value is at fault, or in the base scenario.
        """

    def check_metrics(self, names: list[str]) -> None:
        """Checks the metrics that it names against those that runs have.

        Raises:
            goodqueue.ScenarioError: with the first that none has, and the nearest.
        """

    def resolved_toml(self) -> str:
        """The study with its base scenario written into it."""

@final
class Scenario:
    """A valid scenario."""

    @staticmethod
    def parse(text: bytes, file_name: str, overrides: list[tuple[str, str]]) -> Scenario:
        """Reads a scenario file; `overrides` are (path, value) pairs.

        Raises:
            goodqueue.ScenarioError: with place, mistake and remedy.
        """

    @property
    def title(self) -> str:
        """One line that says what the scenario shows."""

    @property
    def duration_s(self) -> float:
        """How long a run lasts, in simulated seconds."""

    @property
    def warmup_s(self) -> float:
        """How much of that at the beginning is not measured, in seconds."""

    @property
    def seed(self) -> int:
        """The seed of its random streams."""

    def flows(self) -> list[tuple[str, str, list[str]]]:
        """All flows: name, workload (`bulk`, `ping` or nothing), and the links that data cross."""

    @property
    def links(self) -> list[str]:
        """The links that results are reported for."""

    def resolved_toml(self) -> str:
        """The scenario with every key written out."""

    def canonical_toml(self) -> str:
        """What the scenario's results depend on besides the seed."""

    def metric_names(self) -> list[str]:
        """The names of the metrics that its runs have."""

    def weight(self) -> float:
        """How long a run takes, in units of its own; only to compare scenarios."""

    def hybrid_limits(self) -> tuple[Literal["unable", "unproved"], str] | None:
        """Why the hybrid engine does not answer for it, in words; None if it does.

        `unable` if it cannot run it; `unproved` if it can, and was not shown to agree with the
        packet engine on such links.
        """

    def calibrate(
        self, seconds: float, engine: Literal["packets", "hybrid"] = "packets"
    ) -> tuple[float, list[tuple[float, float]]]:
        """Runs it from the start until so many seconds of computing have passed, or to the end.

        Returns:
            Seconds that building it and summing up took; and points on the way, each the seconds
            of computing so far and the share of the simulated time that was done by then.
        """

    def memory(
        self,
        *,
        series: bool | None = None,
        packets: bool | None = None,
        engine: Literal["packets", "hybrid"] = "packets",
    ) -> list[tuple[str, int, int]]:
        """What a run takes of memory: triples of what, how many, and bytes for each.

        What is recorded is as the scenario says unless given.
        """

    def with_seed(self, seed: int) -> Scenario:
        """The same scenario under another seed."""

    def with_default_jitter(self, seconds: float) -> Scenario:
        """The same scenario; flows that say nothing of it start up to so many seconds later."""

    def with_limit(self, link: str, packets: int) -> Scenario:
        """The same scenario with room for so many of a link's largest frames.

        The limit is stated in packets or in bytes as the scenario does.
        """

    def buffer(self, link: str, packets: int | None = None) -> Buffer:
        """What room for so many of a link's largest frames, or its own limit, comes to."""

    def long_flows(self, link: str) -> list[LongFlow]:
        """The TCP flows without end whose data cross a link, in the order of flows."""

    def qdisc(self, link: str, *, fifo_in_bytes: bool = False) -> list[str]:
        """The `tc` commands that give a Linux device the queue of this link.

        Raises:
            goodqueue.ScenarioError: with what has no equivalent, and why.
        """

    def run(
        self,
        *,
        series: bool | None = None,
        packets: bool | None = None,
        cancel: Cancel | None = None,
        queues: Sequence[tuple[str, Callable[[], object]]] = (),
        traces: Sequence[tuple[str, PathLike[str]]] = (),
        snap: int = 128,
        watch: Callable[[float, int], None] | None = None,
        engine: Literal["packets", "hybrid"] = "packets",
    ) -> Outcome:
        """Runs it, without holding the interpreter's lock.

        What is recorded is as the scenario says unless given. `queues` are factories of queue
        disciplines, by link. `traces` are pairs of a trace's name and a file; frames of captures
        are cut to `snap` bytes. The hybrid engine has no series, packets, queues or traces, and
        does not tell `watch` how far it is.

        Raises:
            KeyboardInterrupt: on Ctrl-C in the main thread, or if `cancel` is set.
            goodqueue.ScenarioError: if the hybrid engine cannot run it, and why.
        """

@final
class Outcome:
    """What a run yields."""

    def summary_json(self) -> str:
        """The summary, as JSON."""

    def metrics(self) -> tuple[str, bytes]:
        """The figures of the summary: names, a line each, and little-endian doubles (or NaN)."""

    @property
    def links(self) -> list[str]:
        """The names that numbers in a column `link` stand for."""

    @property
    def flows(self) -> list[str]:
        """The names that numbers in a column `flow` stand for."""

    @property
    def has_series(self) -> bool:
        """Whether time series were recorded."""

    @property
    def has_packets(self) -> bool:
        """Whether packet events were recorded."""

    def delays(self) -> Table:
        """How many packets waited how long, in bins."""

    def backlog(self) -> Table:
        """What waited at each link, at each change."""

    def windows(self) -> Table:
        """Windows of each flow, at each change."""

    def rtt(self) -> Table:
        """Round-trip times, at each sample."""

    def limits(self) -> Table:
        """What senders of bulk flows wait for, at each change."""

    def packets(self) -> Table:
        """Packet events."""

def analyze(
    path: str | PathLike[str],
    *,
    after: str | PathLike[str] | None = None,
    link_rate_bps: int | None = None,
    drops: Sequence[float] | None = None,
    thresholds: Sequence[tuple[str, float]] = (),
    seed: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Analysis:
    """Analyses a capture, or two: before (`path`) and after the target link.

    Args:
        path: pcap, pcapng, or a trace of ns-2, of which the link that drops most is looked at.
        after: the same packets after the link, on the same clock.
        link_rate_bps: the link's rate, frames counted as the capture has them; estimated if None.
        drops: times of drops at the link in seconds on the capture's clock, instead of those that
            the captures show.
        thresholds: names and values of what judgements hang on, see `passive_thresholds`.
        seed: of the bootstrap that gives intervals.
        progress: told the bytes read so far, now and then; what it raises stops the analysis.

    Raises:
        OSError: if a file cannot be read.
        goodqueue.ScenarioError: if it holds no packets, and why, or a threshold is unknown.
    """

def passive_thresholds() -> list[tuple[str, float, str]]:
    """Name, default and description (with unit and source) of each threshold."""

@final
class Analysis:
    """What a capture shows."""

    def summary_json(self) -> str:
        """Everything but the tables, as JSON."""

    @property
    def flow_names(self) -> list[str]:
        """The names that numbers in a column `flow` stand for."""

    @staticmethod
    def names() -> dict[str, list[str]]:
        """What numbers in the columns of these names stand for."""

    def flows(self) -> Table:
        """Directions of connections with data, a row each."""

    def rtts(self) -> Table:
        """Round-trip times, at most 2000 a flow."""

    def losses(self) -> Table:
        """Losses, with where they happened."""

    def bursts(self) -> Table:
        """Losses at the target link in bursts."""

    def series(self) -> Table:
        """The target link over time."""
