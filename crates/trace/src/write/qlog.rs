//! Logs of TCP senders in qlog, as JSON text sequences (RFC 7464).
//!
//! Names and fields are those of draft-ietf-quic-qlog-main-schema-14 and
//! draft-ietf-quic-qlog-quic-events-13. There is no schema for TCP, so a segment is a packet of one
//! number space, numbered as the flow sends them, and its bytes are a frame of stream 0.

use crate::write::TraceWriter;
use goodqueue_types::{
    Body, Direction, FlowId, Packet, PacketEvent, PacketEventKind, Segment, SegmentFlags,
    SenderMetrics, Span, Time,
};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Separator before each record.
const SEPARATOR: char = '\u{1e}';

/// Writer of the logs of one flow's client, or of all clients of TCP.
#[derive(Debug)]
pub struct Qlog<W> {
    out: W,
    only: Option<FlowId>,
    names: Vec<String>,
    flows: HashMap<FlowId, Sender>,
    /// The present record.
    record: String,
}

/// State of the log of one flow.
#[derive(Debug, Default)]
struct Sender {
    metrics: Option<SenderMetrics>,
    /// Segments that were sent and not acknowledged, of each connection.
    connections: HashMap<u32, Outstanding>,
}

/// Segments by their first sequence number: the number after their last, and the number of the packet
/// that carried them last.
type Outstanding = BTreeMap<u64, (u64, u64)>;

impl<W: Write> Qlog<W> {
    /// Creates the log of a run that is about to begin. `names` has the names of all flows.
    ///
    /// # Errors
    /// Returns an error if the head cannot be written.
    pub fn new(
        mut out: W,
        title: &str,
        names: &[String],
        only: Option<FlowId>,
    ) -> io::Result<Self> {
        let names: Vec<String> = names.iter().map(|name| json_text(name)).collect();
        let group = only.and_then(|flow| names.get(flow.0 as usize));
        let group = group.map_or_else(String::new, |name| format!("\"group_id\":{name},"));
        writeln!(
            out,
            "{SEPARATOR}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
             \"serialization_format\":\"application/qlog+json-seq\",\"title\":{},\
             \"trace\":{{\"common_fields\":{{{group}\"time_format\":\"relative_to_epoch\",\
             \"reference_time\":{{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}}}},\
             \"vantage_point\":{{\"name\":\"clients\",\"type\":\"client\"}},\
             \"event_schemas\":[\"urn:ietf:params:qlog:events:quic-13\"]}}}}",
            json_text(title)
        )?;
        Ok(Self {
            out,
            only,
            names,
            flows: HashMap::new(),
            record: String::new(),
        })
    }

    fn is_logged(&self, flow: FlowId) -> bool {
        self.only.is_none_or(|only| only == flow)
    }

    /// Begins a record with its time in milliseconds, its name and its group.
    fn begin(&mut self, time: Time, name: &str, flow: FlowId, connection: u32) {
        let record = &mut self.record;
        record.clear();
        record.push(SEPARATOR);
        record.push_str("{\"time\":");
        milliseconds(record, time - Time::ZERO);
        put(record, format_args!(",\"name\":\"quic:{name}\""));
        let group = self.names.get(flow.0 as usize);
        if let Some(group) = group.filter(|_| self.only.is_none() || connection > 0) {
            put(record, format_args!(",\"group_id\":{group}"));
            if connection > 0 {
                record.pop();
                put(record, format_args!(" {connection}\""));
            }
        }
        record.push_str(",\"data\":{");
    }

    fn end(&mut self) -> io::Result<()> {
        self.record.push_str("}}\n");
        self.out.write_all(self.record.as_bytes())
    }

