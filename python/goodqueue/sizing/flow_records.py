"""The traffic of a link from flow records of NetFlow or IPFIX, as nfdump prints them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from os import PathLike

LONG_PACKETS = 100
"""Packets from which on a flow is long, as in the analysis of captures (`persistent_segments`)."""

SAMPLED = 10
"""Sampled packets that a flow needs for its size to be known within a third (1/sqrt(10))."""


@dataclass(frozen=True, slots=True)
class LongFlows:
    """Flows that are long by one threshold.

    Attributes:
        least_packets: packets from which on a flow is long.
        flows: number of these flows.
        bytes: their bytes, as IP packets.
        mean: mean number at a time.
        low: number that is not exceeded in 5 % of the time.
        high: number that is not exceeded in 95 % of the time.
    """

    least_packets: int
    flows: int
    bytes: int
    mean: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class FlowRecords:
    """The traffic of a link by its flow records.

    Attributes:
        records: number of records.
        damaged: number of parts of the file that are no records.
        span_s: time from the first packet to the last, in seconds.
        sampling: packets of the link for each packet that the records count.
        long: flows of TCP and QUIC with at least 100 packets, or as many as sampling shows.
        fewer: the same with half of this threshold.
        more: the same with twice this threshold.
        short_flows: number of shorter flows of TCP and QUIC.
        short_bytes: their bytes.
        tcp_bytes: bytes of data over TCP.
        quic_bytes: bytes of data over QUIC (UDP with port 443).
        udp_bytes: bytes of other datagrams.
        total_bytes: bytes of all records.
        sizes: payload of flows in bytes, and the share of flows that have no more.
    """

    records: int
    damaged: int
    span_s: float
    sampling: int
    long: LongFlows
    fewer: LongFlows
    more: LongFlows
    short_flows: int
    short_bytes: int
    tcp_bytes: int
    quic_bytes: int
    udp_bytes: int
    total_bytes: int
    sizes: tuple[tuple[int, float], ...]

    @property
    def flows(self) -> int:
        """Number of long flows at a time, as a rule for buffer sizes needs it."""
        return max(1, round(self.long.mean))

    @property
    def long_share(self) -> float:
        """Share of the bytes that long flows carry."""
        return self.long.bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def udp_share(self) -> float:
        """Share of the bytes that datagrams other than QUIC carry."""
        return self.udp_bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def short_per_s(self) -> float:
        """Short flows that begin in a second."""
        return self.short_flows / self.span_s if self.span_s > 0 else 0.0

    def notes(self) -> tuple[str, ...]:
        """Returns sentences about the flows and the uncertainty of their number."""
        ends = sorted((self.fewer.mean, self.more.mean))
        long = self.long
        notes = [
            (
                f"flow records of {self.span_s:.4g} s: {long.mean:.3g} long flows at a time "
                f"(90 % of the time {long.low} to {long.high}), of {long.least_packets} packets or "
                f"more; {ends[0]:.3g} to {ends[1]:.3g} with half and twice this threshold"
            ),
            (
                f"long flows carry {self.long_share:.1%} of the bytes, datagrams other than QUIC "
                f"{self.udp_share:.1%}; {self.short_per_s:.3g} shorter flows begin in a second"
            ),
        ]
        if self.sampling > 1:
            notes.append(
                f"one of {self.sampling} packets was sampled: most flows below "
                f"{self.long.least_packets} packets were not seen, so the number of short flows is "
                "a lower bound"
            )
        if self.damaged:
            notes.append(f"{self.damaged} parts of the file are no flow records")
        return tuple(notes)

    def sizes_csv(self) -> str:
        """Returns the distribution of sizes as the law `empirical` of a scenario reads it."""
        rows = "".join(f"{size},{share:.9g}\n" for size, share in self.sizes)
        return f"size_B,share\n{rows}"

    def as_dict(self) -> dict[str, object]:
        """Returns all figures, for JSON."""
        from dataclasses import asdict

        derived = ("flows", "long_share", "udp_share", "short_per_s")
        return {**asdict(self), **{name: getattr(self, name) for name in derived}}


def read_flow_records(file: str | PathLike[str], sampling: int = 1) -> FlowRecords:
    """Returns the traffic of flow records.

    Args:
        file: output of `nfdump -o csv` or `nfdump -o json`, of one direction of the link.
        sampling: packets of the link for each packet that the records count.

    Raises:
        RequestError: if the file cannot be read, or the sampling is no positive number.
        ScenarioError: if it has no flow records.
    """
    if not 1 <= sampling <= 1_000_000:
        raise RequestError(f"--sampling {sampling}: write a number from 1 to 1000000")
    least = max(LONG_PACKETS, SAMPLED * sampling) if sampling > 1 else LONG_PACKETS
    try:
        read: dict[str, Any] = json.loads(
            _core.read_flow_records(str(file), Path(file), sampling, least)
        )
    except OSError as error:
        raise RequestError(f"{file}: cannot be read: {error.strerror}") from None
    fewer, long, more = (LongFlows(**one) for one in read["long"])
    groups = {name: read[name]["bytes"] for name in ("tcp", "quic", "udp", "other", "acks")}
    return FlowRecords(
        records=read["records"],
        damaged=read["damaged"],
        span_s=read["span_s"],
        sampling=sampling,
        long=long,
        fewer=fewer,
        more=more,
        short_flows=read["short"]["flows"],
        short_bytes=read["short"]["bytes"],
        tcp_bytes=groups["tcp"],
        quic_bytes=groups["quic"],
        udp_bytes=groups["udp"],
        total_bytes=sum(groups.values()),
        sizes=tuple((size, share) for size, share in read["sizes"]),
    )
