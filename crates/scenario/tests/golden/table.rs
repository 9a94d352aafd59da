//! The text of one golden table. Columns have fixed widths, so that a changed value changes only
//! its own line.

use goodqueue_sim::{Distribution, FlowOutcome, LinkOutcome, Network, Outcome};
use goodqueue_types::{
    Body, Direction, DropReason, Ecn, Packet, PacketEvent, PacketEventKind, Segment, SegmentFlags,
    Span, Time,
};
use std::fmt::Write;

/// Start of the first line of every table.
pub const TITLE: &str = "Golden table of ";

/// Number of packet events from the start of the run.
const FIRST_EVENTS: usize = 100;
/// Number of packet events of one flow from its first drop or mark on.
const LOSS_EVENTS: usize = 30;
/// Number of instants at which congestion windows are read.
const INSTANTS: u64 = 25;
/// Number of TCP flows whose congestion windows are read.
const WINDOWS: usize = 3;
/// Number of flows that have rows of their own. The rest are added up.
const FLOWS: usize = 6;
/// Number of links that have rows of their own.
const LINKS: usize = 4;

/// Returns the table of a network's first seconds, without warm-up.
pub fn from_network(network: &Network, file: &str, seconds: u64) -> String {
    let mut network = network.clone();
    network.end = network.end.min(Time::ZERO + Span::from_secs(seconds));
    network.warmup = Time::ZERO;
    network.record.series = true;
    network.record.packets = true;
    let outcome = goodqueue_sim::run(&network);
    let end = network.end.as_secs_f64();
    let mut text = format!("{TITLE}{file}: the first {end} s. Renewed by `make golden`.\n");
    totals(&mut text, &outcome);
    for link in outcome.links.iter().take(LINKS) {
        link_figures(&mut text, link);
    }
    for flow in outcome.flows.iter().take(FLOWS) {
        flow_figures(&mut text, flow);
    }
    other_flows(&mut text, &outcome.flows);
    windows(&mut text, &network, &outcome);
    events(&mut text, &network, outcome.packets);
    text
}

fn totals(text: &mut String, outcome: &Outcome) {
    let totals = &outcome.totals;
    text.push_str("\nPackets in the whole run\n");
    for (name, value) in [
        ("sent", totals.sent),
        ("duplicated", totals.duplicated),
        ("delivered", totals.delivered),
        ("dropped", totals.dropped),
        ("queued at the end", totals.queued),
        ("in flight at the end", totals.in_flight),
    ] {
        row(text, name, &value.to_string());
    }
}

fn link_figures(text: &mut String, link: &LinkOutcome) {
    let _ = writeln!(text, "\nLink {}", link.name);
    row(text, "utilization", &number(Some(link.utilization)));
    row(text, "arrivals", &link.arrivals.to_string());
    row(text, "departures", &link.departures.to_string());
    for reason in DropReason::ALL {
        let counts = [link.drops_by, link.marks_by].map(|by| by[reason as usize]);
        for (name, count) in ["drops", "marks"].into_iter().zip(counts) {
            if count > 0 {
                row(
                    text,
                    &format!("{name}_{}", reason.name()),
                    &count.to_string(),
                );
            }
        }
    }
    distribution(text, "queueing_delay_s", &link.queueing_delay_s);
    distribution(text, "backlog_packets", &link.backlog_packets);
}

fn flow_figures(text: &mut String, flow: &FlowOutcome) {
    let _ = writeln!(text, "\nFlow {}", flow.name);
    row(text, "goodput_bps", &number(Some(flow.goodput_bps)));
    let packets = [flow.packets_sent, flow.packets_received, flow.packets_lost];
    row(text, "packets sent, received, lost", &list(&packets));
    let again = [flow.retransmissions, flow.timeouts];
    row(text, "retransmissions, timeouts", &list(&again));
    distribution(text, "rtt_s", &flow.rtt_s);
    if let Some(seconds) = flow.completion_time_s {
        row(text, "completion_time_s", &number(Some(seconds)));
    }
}

/// Adds up the flows without rows of their own.
fn other_flows(text: &mut String, flows: &[FlowOutcome]) {
    let others = flows.get(FLOWS..).unwrap_or_default();
    if others.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nThe other {} flows together", others.len());
    let goodput: f64 = others.iter().map(|flow| flow.goodput_bps).sum();
    row(text, "goodput_bps", &number(Some(goodput)));
    let sum = |count: fn(&FlowOutcome) -> u64| others.iter().map(count).sum::<u64>();
    let packets = [
        sum(|flow| flow.packets_sent),
        sum(|flow| flow.packets_received),
        sum(|flow| flow.packets_lost),
    ];
    row(text, "packets sent, received, lost", &list(&packets));
    let again = [sum(|flow| flow.retransmissions), sum(|flow| flow.timeouts)];
    row(text, "retransmissions, timeouts", &list(&again));
}

fn distribution(text: &mut String, name: &str, values: &Distribution) {
    let cells = [values.mean, values.p50, values.p99, values.max].map(number);
    row(
        text,
        &format!("{name} mean, p50, p99, max"),
        &cells.join("  "),
    );
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<42}{value}");
}

fn list(values: &[u64]) -> String {
    let cells: Vec<String> = values.iter().map(|value| format!("{value:<8}")).collect();
    cells.join("  ").trim_end().to_owned()
}

/// Returns a number with seven significant digits.
fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.6e}"))
}

