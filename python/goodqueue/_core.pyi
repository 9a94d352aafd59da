"""The compiled core: conversions between Python and the Rust crates."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Final, Literal, Self, TypeAlias, TypedDict, final, type_check_only

from goodqueue.sizing.link import Link

Table: TypeAlias = dict[str, tuple[str, bytes]]
"""Columns by name, each as its numpy type and its bytes. Missing values are -1 or NaN."""

@type_check_only
class Buffer(TypedDict):
    """A buffer in every unit, and the values used for the conversion."""

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

@type_check_only
class LongFlow(TypedDict):
    """A TCP flow without end, as the rules for buffer sizes need it.

    `name` and `group` are the name and the index of its group of flows in the file, which has
    `group_count` flows.
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
    """Returns the version of the core."""

def build() -> str:
    """Returns the kind of build, such as `release build, profile-guided`."""

def schema() -> str:
    """Returns the JSON Schema of scenario files."""

def memory_parts() -> list[str]:
    """Returns the names of the parts of a run's memory (`Scenario.memory`)."""

def toml_json(text: bytes, name: str) -> str:
    """Returns the tables of a TOML text as JSON, without the meaning of a scenario.

    Raises:
        goodqueue.ScenarioError: if it is not valid TOML; the message names the text.
    """

def t_quantile(freedom: float, probability: float) -> float:
    """Returns the quantile of Student's t distribution."""

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

def read_flow_records(what: str, path: PathLike[str], sampling: int, long_packets: int) -> str:
    """Reads flow records as nfdump prints them; returns their figures as JSON.

    Raises:
        goodqueue.ScenarioError: if the file has no flow records.
        OSError: if the file cannot be read.
    """

def import_ns2(
    script: bytes, file: str, folder: str | None, arguments: list[str]
) -> tuple[str, list[str]]:
    """Reads a script of ns-2, and those of its folder that it reads.

    Returns the scenario's text, and one sentence for each difference.

    Raises:
        goodqueue.ScenarioError: for the first command without an equivalent.
    """

def parse_qdisc(text: str) -> tuple[str, list[str], list[str]]:
    """Reads lines of `tc`: the queue's table, the commands that make it, and missing settings.

    Raises:
        goodqueue.ScenarioError: if an option has no equivalent; the message gives the reason.
    """

@type_check_only
class DeviceQueue(TypedDict):
    """The queue of a device.

    Attributes:
        name: name of the device, or of the switch's queue; empty if the text has none.
        kind: kind of the queue, such as `fq_codel`, or the profile of a switch's queue.
        limit_packets: its limit in packets, if it counts packets.
        limit_bytes: its limit in bytes, if it counts bytes.
        is_fifo: True if it drops only at its limit.
        counters: packets sent, dropped and marked since it was attached, if known.
        unknown: the reason why the limit is unknown; None if it is known.
        remarks: sentences about the choice of the queue, and about figures that cannot hold.
    """

    name: str
    kind: str
    limit_packets: int | None
    limit_bytes: int | None
    is_fifo: bool
    counters: tuple[int, int, int] | None
    unknown: str | None
    remarks: list[str]

def read_device(what: str, text: str, name: str | None) -> DeviceQueue:
    """Reads the queue of a device: `tc -s qdisc show`, or `config_db.json` of SONiC.

    Args:
        what: name of the text in messages.
        text: the output, as text or JSON, or the file.
        name: the device, its class, as in `eth0/1:10`, or the switch's queue, as in
            `Ethernet0|3`; None for the only device.

    Raises:
        goodqueue.ScenarioError: if the text is neither of the two.
    """

@type_check_only
class Switch(TypedDict):
    """A switch.

    Attributes:
        ports: numbers of ports and their rates in bit/s, the most frequent rate first.
        queue: name of the queue whose buffer follows.
        profile: name of its buffer profile.
        alpha: factor of its dynamic threshold.
        reserved_bytes: bytes that are reserved for it.
        pool_bytes: bytes of its pool.
        remarks: sentences about entries that contradict one another.
    """

    ports: list[tuple[int, int]]
    queue: str
    profile: str
    alpha: float
    reserved_bytes: int
    pool_bytes: int
    remarks: list[str]

def read_switch(what: str, text: str, queue: str | None) -> Switch:
    """Reads the ports of a switch and the buffer of a queue: `config_db.json` of SONiC.

    Args:
        what: name of the text in messages.
        text: the file.
        queue: the queue, as in `Ethernet0|3`; None for the first with a dynamic threshold.

    Raises:
        goodqueue.ScenarioError: if the text describes no switch.
    """

def probe_serve(
    address: str,
    token: str | PathLike[str],
    most_bps: int,
    longest_s: float,
    sessions: int,
    log: Callable[[str], object],
) -> None:
    """Serves probes until a signal's handler raises. Linux only.

    Args:
        address: the address to listen at, with its port; port 0 is any free port.
        token: file with the token, which only its owner may read.
        most_bps: largest rate of a session, in bits of IP per second.
        longest_s: longest duration of a session in seconds.
        sessions: sessions at once.
        log: called with a line for each event, the first of which has the address.

    Raises:
        OSError: if the address cannot be used.
        RuntimeError: if the token file is refused; the text is a message for the user.
    """

