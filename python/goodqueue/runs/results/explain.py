"""The life of one flow in words: what happened to its packets and its sender, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Record = dict[str, Any]
Tone = Literal["plain", "loss", "mark", "turn"]

MAX_RECORDS = 100_000
"""Largest number of records that one call returns."""

LIMITS = {
    "nothing": "has nothing to send",
    "handshake": "waits for the handshake",
    "congestion": "is limited by its congestion window",
    "receiver_window": "is limited by the receiver's window",
    "application": "has sent everything that the application wrote",
}


@dataclass(frozen=True)
class Line:
    """A line of a flow's life.

    Attributes:
        time_s: simulated time, in seconds.
        place: the end of the flow or the link where it happened.
        text: the description of what happened.
        tone: `loss` for a drop or a timeout, `mark` for an ECN mark, `turn` for another change of
            the sender's course, and `plain` for the rest.
    """

    time_s: float
    place: str
    text: str
    tone: Tone = "plain"


def life_of(  # noqa: PLR0913
    scenario: _core.Scenario,
    flow: str,
    *,
    from_s: float = 0,
    to_s: float | None = None,
    most: int = MAX_RECORDS,
    watch: Callable[[float, int], None] | None = None,
) -> dict[str, Any]:
    """Runs a scenario and returns a part of the life of one flow.

    Args:
        scenario: the scenario.
        flow: name of the flow, or `name[k]` for flow `k` of a group, from 0.
        from_s: time of the first record, in simulated seconds.
        to_s: time of the last record, in simulated seconds; by default the end of the run.
        most: largest number of records; the first ones are kept.
        watch: called some times a second with the share of the run that is done, and 0.

    Returns:
        The keys that docs/explain.md describes; `records` are in order of time.

    Raises:
        ScenarioError: if there is no such flow; the message has the nearest name.
    """
    end = scenario.duration_s if to_s is None else to_s
    text = _core.explain(scenario, flow, from_s=from_s, to_s=end, most=most, watch=watch)
    life: dict[str, Any] = json.loads(text)
    return life


def lines_of(life: dict[str, Any]) -> list[Line]:
    """Returns the life of a flow as lines, in order of time."""
    return list(_Narrator(life).lines())


@dataclass
class _Stream:
    """Data of one direction of one connection, as far as the records show them.

    Attributes:
        expected: number of the first byte that the receiving end lacks; None if unknown.
        acknowledged: the last acknowledgement number that the receiving end sent.
        received_ack: the last acknowledgement number that reached the sending end.
        duplicates: number of ACKs in a row that acknowledged nothing new.
    """

    expected: int | None = None
    acknowledged: int | None = None
    received_ack: int | None = None
    duplicates: int = 0


@dataclass
class _Narrator:
    life: dict[str, Any]
    streams: dict[tuple[int, str], _Stream] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = ("sender", "receiver") if self.life["workload"] == "tcp" else ("client", "server")
        self.ends = {"forward": names, "reverse": names[::-1]}
        links = [*self.life["forward"], *self.life["reverse"]]
        self.links = {link["name"]: link for link in links}
        self.state: Record | None = self.life["before"]
        self.mss = self.life["mss_bytes"] or 1

    def lines(self) -> Iterator[Line]:
        records = list(_grouped(self.life["records"]))
        for place, record in enumerate(records):
            if record["event"] == "sender_state":
                joined = place > 0 and _is_cause(records[place - 1], record)
                if not joined:
                    yield from self._timer(record)
                continue
            line = self._packet_line(record)
            follows = records[place + 1] if place + 1 < len(records) else None
            if follows is not None and _is_cause(record, follows) and line is not None:
                turns, rest = self._change(follows)
                text = "; ".join([line.text, *rest])
                yield Line(line.time_s, line.place, text, line.tone)
                yield from turns
            elif line is not None:
                yield line

    def _packet_line(self, record: Record) -> Line | None:
        tell = {
            "sent": self._sent,
            "delivered": self._delivered,
            "dropped": self._dropped,
            "marked": self._marked,
            "service_started": self._transmitted,
        }.get(record["event"])
        return None if tell is None else tell(record)

    # Hosts

    def _sent(self, record: Record) -> Line:
        place = self.ends[record["direction"]][0]
        text = f"sends {_name(record)}"
        if record["content"] == "tcp":
            if record["payload_bytes"]:
                text += " again (a retransmission)" if record["is_retransmission"] else ""
            elif not record["flags"] or record["flags"] == ["ECE"]:
                text += self._meaning_of_ack(record)
            text += _sacked(record) + _echo(record)
        return Line(record["time_s"], place, text)

    def _meaning_of_ack(self, record: Record) -> str:
        back = self._opposite(record)
        ack, before = record["acknowledgement"], back.acknowledged
        back.acknowledged = ack
        back.expected = max(back.expected or 0, ack)
        if before == ack and record["sack"]:
            return f" again: data from {ack} on are missing"
        return ""

    def _delivered(self, record: Record) -> Line:
        place = self.ends[record["direction"]][1]
        text = f"receives {_name(record)}"
        if record["content"] == "tcp":
            text += self._received(record) if record["payload_bytes"] else ""
            if record["acknowledgement"] is not None and not record["payload_bytes"]:
                text += self._news_of_ack(record)
            text += _sacked(record) + _echo(record)
        if record["ecn"] == "ce":
            text += ", which is marked (CE)"
        return Line(record["time_s"], place, text)

    def _received(self, record: Record) -> str:
        stream = self._stream(record)
        first, end = record["sequence"], record["sequence"] + record["payload_bytes"]
        if stream.expected is None:
            return ""
        if first > stream.expected:
            return f", beyond a gap: data from {stream.expected} on are missing"
        if end <= stream.expected:
            return ", which it had already"
        stream.expected = end
        return ""

    def _news_of_ack(self, record: Record) -> str:
        back = self._opposite(record)
        ack, before = record["acknowledgement"], back.received_ack
        back.received_ack = ack
        if before is None or "SYN" in record["flags"]:
            return ""
        if ack > before:
            back.duplicates = 0
            return f": {_count(ack - before, 'new byte')}"
        back.duplicates += 1
        return f": nothing new (duplicate {back.duplicates})"

    # Links

    def _dropped(self, record: Record) -> Line:
        text = f"DROPS {_name(record)}{_after(record)}: {self._reason(record)}"
        return Line(record["time_s"], record["link"], text, "loss")

    def _marked(self, record: Record) -> Line:
        text = f"MARKS {_name(record)}{_after(record)} (CE): {self._reason(record)}"
        return Line(record["time_s"], record["link"], text, "mark")

    def _transmitted(self, record: Record) -> Line | None:
        if not record["waited_s"]:
            return None
        text = f"starts to transmit {_name(record)}{_after(record)}"
        return Line(record["time_s"], record["link"], text)

    def _reason(self, record: Record) -> str:
        link = self.links[record["link"]]
        queue, limit = link["queue"], link["limit_packets"]
        room = "its limit" if limit is None else f"its limit of {_count(limit, 'packet')}"
        return {
            "overlimit": f"the queue has reached {room}",
            "early": f"{queue} chose it at random, to signal congestion before the queue is full",
            "forced": f"{queue} is above its own upper threshold",
            "target_exceeded": f"{queue} signals congestion, because packets have waited longer "
            "than its target for a whole interval",
            "link_loss": "the link loses it, as the scenario's loss model or drop list says",
        }[record["drop_reason"]]

    # The sender's state

    def _timer(self, record: Record) -> Iterator[Line]:
        turns, rest = self._change(record)
        yield from turns
        if rest:
            text = "; ".join(rest)
            yield Line(record["time_s"], self.ends["forward"][0], text)

    def _change(self, now: Record) -> tuple[list[Line], list[str]]:
        """Returns the turns of the sender's course, and the other changes of its state."""
        before, self.state = self.state, now
        turns: list[Line] = []

        def turn(text: str, tone: Tone = "turn") -> None:
            turns.append(Line(now["time_s"], self.ends["forward"][0], text, tone))

        timed_out = now["timeouts"] > (before["timeouts"] if before else 0)
        if timed_out:
            after = _time(before["rto_s"]) if before else "its initial time"
            what = "what is outstanding counts as lost" if now["is_established"] else "no answer"
            turn(
                f"RETRANSMISSION TIMEOUT: no new data were acknowledged for {after}, so {what}; "
                f"{self._window(now)}; the next timeout comes after {_time(now['rto_s'])}",
                "loss",
            )
        elif before is not None:
            self._turns_of_recovery(before, now, turn)
        return turns, [] if timed_out else self._other_changes(before, now, is_turn=bool(turns))

    def _turns_of_recovery(self, before: Record, now: Record, turn: Callable[[str], None]) -> None:
        was, state = before["congestion_state"], now["congestion_state"]
        if now["fast_retransmits"] > before["fast_retransmits"]:
            turn(
                "FAST RECOVERY begins: ACKs show that data are missing, so they count as lost; "
                f"{self._window(now)}"
            )
        elif was in {"recovery", "loss"} and state in {"open", "disorder"}:
            turn(f"recovery ends; {self._window(now)}")
        elif now["ecn_reductions"] > before["ecn_reductions"] or (was != "cwr" and state == "cwr"):
            turn(f"reduces its window, because the receiver reports a mark; {self._window(now)}")
        if now["is_established"] and not before["is_established"]:
            turn(f"the connection is open; {self._window(now)}")

    def _other_changes(self, before: Record | None, now: Record, *, is_turn: bool) -> list[str]:
        texts = []
        if now["rtt_s"] is not None:
            texts.append(f"round trip {_time(now['rtt_s'])}, timeout after {_time(now['rto_s'])}")
        if before is None:
            return texts
        if now["lost_segments"] > before["lost_segments"]:
            more = now["lost_segments"] - before["lost_segments"]
            texts.append(f"{_count(more, 'more segment')} counted as lost")
        old, new = (self._segments(state["cwnd_bytes"]) for state in (before, now))
        if old != new and not is_turn:
            texts.append(f"window {old.split()[0]} → {new} ({_phase(now)})")
        if now["limited_by"] != before["limited_by"] and now["is_established"]:
            texts.append(LIMITS[now["limited_by"]])
        if texts:
            texts.append(f"{self._segments(now['in_flight_bytes'])} in flight")
        return texts

    def _window(self, state: Record) -> str:
        threshold = state["ssthresh_bytes"]
        text = f"window {self._segments(state['cwnd_bytes'])} ({_phase(state)})"
        if threshold is not None:
            text += f", slow-start threshold {self._segments(threshold)}"
        return text

    def _segments(self, count: int) -> str:
        text = f"{count / self.mss:.1f}".removesuffix(".0")
        return f"{text} segment" if text == "1" else f"{text} segments"

    def _stream(self, record: Record) -> _Stream:
        key = (record["connection"], record["direction"])
        return self.streams.setdefault(key, _Stream())

    def _opposite(self, record: Record) -> _Stream:
        other = "reverse" if record["direction"] == "forward" else "forward"
        return self.streams.setdefault((record["connection"], other), _Stream())