    fn sent(&mut self, time: Time, packet: &Packet, segment: &Segment) -> io::Result<()> {
        let sender = self.flows.entry(packet.flow).or_default();
        let after_timeout = sender.metrics.is_some_and(|metrics| metrics.after_timeout);
        let (start, end) = (segment.seq, segment.end_seq());
        let mut lost = Vec::new();
        if end > start {
            let outstanding = sender.connections.entry(packet.connection).or_default();
            let again: Vec<u64> = outstanding.range(start..end).map(|(seq, _)| *seq).collect();
            for seq in again {
                lost.extend(outstanding.remove(&seq).map(|(_, number)| number));
            }
            outstanding.insert(start, (end, packet.number));
        }
        let trigger = if after_timeout {
            "pto_expired"
        } else {
            "reordering_threshold"
        };
        for number in lost {
            self.begin(time, "packet_lost", packet.flow, packet.connection);
            header(&mut self.record, number);
            put(&mut self.record, format_args!(",\"trigger\":\"{trigger}\""));
            self.end()?;
        }
        self.begin(time, "packet_sent", packet.flow, packet.connection);
        self.body(packet, segment, &[])
    }

    fn received(&mut self, time: Time, packet: &Packet, segment: &Segment) -> io::Result<()> {
        let sender = self.flows.entry(packet.flow).or_default();
        let mut acknowledged = Vec::new();
        if segment.flags.contains(SegmentFlags::ACK) {
            let outstanding = sender.connections.entry(packet.connection).or_default();
            while let Some(first) = outstanding.first_entry() {
                if first.get().0 > segment.ack {
                    break;
                }
                acknowledged.push(first.remove().1);
            }
            for (start, end) in segment.sack.ranges(segment.ack) {
                let within = outstanding.range(start..end.max(start));
                let within = within.filter(|(_, (last, _))| *last <= end);
                let within: Vec<u64> = within.map(|(seq, _)| *seq).collect();
                for seq in within {
                    acknowledged.extend(outstanding.remove(&seq).map(|(_, number)| number));
                }
            }
            if outstanding.is_empty() {
                sender.connections.remove(&packet.connection);
            }
            acknowledged.sort_unstable();
        }
        self.begin(time, "packet_received", packet.flow, packet.connection);
        self.body(packet, segment, &acknowledged)
    }

    /// Writes header, frames and sizes of a packet, and ends the record.
    fn body(&mut self, packet: &Packet, segment: &Segment, acks: &[u64]) -> io::Result<()> {
        let record = &mut self.record;
        header(record, packet.number);
        record.push_str(",\"frames\":[");
        let data = segment.payload > 0 || segment.flags.contains(SegmentFlags::FIN);
        if data {
            let fin = segment.flags.contains(SegmentFlags::FIN);
            put(
                record,
                format_args!(
                    "{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{},\"fin\":{fin},\
                     \"raw\":{{\"payload_length\":{}}}}}",
                    segment.seq.saturating_sub(1),
                    segment.payload
                ),
            );
        }
        if segment.flags.contains(SegmentFlags::ACK) {
            if data {
                record.push(',');
            }
            record.push_str("{\"frame_type\":\"ack\"");
            ranges(record, acks);
            record.push('}');
        }
        put(
            record,
            format_args!(
                "],\"raw\":{{\"length\":{},\"payload_length\":{}}}",
                packet.size, segment.payload
            ),
        );
        self.end()
    }
}

impl<W: Write> TraceWriter for Qlog<W> {
    fn wants(&self, event: &PacketEvent) -> bool {
        let PacketEvent { kind, packet, .. } = event;
        let here = match kind {
            PacketEventKind::Sent => packet.direction == Direction::Forward,
            PacketEventKind::Delivered => packet.direction == Direction::Reverse,
            _ => false,
        };
        here && self.is_logged(packet.flow) && matches!(packet.body, Body::Tcp(_))
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        let PacketEvent { time, kind, packet } = event;
        let Body::Tcp(segment) = &packet.body else {
            return Ok(());
        };
        if !self.wants(event) {
            return Ok(());
        }
        match kind {
            PacketEventKind::Sent => self.sent(*time, packet, segment),
            _ => self.received(*time, packet, segment),
        }
    }