def probe_path(
    address: str,
    token: str | PathLike[str],
    most_bps: int,
    tcp_ms: int,
    begins: Callable[[str], object],
    agrees: Callable[[float, float], bool],
) -> tuple[str, list[float], list[tuple[list[tuple[float, float]], list[tuple[float, float]]]]]:
    """Probes the path to a server. Linux only.

    Args:
        address: the server's address with its port.
        token: file with the token, which only its owner may read.
        most_bps: largest rate of UDP packets, in bits of IP per second.
        tcp_ms: duration of the TCP flow in each direction, in ms; 0 for none.
        begins: called with the name of each part.
        agrees: called with expected seconds and bytes before the parts that fill the buffer.

    Returns:
        The figures as JSON, the RTTs of the idle path in seconds, and for each TCP flow the time
        since its start and the RTT of each ping, in seconds.

    Raises:
        OSError: if the server cannot be reached.
        RuntimeError: if the server refuses; the text is a message for the user.
    """

@final
class Uplink:
    """Connection of an emulated network with that of this process, by translation of addresses.

    Linux only.
    """

    def __new__(cls, network: int) -> Self:
        """Joins two networks.

        Args:
            network: number of the open file that stands for the far host's network.

        Raises:
            OSError: if the operating system refuses a step; the text names it.
        """

    @property
    def name(self) -> str | None:
        """Name of this machine's device; None after `close`."""

    def close(self) -> None:
        """Removes the device and the rules."""

def emulate_enter(command: Sequence[str]) -> int | None:
    """Makes the namespaces of an emulation and waits for the command that is started in them.

    Linux only, as the other stages. The process must have one thread.

    Returns:
        The command's exit code; None if a signal ended it.

    Raises:
        RuntimeError: if the operating system refuses a step; the text names it.
    """

def emulate_route(
    scenario: Scenario,
    programs: Sequence[tuple[int, bool, Sequence[str]]],
    parameters: Sequence[tuple[str, str]],
    launch: Sequence[str],
    user: int,
    stop: str | PathLike[str],
    over_time: bool,
    traces: Sequence[tuple[str, str | PathLike[str]]],
    snap: int,
    watch: Callable[[str], object] | None,
    join: Callable[[int], object] | None,
) -> tuple[str, Outcome, Table]:
    """Runs programs behind the links of a scenario until those on near hosts have ended.

    Args:
        scenario: links and routes, and the times at which programs start; the workloads of its
            flows are not read.
        programs: the number of each program's flow, true for its far host, and the command.
        parameters: names below /proc/sys/net/ipv4 with their values, for all hosts.
        launch: command that starts a program; its further arguments are `user`, the lines of
            /etc/hosts, and the program's command.
        user: number of the user as whom programs run.
        stop: file whose other end is closed to interrupt the run, such as a pipe.
        over_time: True to record backlogs and queueing delays over time.
        traces: traces to write, by name, with their files.
        snap: largest captured part of a frame in bytes.
        watch: called each second with the time and the activity of each link as JSON.
        join: called with the number of the open file that stands for the network of the first
            flow's far host, before programs start.

    Returns:
        A JSON object with `summary`, `fidelity`, `programs` and `interrupted`; the tables; and the
        queueing delay of each transmission (`link`, `time_s`, `queueing_delay_s`).

    Raises:
        OSError: if the operating system refuses a step; the text names it.
    """

def emulate_program(user: int, hosts: str, resolver: str, command: Sequence[str]) -> BaseException:
    """Replaces this process by a program of a user.

    Returns:
        The reason if the operating system refuses; it does not return otherwise.
    """

def check_queue(
    factory: Callable[[], object], *, seed: int, work_conserving: bool, largest_packet: int
) -> tuple[dict[str, int], tuple[str, str, int, str] | None]:
    """Tries a queue discipline.

    Returns:
        Counts of packets, and None or the violation: the broken rule, the load, the number of the
            call, and a description.
    """

def check_control(
    factory: Callable[[Connection], object],
    *,
    reacts_to_loss: bool,
    restarts_after_timeout: bool,
    waits_when_unused: bool,
    seed: int,
) -> tuple[int, tuple[str, str, int, str] | None]:
    """Tries a congestion control.

    Returns:
        The number of calls, and None or the violation: the broken rule, the TCP profile, the number
            of the call, and a description.
    """

@final
class Connection:
    """Configuration of a connection whose control is created.

    Examples:
        >>> import goodqueue
        >>> class Aimd:
        ...     def __init__(self, connection: goodqueue.Connection) -> None:
        ...         self.window_bytes = float(connection.initial_window_bytes)
        ...         self.mss = connection.mss_bytes
        ...     def on_ack(self, ack: goodqueue.Ack) -> None:
        ...         self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes
        ...     def on_loss(self, loss: goodqueue.Loss) -> None:
        ...         self.window_bytes = max(0.5 * loss.basis_bytes, 2 * self.mss)
        >>> goodqueue.check_control(Aimd).calls > 1000
        True
    """

    @property
    def mss_bytes(self) -> int:
        """Largest payload of a segment, in bytes."""

    @property
    def initial_window_bytes(self) -> int:
        """Congestion window with which the connection starts, in bytes."""

    @property
    def initial_ssthresh_bytes(self) -> float:
        """Slow-start threshold with which the connection starts, in bytes; infinite without one."""