/// Writes the windows of the first TCP flows in bytes at equally spaced instants.
fn windows(text: &mut String, network: &Network, outcome: &Outcome) {
    let rows = &outcome.series.windows;
    let mut flows: Vec<u32> = rows.iter().map(|row| row.0).collect();
    flows.dedup();
    for flow in flows.into_iter().take(WINDOWS) {
        let name = &network.flows[flow as usize].name;
        let _ = writeln!(text, "\nCongestion window of {name}, in bytes");
        let _ = writeln!(
            text,
            "  {:<12}{:<12}{:<12}in flight",
            "time_s", "cwnd", "ssthresh"
        );
        let own: Vec<_> = rows.iter().filter(|row| row.0 == flow).collect();
        for instant in 1..=INSTANTS {
            let time = Time(network.end.0 / INSTANTS * instant);
            let index = own.partition_point(|row| row.1 <= time);
            let Some((_, _, cwnd, ssthresh, in_flight)) = index.checked_sub(1).map(|i| own[i])
            else {
                continue;
            };
            let ssthresh = ssthresh.map_or("none".to_owned(), |bytes| bytes.to_string());
            let time = time.as_secs_f64();
            let _ = writeln!(text, "  {time:<12.6}{cwnd:<12}{ssthresh:<12}{in_flight}");
        }
    }
}

/// Writes the first packet events of the run, and those of one flow from its first loss on.
fn events(text: &mut String, network: &Network, mut events: Vec<PacketEvent>) {
    // The order of packets at one instant does not depend on how far the engine works ahead. A
    // delivery comes before what it causes. Events of one packet stay in their causal order,
    // because the sort is stable.
    events.sort_by_key(|event| {
        let packet = &event.packet;
        let is_sending = event.kind != PacketEventKind::Delivered;
        (
            event.time,
            packet.flow,
            is_sending,
            packet.direction,
            packet.number,
        )
    });
    let _ = writeln!(text, "\nThe first {FIRST_EVENTS} packet events");
    for event in events.iter().take(FIRST_EVENTS) {
        event_row(text, network, event);
    }
    let is_loss = |event: &&PacketEvent| {
        matches!(
            event.kind,
            PacketEventKind::Dropped(..) | PacketEventKind::Marked(..)
        )
    };
    let Some(first) = events.iter().skip(FIRST_EVENTS).find(is_loss) else {
        return;
    };
    let (flow, from) = (first.packet.flow, first.time);
    let _ = writeln!(
        text,
        "\n{LOSS_EVENTS} packet events of {} from a later drop or mark on",
        network.flows[flow.0 as usize].name
    );
    let later = events
        .iter()
        .filter(|event| event.packet.flow == flow && event.time >= from);
    for event in later.take(LOSS_EVENTS) {
        event_row(text, network, event);
    }
}

fn event_row(text: &mut String, network: &Network, event: &PacketEvent) {
    let link = |link: goodqueue_types::LinkId| network.links[link.0 as usize].name.as_str();
    let (what, place) = match event.kind {
        PacketEventKind::Sent => ("sent".to_owned(), ""),
        PacketEventKind::Arrived(at) => ("arrived".to_owned(), link(at)),
        PacketEventKind::Dropped(at, reason) => (format!("DROPPED {}", reason.name()), link(at)),
        PacketEventKind::Marked(at, reason) => (format!("MARKED {}", reason.name()), link(at)),
        PacketEventKind::ServiceStarted(at, _) => ("transmission begins".to_owned(), link(at)),
        PacketEventKind::Delivered => ("delivered".to_owned(), ""),
    };
    let packet = &event.packet;
    let arrow = match packet.direction {
        Direction::Forward => '>',
        Direction::Reverse => '<',
    };
    let nanoseconds = event.time.0 / 1000;
    let (s, ns) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let name = &network.flows[packet.flow.0 as usize].name;
    let words = format!(
        "{s}.{ns:09} {name} {arrow}{} {what} {place} {}",
        packet.number,
        content(packet)
    );
    let words: Vec<&str> = words.split_whitespace().collect();
    let _ = writeln!(text, "  {}", words.join(" "));
}

fn content(packet: &Packet) -> String {
    let body = match &packet.body {
        Body::Tcp(segment) => segment_text(segment),
        Body::Datagram => "datagram".to_owned(),
        Body::EchoRequest => "ping".to_owned(),
        Body::EchoReply { .. } => "ping reply".to_owned(),
    };
    let ecn = match packet.ecn {
        Ecn::NotCapable => "",
        Ecn::Capable0 => " ECT(0)",
        Ecn::Capable1 => " ECT(1)",
        Ecn::Experienced => " CE",
    };
    format!("{body} {} B{ecn}", packet.size)
}

fn segment_text(segment: &Segment) -> String {
    let mut text = String::new();
    for (flag, name) in [
        (SegmentFlags::SYN, "SYN "),
        (SegmentFlags::FIN, "FIN "),
        (SegmentFlags::RST, "RST "),
        (SegmentFlags::ECE, "ECE "),
        (SegmentFlags::CWR, "CWR "),
    ] {
        if segment.flags.contains(flag) {
            text.push_str(name);
        }
    }
    let _ = match segment.payload {
        0 => write!(text, "seq {}", segment.seq),
        _ => write!(text, "seq {}:{}", segment.seq, segment.end_seq()),
    };
    if segment.flags.contains(SegmentFlags::ACK) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    for (start, end) in segment.sack.ranges(segment.ack) {
        let _ = write!(text, " sack {start}:{end}");
    }
    text
}