def _grouped(records: list[Record]) -> Iterator[Record]:
    """Leaves out records without a line, and joins those of adjoining data at one instant."""
    last: Record | None = None
    for record in records:
        if record["event"] == "arrived":
            continue
        if record["event"] == "service_started" and not record["waited_s"]:
            continue
        if last is not None and _adjoins(last, record):
            payload = last["payload_bytes"] + record["payload_bytes"]
            last = {**last, "payload_bytes": payload, "segments": last.get("segments", 1) + 1}
            continue
        if last is not None:
            yield last
        last = record
    if last is not None:
        yield last


ADJOINING = (
    "time_s",
    "event",
    "direction",
    "connection",
    "link",
    "drop_reason",
    "waited_s",
    "flags",
    "ecn",
    "is_retransmission",
)
"""Keys in which records of adjoining data must agree to share a line."""


def _adjoins(last: Record, record: Record) -> bool:
    return bool(
        record["event"] in {"sent", "dropped"}
        and record.get("payload_bytes")
        and last.get("payload_bytes")
        and all(last.get(key) == record.get(key) for key in ADJOINING)
        and last["sequence"] + last["payload_bytes"] == record["sequence"]
    )


def _is_cause(packet: Record, state: Record) -> bool:
    """Returns True if a state of the sender follows from this event of a packet."""
    return bool(
        state["event"] == "sender_state"
        and packet["event"] == "delivered"
        and packet["direction"] == "reverse"
        and packet["time_s"] == state["time_s"]
    )