@final
class Ack:
    """Information of an ACK. Byte counts are of payload.

    Examples:
        >>> import goodqueue
        >>> class Aimd:
        ...     def __init__(self, connection: goodqueue.Connection) -> None:
        ...         self.window_bytes = float(connection.initial_window_bytes)
        ...         self.mss = connection.mss_bytes
        ...     def on_ack(self, ack: goodqueue.Ack) -> None:
        ...         self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes
        ...     def on_loss(self, loss: goodqueue.Loss) -> None:
        ...         self.window_bytes = max(0.5 * loss.basis_bytes, 2 * self.mss)
        >>> goodqueue.check_control(Aimd).calls > 1000
        True
    """

    @property
    def now_s(self) -> float:
        """Time at which the ACK arrived, in seconds."""

    @property
    def acked_bytes(self) -> int:
        """Bytes by which the window may grow.

        Newly acknowledged ones; 0 if the window was not used.
        """

    @property
    def delivered_bytes(self) -> int:
        """Bytes that the ACK shows to be delivered, in order or selectively."""

    @property
    def lost_bytes(self) -> int:
        """Bytes that the sender considers lost since the ACK before."""

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the newest segment that the ACK shows to be delivered, in seconds.

        None if there is none (Karn).
        """

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight after the ACK."""

    @property
    def prior_in_flight_bytes(self) -> int:
        """Bytes in flight before the ACK."""

    @property
    def acked_to(self) -> int:
        """Acknowledgement number. A round trip has passed when it reaches an earlier `sent_to`."""

    @property
    def sent_to(self) -> int:
        """Highest sequence number sent."""

    @property
    def in_recovery(self) -> bool:
        """True if the sender is in fast recovery."""

    @property
    def after_timeout(self) -> bool:
        """True if the sender repairs losses by go-back-N after a timeout."""

    @property
    def is_window_limited(self) -> bool:
        """True if the window limited sending, False if the application did."""

@final
class Loss:
    """A loss, a congestion mark or a timeout that requires a smaller window.

    Examples:
        >>> import goodqueue
        >>> class Aimd:
        ...     def __init__(self, connection: goodqueue.Connection) -> None:
        ...         self.window_bytes = float(connection.initial_window_bytes)
        ...         self.mss = connection.mss_bytes
        ...     def on_ack(self, ack: goodqueue.Ack) -> None:
        ...         self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes
        ...     def on_loss(self, loss: goodqueue.Loss) -> None:
        ...         self.window_bytes = max(0.5 * loss.basis_bytes, 2 * self.mss)
        >>> goodqueue.check_control(Aimd).calls > 1000
        True
    """

    @property
    def now_s(self) -> float:
        """Time at which the sender noticed it, in seconds."""

    @property
    def basis_bytes(self) -> float:
        """Bytes from which the decrease is computed.

        Those in flight, or the window, as the profile says.
        """

    @property
    def is_mark(self) -> bool:
        """True if the signal was an ECN echo and not a loss."""

    @property
    def kept_share(self) -> float | None:
        """Share of the basis that remains, if the signal decides and not the control (RFC 8511)."""

@final
class Marks:
    """Information of an ACK about congestion marks, on a connection with ECN.

    Examples:
        >>> import goodqueue
        >>> class Marked:
        ...     def __init__(self, connection: goodqueue.Connection) -> None:
        ...         self.window_bytes = float(connection.initial_window_bytes)
        ...         self.mss = connection.mss_bytes
        ...     def on_ack(self, ack: goodqueue.Ack) -> None:
        ...         self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes
        ...     def on_loss(self, loss: goodqueue.Loss) -> None:
        ...         self.window_bytes = max(0.5 * loss.basis_bytes, 2 * self.mss)
        ...     def on_marks(self, marks: goodqueue.Marks) -> None:
        ...         self.window_bytes = max(self.window_bytes - marks.marked_bytes / 2, self.mss)
        >>> goodqueue.check_control(Marked).calls > 1000
        True
    """

    @property
    def acked_bytes(self) -> int:
        """Bytes newly acknowledged in order."""

    @property
    def marked_bytes(self) -> int:
        """Bytes that the receiver reports as marked."""

@final
class IntervalReport:
    """Sums over an interval. Byte counts are of payload.

    Examples:
        >>> import goodqueue
        >>> class Paced:
        ...     def __init__(self, connection: goodqueue.Connection) -> None:
        ...         self.window_bytes, self.pacing_rate_bps = 1e9, None
        ...     def on_interval(self, report: goodqueue.IntervalReport) -> None:
        ...         self.pacing_rate_bps = max(report.delivery_rate_bps, 1e6)
        >>> result = goodqueue.run(goodqueue.EXAMPLE, controls={"upload": Paced})
        >>> result["upload"].goodput_bps > 1e6
        True
    """

    @property
    def now_s(self) -> float:
        """Time of the ACK that ended the interval, in seconds."""

    @property
    def length_s(self) -> float:
        """Length of the interval, in seconds."""

    @property
    def acks(self) -> int:
        """Number of ACKs."""

    @property
    def delivered_bytes(self) -> int:
        """Bytes that ACKs showed to be delivered."""

    @property
    def lost_bytes(self) -> int:
        """Bytes that the sender considered lost."""

    @property
    def sent_bytes(self) -> int:
        """Bytes that were sent, new ones and retransmissions."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight at the end."""

    @property
    def delivery_rate_bps(self) -> float:
        """Delivered bits per second."""

    @property
    def send_rate_bps(self) -> float:
        """Sent bits per second."""

    @property
    def mean_rtt_s(self) -> float | None:
        """Mean of the round-trip times, in seconds; None without one."""

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time of the interval, in seconds; None without one."""

    @property
    def base_rtt_s(self) -> float | None:
        """Smallest round-trip time of the connection so far, in seconds; None without one."""

    @property
    def rtt_gradient(self) -> float:
        """Change of the round-trip time over time, from a least-squares line, without unit."""

    @property
    def loss_events(self) -> int:
        """Number of loss events."""

    @property
    def timeouts(self) -> int:
        """Number of retransmission timeouts."""

@final
class FlowEpisodes:
    """Runs that pause for decisions about the congestion control of flows."""

    def __new__(
        cls,
        group: str,
        count: int,
        *,
        interval_s: float | None = None,
        interval_rtts: float = 1.0,
        over: str | None = None,
        threads: int = 1,
    ) -> FlowEpisodes:
        """Prepares `count` runs.

        Decisions are due every `interval_s` seconds, or every `interval_rtts` smoothed round-trip
        times. Actions change a window of their own, or that of the built-in control `over`.
        """

    def begin(self, index: int, scenario: Scenario) -> int:
        """Begins a run in a place, and returns the number of its flows that are steered.

        Raises:
            goodqueue.ScenarioError: if the scenario has no such group of bulk flows.
        """

    def step(self, which: Sequence[int], actions: bytes) -> bytes:
        """Acts in some runs, and runs each to its next decision without the interpreter's lock.

        Args:
            which: places of the runs, each at most once.
            actions: two little-endian doubles for each run: window in bytes, and pacing rate in
                bits per second. NaN and 0 change nothing.

        Returns:
            A row of doubles for each run; `goodqueue.gym.rows` names them.
        """

@final
class QueueEpisodes:
    """Runs in which the drop or mark probability of a link's queue is set before each step."""

    def __new__(cls, link: str, count: int, *, step_s: float, threads: int = 1) -> QueueEpisodes:
        """Prepares `count` runs, in steps of `step_s` seconds."""

    def begin(self, index: int, scenario: Scenario) -> None:
        """Begins a run in a place.

        Raises:
            goodqueue.ScenarioError: if the scenario has no such link, or if it has no queue.
        """

    def step(self, which: Sequence[int], actions: bytes) -> bytes:
        """Sets the probability in some runs, and runs each for a step.

        Args:
            which: places of the runs, each at most once.
            actions: the probability as a little-endian double, for each run.

        Returns:
            A row of doubles for each run; `goodqueue.gym.rows` names them.
        """