    fn wants_metrics(&self) -> bool {
        true
    }

    fn metrics(&mut self, flow: FlowId, time: Time, metrics: &SenderMetrics) -> io::Result<()> {
        if !self.is_logged(flow) {
            return Ok(());
        }
        let sender = self.flows.entry(flow).or_default();
        let before = sender.metrics.replace(*metrics);
        let fields = changes(before.as_ref(), metrics);
        if fields.is_empty() {
            return Ok(());
        }
        self.begin(time, "recovery_metrics_updated", flow, 0);
        self.record.push_str(&fields);
        self.end()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the fields whose values differ from those before.
fn changes(before: Option<&SenderMetrics>, now: &SenderMetrics) -> String {
    let mut fields = String::new();
    let mut field = |name: &str, before: Option<Option<u64>>, now: Option<u64>, is_time: bool| {
        let Some(value) = now.filter(|_| before != Some(now)) else {
            return;
        };
        if !fields.is_empty() {
            fields.push(',');
        }
        put(&mut fields, format_args!("\"{name}\":"));
        if is_time {
            milliseconds(&mut fields, Span(value));
        } else {
            put(&mut fields, format_args!("{value}"));
        }
    };
    let span = |of: fn(&SenderMetrics) -> Option<Span>| {
        let value = |metrics: &SenderMetrics| of(metrics).map(|span| span.0);
        (before.map(value), value(now))
    };
    let count = |of: fn(&SenderMetrics) -> Option<u64>| (before.map(of), of(now));
    for (name, (before, now)) in [
        ("min_rtt", span(|metrics| metrics.min_rtt)),
        ("smoothed_rtt", span(|metrics| metrics.smoothed_rtt)),
        ("latest_rtt", span(|metrics| metrics.latest_rtt)),
        ("rtt_variance", span(|metrics| metrics.rtt_variance)),
    ] {
        field(name, before, now, true);
    }
    for (name, (before, now)) in [
        ("pto_count", count(|metrics| Some(metrics.timeouts.into()))),
        ("congestion_window", count(|metrics| Some(metrics.cwnd))),
        (
            "bytes_in_flight",
            count(|metrics| Some(metrics.bytes_in_flight)),
        ),
        ("ssthresh", count(|metrics| metrics.ssthresh)),
        (
            "packets_in_flight",
            count(|metrics| Some(metrics.packets_in_flight.into())),
        ),
        (
            "pacing_rate",
            count(|metrics| metrics.pacing_rate.map(|rate| rate.0)),
        ),
    ] {
        field(name, before, now, false);
    }
    fields
}

fn header(record: &mut String, number: u64) {
    put(
        record,
        format_args!("\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}}"),
    );
}

/// Writes the ranges of sorted packet numbers, if there are any.
fn ranges(record: &mut String, numbers: &[u64]) {
    let mut separator = ",\"acked_ranges\":[";
    for range in numbers.chunk_by(|one, next| *next == one + 1) {
        match range {
            [one] => put(record, format_args!("{separator}[{one}]")),
            [first, .., last] => put(record, format_args!("{separator}[{first},{last}]")),
            [] => continue,
        }
        separator = ",";
    }
    if !numbers.is_empty() {
        record.push(']');
    }
}

/// Writes a span in milliseconds, exactly, without zeros at the end.
fn milliseconds(record: &mut String, span: Span) {
    const PICOSECONDS: u64 = 1_000_000_000;
    put(record, format_args!("{}", span.0 / PICOSECONDS));
    let mut rest = span.0 % PICOSECONDS;
    if rest > 0 {
        let mut digits = 9;
        while rest.is_multiple_of(10) {
            rest /= 10;
            digits -= 1;
        }
        put(record, format_args!(".{rest:0digits$}"));
    }
}

/// Returns a text of JSON.
fn json_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                put(&mut quoted, format_args!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Appends to a text, which cannot fail.
fn put(record: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = record.write_fmt(text);
}

#[cfg(test)]
mod tests;