def _name(record: Record) -> str:
    content = record["content"]
    if content != "tcp":
        return f"{content.replace('_', ' ')} {record['number']}"
    words = " ".join(flag for flag in record["flags"] if flag in {"SYN", "FIN", "RST"})
    ack = record["acknowledgement"]
    if record["flags"][:1] == ["SYN"]:
        return "SYN-ACK" if ack is not None else "SYN"
    if record["payload_bytes"]:
        first = record["sequence"]
        text = f"data {first}-{first + record['payload_bytes'] - 1}"
        if "segments" in record:
            text += f" in {record['segments']} segments"
    else:
        text = f"ACK {ack}"
    text = f"{text}, with {words}" if words else text
    return f"{text} of connection {record['connection']}" if record["connection"] else text


def _sacked(record: Record) -> str:
    """Returns the data that an ACK reports beyond its number."""
    ack = record["acknowledgement"]
    beyond = [f"{first}-{end - 1}" for first, end in record["sack"] if first >= ack]
    twice = [f"{first}-{end - 1}" for first, end in record["sack"] if first < ack]
    text = f"; reports {' and '.join(beyond)} as received (SACK)" if beyond else ""
    return text + (f"; reports {' and '.join(twice)} as received twice (SACK)" if twice else "")


def _echo(record: Record) -> str:
    if "SYN" in record["flags"]:
        return ""
    return "; reports a mark (ECE)" if "ECE" in record["flags"] else ""


def _after(record: Record) -> str:
    waited = record.get("waited_s")
    return f" after {_time(waited)} in the queue" if waited else ""


def _phase(state: Record) -> str:
    if state["congestion_state"] == "recovery":
        return "fast recovery"
    threshold = state["ssthresh_bytes"]
    is_slow_start = threshold is None or state["cwnd_bytes"] < threshold
    return "slow start" if is_slow_start else "congestion avoidance"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