@final
class LabJob:
    """One question of the lab's page, whose answer another thread can watch and stop."""

    def __new__(cls, action: str, body: str) -> LabJob:
        """Takes a question: its action and its body in JSON."""

    def answer(self) -> tuple[int, str]:
        """Returns the status of HTTP and the answer as JSON text; status 409 if it was stopped."""

    def stop(self) -> None:
        """Stops the run within some milliseconds."""

    @property
    def done(self) -> float:
        """Share that is done, from 0 to 1."""

@final
class Packet:
    """A packet as a queue sees it.

    Examples:
        >>> from collections import deque
        >>> import goodqueue
        >>> class DropTail:
        ...     def __init__(self) -> None:
        ...         self.waiting, self.bytes = deque(), 0
        ...     def enqueue(
        ...         self, context: goodqueue.QueueContext, packet: goodqueue.Packet
        ...     ) -> None:
        ...         if len(self.waiting) == 10:
        ...             context.drop(packet)
        ...         else:
        ...             self.waiting.append(packet)
        ...             self.bytes += context.frame_bytes(packet)
        ...     def dequeue(self, context: goodqueue.QueueContext) -> goodqueue.Packet | None:
        ...         if not self.waiting:
        ...             return None
        ...         packet = self.waiting.popleft()
        ...         self.bytes -= context.frame_bytes(packet)
        ...         return packet
        ...     def backlog(self) -> tuple[int, int]:
        ...         return len(self.waiting), self.bytes
        >>> goodqueue.check_queue(DropTail).dropped > 0
        True
    """

    @property
    def flow(self) -> int:
        """Number of its flow."""

    @property
    def is_forward(self) -> bool:
        """True if it goes from the flow's client to its server."""

    @property
    def number(self) -> int:
        """Number of packets that its flow sent in this direction before it."""

    @property
    def size(self) -> int:
        """Size of the IP packet in bytes."""

    @property
    def arrived_s(self) -> float:
        """Time of its arrival at the queue, in seconds."""

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
        """True if it is a TCP segment without payload."""

    def __copy__(self) -> Packet: ...
    def __deepcopy__(self, _memo: object) -> Packet: ...

@final
class QueueContext:
    """The time and the functions that a queue may use during a call.

    Examples:
        >>> from collections import deque
        >>> import goodqueue
        >>> class DropTail:
        ...     def __init__(self) -> None:
        ...         self.waiting, self.bytes = deque(), 0
        ...     def enqueue(
        ...         self, context: goodqueue.QueueContext, packet: goodqueue.Packet
        ...     ) -> None:
        ...         if len(self.waiting) == 10:
        ...             context.drop(packet)
        ...         else:
        ...             self.waiting.append(packet)
        ...             self.bytes += context.frame_bytes(packet)
        ...     def dequeue(self, context: goodqueue.QueueContext) -> goodqueue.Packet | None:
        ...         if not self.waiting:
        ...             return None
        ...         packet = self.waiting.popleft()
        ...         self.bytes -= context.frame_bytes(packet)
        ...         return packet
        ...     def backlog(self) -> tuple[int, int]:
        ...         return len(self.waiting), self.bytes
        >>> goodqueue.check_queue(DropTail).dropped > 0
        True
    """

    @property
    def now_s(self) -> float:
        """The time, in seconds."""

    def frame_bytes(self, packet: Packet) -> int:
        """Returns the bytes that a packet takes in the queue and on the wire."""

    def random(self) -> float:
        """Returns a number from 0 to below 1 from the link's own random stream."""

    def drop(
        self,
        packet: Packet,
        reason: Literal["overlimit", "early", "forced", "target_exceeded"] = "overlimit",
    ) -> None:
        """Drops a packet."""

    def mark(
        self, packet: Packet, reason: Literal["early", "forced", "target_exceeded"] = "early"
    ) -> bool:
        """Marks an ECN-capable packet; returns True if the packet was marked."""

@final
class Cancel:
    """A switch that stops the runs to which it was given."""

    def __init__(self) -> None: ...
    def set(self) -> None:
        """Stops these runs."""

def run_batch(
    runs: Sequence[tuple[Scenario, int, str]], cancel: Cancel, seconds: float
) -> list[tuple[str, bytes, float]]:
    """Runs scenarios under seeds by an engine, one after another, as far as `seconds` allow.

    It ends after the first run at whose end `seconds` have passed, and before the first run that
    fails or is cancelled, which gives the reason if it is run by itself.

    Returns:
        For each run that it ran, the names of its metrics, one per line, their values as
        little-endian doubles, and its wall-clock time in seconds.
    """

def hybrid_version() -> int:
    """The version of what runs of the hybrid engine yield."""

def results_version() -> int:
    """Returns the version of the results: equal versions give equal results."""

@final
class Study:
    """A study file whose own keys are valid."""

    @staticmethod
    def parse(
        text: bytes,
        file_name: str,
        overrides: list[tuple[str, str]],
        checksum: Callable[[str], str] | None = None,
    ) -> Study:
        """Reads a study file; `overrides` are (path, value) pairs of its base scenario.

        Its scenarios may name classes in Python only if `checksum` is given, which returns the
        checksum of the source of a class.

        Raises:
            goodqueue.ScenarioError: if the file has a mistake; the message has place, mistake and
                remedy.
        """

    @property
    def variants(self) -> int:
        """Number of points of its grid that are not excluded."""

    def outline_json(self) -> str:
        """Returns everything but the variants, as JSON.

        The keys are `title`, `axes`, `seeds`, `stop`, `keep` and `plots`.
        """

    def parameters_json(self, variant: int) -> str:
        """Returns the values of the axes at a variant, by column, as JSON."""

    def scenario(self, variant: int) -> Scenario:
        """Returns the scenario of a variant.

        Raises:
            goodqueue.ScenarioError: if an axis has a wrong value, or the base scenario a mistake.
        """

    def check_metrics(self, names: list[str]) -> None:
        """Checks that runs have the metrics that the study names.

        Raises:
            goodqueue.ScenarioError: for the first unknown metric; the message has the nearest known
                one.
        """

    def resolved_toml(self) -> str:
        """Returns the study as TOML with its base scenario included."""

@final
class Scenario:
    """A valid scenario."""

    @staticmethod
    def parse(
        text: bytes,
        file_name: str,
        overrides: list[tuple[str, str]],
        checksum: Callable[[str], str] | None = None,
    ) -> Scenario:
        """Reads a scenario file; `overrides` are (path, value) pairs.

        It may name classes in Python only if `checksum` is given, which returns the checksum of the
        source of a class.

        Raises:
            goodqueue.ScenarioError: if the file has a mistake; the message has place, mistake and
                remedy.
        """

    @property
    def title(self) -> str:
        """Title of the scenario, in one line."""

    @property
    def duration_s(self) -> float:
        """Length of a run, in simulated seconds."""

    @property
    def warmup_s(self) -> float:
        """Length of the unmeasured time at the beginning of a run, in simulated seconds."""

    @property
    def seed(self) -> int:
        """The seed of its random streams."""

    @property
    def assumed_hosts(self) -> tuple[Literal["linux", "rfc"], list[str]] | None:
        """Profile of the TCP flows that name none, and the names of their groups.

        None if each of them names a profile, or every key.
        """

    @property
    def flow_count(self) -> int:
        """Number of flows."""

    def flows(self) -> list[tuple[str, str, list[str]]]:
        """Returns all flows: name, workload (`bulk`, `ping` or nothing), and links of its data."""

    def python_controls(self) -> list[tuple[str, str]]:
        """Returns the groups of flows whose control is a class in Python, each with the class."""

    def python_queues(self) -> list[tuple[str, str]]:
        """Returns the links whose queue is a class in Python, each with the class."""

    def with_python_queue(self, link: str, name: str, checksum: str) -> Scenario:
        """Returns the scenario with a class as the queue of a link, which keeps its limit."""

    @property
    def links(self) -> list[str]:
        """Names of the links that results cover."""

    def resolved_toml(self) -> str:
        """Returns the scenario as TOML with every key written out."""

    def canonical_toml(self) -> str:
        """Returns everything on which the results depend, except for the seed, as TOML."""

    def metric_names(self) -> list[str]:
        """Returns the names of the metrics of its runs."""

    def weight(self) -> float:
        """Returns the relative time of a run, in arbitrary units that only compare scenarios."""

    def hybrid_limits(self) -> tuple[Literal["unable", "unproved"], str] | None:
        """Why the hybrid engine does not answer for it, in words; None if it does.

        `unable` if it cannot run it; `unproved` if it can, and was not shown to agree with the
        packet engine on such links.
        """

    def calibrate(
        self, seconds: float, engine: Literal["packets", "hybrid"] = "packets"
    ) -> tuple[float, list[tuple[float, float]]]:
        """Runs the scenario for this many seconds of computing, or to its end.

        Returns:
            Seconds that building the network and summarising took; and points of the run, each with
                the seconds of computing and the share of the simulated time so far.
        """

    def memory(
        self,
        *,
        series: bool | None = None,
        packets: bool | None = None,
        engine: Literal["packets", "hybrid"] = "packets",
    ) -> list[tuple[str, int, int]]:
        """Returns the parts of a run's memory: name, number, and bytes of each.

        By default the scenario determines what is recorded.
        """

    def with_seed(self, seed: int) -> Scenario:
        """Returns the same scenario under another seed."""

    def with_default_jitter(self, seconds: float) -> Scenario:
        """Returns the scenario with starts up to `seconds` later for flows that set no jitter."""

    def with_limit(self, link: str, packets: int) -> Scenario:
        """Returns the scenario with room for `packets` of a link's largest frames.

        The limit is in packets or in bytes, as in the scenario.
        """

    def buffer(self, link: str, packets: int | None = None) -> Buffer:
        """Returns the buffer for `packets` of a link's largest frames, or for its own limit."""

    def long_flows(self, link: str) -> list[LongFlow]:
        """Returns the TCP flows without end whose data cross a link, in the order of flows."""

    def qdisc(self, link: str, *, fifo_in_bytes: bool = False) -> list[str]:
        """Returns the `tc` commands that give a Linux device the queue of this link.

        Raises:
            goodqueue.ScenarioError: if a part has no equivalent; the message gives the reason.
        """

    def run(
        self,
        *,
        series: bool | None = None,
        packets: bool | None = None,
        cancel: Cancel | None = None,
        queues: Sequence[tuple[str, Callable[[], object]]] = (),
        controls: Sequence[tuple[str, Callable[[Connection], object]]] = (),
        traces: Sequence[tuple[str, PathLike[str]]] = (),
        snap: int = 128,
        watch: Callable[[float, int], None] | None = None,
        engine: Literal["packets", "hybrid"] = "packets",
    ) -> Outcome:
        """Runs the scenario without holding the interpreter's lock.

        By default the scenario determines what is recorded. `queues` are factories of queue
        disciplines, by link, and `controls` those of congestion controls, by group of flows.
        `traces` are pairs of a trace's name and a file; frames of captures are cut to `snap` bytes.
        The hybrid engine has no series, packets, queues, controls or traces, and does not tell
        `watch` how far it is.

        Raises:
            KeyboardInterrupt: on Ctrl-C in the main thread, or if `cancel` is set.
            goodqueue.ScenarioError: if the hybrid engine cannot run it, and why.
        """

def explain(
    scenario: Scenario,
    flow: str,
    *,
    from_s: float,
    to_s: float,
    most: int,
    watch: Callable[[float, int], None] | None = None,
) -> str:
    """Runs a scenario and returns a part of the life of one flow, as JSON.

    Args:
        scenario: the scenario.
        flow: name of the flow, or `name[k]` for flow `k` of a group, from 0.
        from_s: time of the first record, in simulated seconds.
        to_s: time of the last record, in simulated seconds.
        most: largest number of records; the first ones are kept.
        watch: called some times a second with the share of the run that is done, and 0.

    Raises:
        KeyboardInterrupt: on Ctrl-C in the main thread.
        goodqueue.ScenarioError: if there is no such flow; the message has the nearest name.
    """

@final
class Outcome:
    """The outcome of a run."""

    def summary_json(self) -> str:
        """Returns the summary as JSON."""

    def metrics(self) -> tuple[str, bytes]:
        """Returns the figures of the summary: names, one per line, and little-endian doubles.

        A missing figure is NaN.
        """

    @property
    def links(self) -> list[str]:
        """Names of the links that the numbers in a column `link` stand for.

        Without packet events these are the links up to the last one that results cover.
        """

    @property
    def flows(self) -> list[str]:
        """Names of the flows that the numbers in a column `flow` stand for.

        There are none without series and packet events.
        """

    @property
    def has_series(self) -> bool:
        """True if time series were recorded."""

    @property
    def has_packets(self) -> bool:
        """True if packet events were recorded."""

    def delays(self) -> Table:
        """Returns the distribution of queueing delays, in bins."""

    def backlog(self) -> Table:
        """Returns the backlog of each link, at each change."""

    def windows(self) -> Table:
        """Returns the windows of each flow, at each change."""

    def rtt(self) -> Table:
        """Returns round-trip times, at each sample."""

    def limits(self) -> Table:
        """Returns the factor that limits each sender of a bulk flow, at each change."""

    def packets(self) -> Table:
        """Returns packet events."""

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
    """Analyses one capture, or two: before (`path`) and after the target link.

    Args:
        path: pcap, pcapng, or a trace of ns-2, of which the link that drops most is analysed.
        after: the same packets after the link, on the same clock.
        link_rate_bps: the link's rate, for frames as captured; estimated if None.
        drops: times of drops at the link in seconds on the capture's clock, which replace the
            losses that the captures show.
        thresholds: names and values of thresholds (see `passive_thresholds`).
        seed: seed of the bootstrap that gives intervals.
        progress: called now and then with the bytes read so far; an exception stops the analysis.

    Raises:
        OSError: if a file cannot be read.
        goodqueue.ScenarioError: if a file holds no packets (with the reason), or a threshold is
            unknown.
    """

def passive_thresholds() -> list[tuple[str, float, str]]:
    """Returns name, default and description (with unit and source) of each threshold."""

@final
class Analysis:
    """The analysis of a capture."""

    def summary_json(self) -> str:
        """Returns everything but the tables, as JSON."""

    @property
    def flow_names(self) -> list[str]:
        """Names of the flows that the numbers in a column `flow` stand for."""

    @staticmethod
    def names() -> dict[str, list[str]]:
        """Returns the names that numbers stand for, by column."""

    def flows(self) -> Table:
        """Returns directions of connections with data, one per row."""

    def rtts(self) -> Table:
        """Returns round-trip times, at most 2000 of a flow."""

    def losses(self) -> Table:
        """Returns losses, with their places."""

    def bursts(self) -> Table:
        """Returns bursts of losses at the target link."""

    def series(self) -> Table:
        """Returns figures of the target link over time."""

BSCL_FEWEST_FLOWS: Final[int]
"""Number of flows from which on BSCL assumes that losses are in bursts."""

COARSE: Final[int]
"""Stride of the coarse grid of limits in grid points: a factor of 1.48."""

GRID_STEP: Final[float]
"""Ratio of neighbouring limits, less 1."""

IDLE_FLOOR: Final[float]
"""Value added to an idle share before its logarithm is taken, so that shares far below it are not
distinguished."""

LIKELY: Final[float]
"""Probability from which on some buffer is expected to keep the bounds."""

LOSS_FLOOR: Final[float]
"""Value added to a loss before its logarithm is taken."""

NINETY: Final[float]
"""Standard errors on both sides that contain 90 % of a normal distribution."""

RTT_STEPS: Final[int]
"""Usual number of even steps in a range of round-trip times."""

@final
class Derived:
    """Quantities that follow from the description of a link."""

    def __new__(cls, link: Link) -> Self: ...
    @property
    def frame_bytes(self) -> int:
        """Bytes of a full packet on the link: the packet and its framing."""

    @property
    def packet_time_s(self) -> float:
        """Transmission time of a full packet in seconds."""

    @property
    def mean_rtt_s(self) -> float:
        """Mean base round-trip time in seconds; 0 if there is none."""

    @property
    def harmonic_rtt_s(self) -> float:
        """Effective round-trip time in seconds: as measured, or the harmonic mean."""

    @property
    def grows_fast(self) -> bool:
        """True if a Reno window grows by one packet per round trip, False if by half a packet."""

    @property
    def bdp_packets(self) -> float:
        """Product of rate and mean base round-trip time, in packets."""

    @property
    def local_rate_bps(self) -> float:
        """Effective capacity C_e: the rate of the locally bottlenecked flows."""

    @property
    def local_bdp_packets(self) -> float:
        """Product of effective capacity and effective round-trip time, in packets."""

    @property
    def window_packets(self) -> float:
        """Packets in flight per flow when the link is full and its queue empty."""

    @property
    def decrease(self) -> float | None:
        """Share of its window that a sender keeps after a loss; None without a fixed share."""

    @property
    def paces(self) -> bool:
        """True if all long flows space their packets over the round trip."""

    @property
    def needs_marks(self) -> bool:
        """True if some long flows need a queue that marks packets."""

    def seconds(self, packets: float) -> float:
        """Returns the transmission time of this number of packets."""

@type_check_only
class OtherTraffic(TypedDict):
    """Traffic of a link beside its long flows.

    Attributes:
        remote_flows: number of flows that a slower link limits.
        remote_rate_bps: rate of the traffic that a slower link limits.
        limited_flows: number of flows that their windows limit.
        limited_rate_bps: rate of the traffic that windows limit.
        short_rate_bps: rate of short transfers; it includes rates below the window of one flow.
    """

    remote_flows: int
    remote_rate_bps: float
    limited_flows: int
    limited_rate_bps: float
    short_rate_bps: float

def other_traffic(link: Link) -> OtherTraffic:
    """Returns the traffic of a link beside its long flows."""

def rtt_range(first_s: float, last_s: float, steps: int) -> list[float]:
    """Returns evenly spaced times with both ends; one if both ends are the same."""

@type_check_only
class ControlFacts(TypedDict):
    """A congestion control, as the theory distinguishes them.

    Attributes:
        name: its name in files and flags.
        decrease: share of its window that a sender keeps after a loss; None without a fixed share.
        rate_based: True if it estimates a rate, and keeps at most two BDPs in flight.
        needs_marks: True if it needs a queue that marks packets with ECN.
        paces: True if it always paces.
    """

    name: str
    decrease: float | None
    rate_based: bool
    needs_marks: bool
    paces: bool

def theory_controls() -> list[ControlFacts]:
    """Returns the congestion controls that the theory knows, those with a decrease first."""

def control_words(named: Sequence[tuple[str, float]]) -> str:
    """Returns controls with their shares of the flows in the form in which they can be typed.

    Raises:
        ValueError: if the theory does not know a control.
    """

def linear_epoch_s(window_packets: float, rtt_s: float, given_up: float, ack_every: int) -> float:
    """Returns the seconds between two losses of a flow with linear growth.

    Args:
        window_packets: the window before a loss.
        rtt_s: the round-trip time.
        given_up: share of the window given up on a loss: 1/2 for Reno.
        ack_every: round trips in which the window grows by one packet.
    """

def cubic_epoch_s(window_packets: float) -> float:
    """Returns the seconds that CUBIC needs to reach the window of its last loss."""

@type_check_only
class RuleWords(TypedDict):
    """Words of a rule; `Rule` documents them."""

    name: str
    title: str
    equation: str
    source: str
    assumptions: list[str]
    kind: Literal["rule", "claim"]
    bound: Literal["at least", "at most"]
    trial: Literal["classic", "modern"]

def published_rules() -> list[RuleWords]:
    """Returns the published rules."""

def device_rule() -> RuleWords:
    """Returns the rule that repeats the buffer of the device today."""

def advise(rule: str, link: Link) -> tuple[float | None, list[str], list[str]]:
    """Returns a rule's buffer in packets, the broken assumptions, and remarks.

    Args:
        rule: its name.
        link: the link, which has flows.

    Raises:
        KeyError: if no rule has that name.
    """

def whole_packets(packets: float) -> int:
    """Returns a buffer rounded down to whole packets, but at least one.

    A buffer that rounding errors put just below a whole number counts as that number.
    """

def loss_rate(link: Link, packets: float) -> float:
    """Returns the loss of the flows of a link that fill it and a buffer, at most 1."""

@final
class Bscl:
    """Parts of the answer of BSCL, in packets."""

    @property
    def for_utilization(self) -> float:
        """B_rho, equation (16), or C_e T_e below five flows (11); not clamped."""

    @property
    def for_loss(self) -> float | None:
        """B_p, equation (22); None without a bound on loss."""

    @property
    def packets(self) -> float:
        """The larger (23), at least one packet."""

    @property
    def most_for_delay(self) -> float | None:
        """C d (24), the largest buffer that the delay bound allows; None without a bound."""

    @property
    def feasible(self) -> bool:
        """True if the delay bound allows the buffer that utilisation and loss need (25)."""

def bscl(link: Link, burst_packets: float | None = None) -> Bscl:
    """Returns the buffer of a congested link (Dhamdhere, Jiang and Dovrolis, INFOCOM 2005).

    Args:
        link: rate, round trips, flows and bounds.
        burst_packets: mean loss-burst length L; by default alpha N (17).
    """

def bscl_globally_synchronized(link: Link) -> float:
    """Returns C_e T_e packets (11), for which every flow loses in every burst."""

def bscl_partially_synchronized(link: Link, burst_packets: float) -> float:
    """Returns B_rho in packets (16), negative for many flows."""

def bscl_for_loss(link: Link, loss_rate: float) -> float:
    """Returns B_p = K_p N - C_e T_e in packets (20)-(22)."""

@type_check_only
class CalibratedAnswer(TypedDict):
    """Answer of calibrated theory; `Calibrated` documents it."""

    packets: int | None
    low: int
    high: int | None
    chance: float
    least: int | None
    loss_decides: bool
    most: int | None
    figures: list[tuple[str, tuple[float, float, float]]]
    outside: list[str]

@final
class Predicted:
    """Predictions for a link with several buffers."""

    @property
    def packets(self) -> list[float]:
        """The buffers."""

    @property
    def means(self) -> list[list[float]]:
        """Logarithms for each buffer: idle share, loss, delay over a full buffer's time."""

    @property
    def errors(self) -> list[list[float]]:
        """Standard errors of the means."""

    @property
    def full_s(self) -> list[float]:
        """Seconds to send each full buffer."""

    def utilization(self, shift: float = 0.0) -> list[float]:
        """Returns the utilisation for an idle share `shift` standard errors too high."""

    def loss_rate(self, shift: float = 0.0) -> list[float]:
        """Returns the loss `shift` standard errors above the prediction."""

    def p99_delay_s(self, shift: float = 0.0) -> list[float]:
        """Returns the shifted 99th percentile of the queueing delay, at most a full buffer's."""

@final
class Surfaces:
    """A fitted table of calibrated theory, and its evaluation."""

    def __new__(cls, table: bytes) -> Self:
        """Reads a table from the bytes of an `.npz` file without compression.

        Raises:
            ValueError: if a part of the table is missing or has another shape.
        """

    @property
    def tails(self) -> list[tuple[float, float]]:
        """Standard errors below and above for the interval of a smallest buffer, by kind of link.

        The kinds are: hosts with the `rfc` profile on links on which utilisation decides, the same
        where loss decides, and both for other hosts.
        """

    @property
    def widths(self) -> tuple[float, float, float]:
        """Factors on the errors, by figure, with which 90 % intervals cover 90 %."""

    @property
    def theory_errors(self) -> tuple[float, float, float]:
        """Root mean square error of the published forms alone, for each figure."""

    def alone(self, member: int) -> Self:
        """Returns the table with one of its networks of the correction alone.

        Raises:
            IndexError: if it has no such network.
        """

    def at(self, link: Link, packets: Sequence[float]) -> Predicted:
        """Returns the prediction for a link with each buffer."""

    def outside(self, link: Link, packets: float) -> list[str]:
        """Returns the differences of the link from those of the study, a few words each.

        Args:
            link: the link.
            packets: the buffer near the answer.
        """

    def calibrated(self, link: Link) -> CalibratedAnswer | None:
        """Returns the answer for a link; None if the surfaces do not apply to its flows."""

    def least_if(self, link: Link, shift: float) -> int | None:
        """Returns the smallest buffer for utilisation and loss, both `shift` errors worse."""

    def chances_kept(self, link: Link, packets: Sequence[float]) -> list[tuple[str, list[float]]]:
        """Returns the probability that each buffer keeps each bound, with the figure's name."""

    def without(self, link: Link) -> dict[str, int]:
        """Returns the smallest buffer without one of the bounds, by figure."""

    def least_loss(self, link: Link) -> tuple[float, int]:
        """Returns the smallest expected loss with any buffer, and that buffer in packets."""

    def most_busy(self, link: Link) -> tuple[float, int]:
        """Returns the largest expected utilisation with any buffer, and that buffer in packets."""

def theory_groups(link: Link, packets: Sequence[float]) -> list[list[float]]:
    """Returns the dimensionless groups of a link with each buffer."""

def theory_forms(link: Link, packets: Sequence[float]) -> list[list[float]]:
    """Returns the logarithms of the published forms with each buffer: idle share, loss, delay."""

def full_delay_s(link: Link, packets: Sequence[float]) -> list[float]:
    """Returns the seconds to send each full buffer and the packet in transmission."""

def grid(last: int) -> list[int]:
    """Returns limits from 1 to at least `last`, a packet or 5 % apart; the last is a coarse one."""
