//! The life of one flow as JSON, for `goodqueue run --explain`. docs/explain.md describes the keys.

use crate::language::units::UnitError;
use crate::output::taps::find_flow;
use crate::scenario::Scenario;
use goodqueue_sim::{
    FlowConfig, Happening, Life, LifeProbe, LifeRange, Moment, Network, SenderState, SourceConfig,
    Turn, WorkloadConfig, run_probed,
};
use goodqueue_tcp::CaState;
use goodqueue_types::{
    Body, Direction, Ecn, FlowId, LinkId, Packet, PacketEventKind, Segment, SegmentFlags, Span,
    Time,
};
use serde_json::{Map, Value, json};

impl Scenario {
    /// Returns the flow that a text names: `name`, or `name[k]` for flow `k`, from 0, of a group. A
    /// group's own name stands for its first flow.
    ///
    /// # Errors
    /// Returns an error with the nearest name if there is no such flow.
    pub fn explained_flow(&self, network: &Network, text: &str) -> Result<FlowId, UnitError> {
        let indexed = text
            .strip_suffix(']')
            .and_then(|text| text.rsplit_once('['))
            .filter(|(_, index)| index.parse::<u32>().is_ok());
        let exact = find_flow(network, text);
        let other = match indexed {
            Some((group, "0")) => find_flow(network, group),
            _ => find_flow(network, &format!("{text}.0")),
        };
        let numbered = indexed.map(|(group, index)| format!("{group}.{index}"));
        let numbered = numbered.and_then(|name| find_flow(network, &name).ok());
        exact.or_else(|error| numbered.or(other.ok()).ok_or(error))
    }

    /// Runs the scenario and returns a part of the life of one flow as JSON. Returns none if `go_on`
    /// stopped the run.
    pub fn explain(
        &self,
        network: &Network,
        range: LifeRange,
        go_on: impl FnMut(Time) -> bool,
    ) -> Option<Value> {
        let (_, probe) = run_probed(network, LifeProbe::new(range), go_on)?;
        Some(life_json(self, network, range, &probe.finish()))
    }
}

fn life_json(scenario: &Scenario, network: &Network, range: LifeRange, life: &Life) -> Value {
    let flow = &network.flows[range.flow.0 as usize];
    let records = life.moments.iter().map(|moment| record(network, moment));
    let links = |route: &[LinkId]| -> Vec<Value> {
        let links = route.iter().map(|link| &network.links[link.0 as usize]);
        let links = links.map(|link| {
            json!({
                "name": link.name,
                "rate_bps": (!link.only_delays()).then_some(link.rate.0),
                "delay_s": link.delay.as_secs_f64(),
                "queue": link.queue.word().unwrap_or("custom"),
                "limit_packets": scenario.buffer(&link.name).ok().and_then(|limit| limit.packets),
            })
        });
        links.collect()
    };
    let turns = |turn: Turn| -> Vec<f64> {
        let times = life.turns.iter().filter(|(_, other)| *other == turn);
        times.map(|(time, _)| time.as_secs_f64()).collect()
    };
    json!({
        "title": scenario.title(),
        "seed": scenario.seed(),
        "flow": flow.name,
        "workload": workload_name(flow),
        "mss_bytes": mss(flow),
        "start_s": flow.start.as_secs_f64(),
        "end_s": network.end.as_secs_f64(),
        "forward": links(&flow.forward),
        "reverse": links(&flow.reverse),
        "turns": {
            "dropped": turns(Turn::Dropped),
            "marked": turns(Turn::Marked),
            "timeout": turns(Turn::Timeout),
            "fast_retransmit": turns(Turn::FastRetransmit),
        },
        "from_s": range.from.as_secs_f64(),
        "to_s": range.to.min(network.end).as_secs_f64(),
        "whole_before_s": life.whole_before.map(Time::as_secs_f64),
        "before": life.before.as_ref().map(state_json),
        "records": records.collect::<Vec<_>>(),
    })
}

/// Returns the kind of workload that decides how a life is told.
fn workload_name(flow: &FlowConfig) -> &'static str {
    match flow.workload {
        WorkloadConfig::Stream { .. } => "tcp",
        WorkloadConfig::Session { .. } => "session",
        WorkloadConfig::Source(SourceConfig::Ping { .. }) => "ping",
        WorkloadConfig::Source(_) | WorkloadConfig::Foreign(_) => "datagrams",
    }
}

fn mss(flow: &FlowConfig) -> Option<u32> {
    flow.workload.tcp().map(|tcp| tcp.mss)
}

fn record(network: &Network, moment: &Moment) -> Value {
    let mut keys = Map::new();
    keys.insert("time_s".to_owned(), json!(moment.time.as_secs_f64()));
    match &moment.what {
        Happening::Sender { state, rtt } => {
            keys.insert("event".to_owned(), json!("sender_state"));
            keys.insert("rtt_s".to_owned(), json!(rtt.map(Span::as_secs_f64)));
            if let Value::Object(state) = state_json(state) {
                keys.extend(state);
            }
        }
        Happening::Packet {
            kind,
            packet,
            waited,
            again,
        } => {
            event(&mut keys, network, *kind);
            if *kind == PacketEventKind::Sent {
                keys.insert("is_retransmission".to_owned(), json!(again));
            }
            if let Some(waited) = waited {
                keys.insert("waited_s".to_owned(), json!(waited.as_secs_f64()));
            }
            packet_json(&mut keys, packet);
        }
    }
    Value::Object(keys)
}

fn event(keys: &mut Map<String, Value>, network: &Network, kind: PacketEventKind) {
    let (name, link, reason) = match kind {
        PacketEventKind::Sent => ("sent", None, None),
        PacketEventKind::Arrived(link) => ("arrived", Some(link), None),
        PacketEventKind::Dropped(link, reason) => ("dropped", Some(link), Some(reason)),
        PacketEventKind::Marked(link, reason) => ("marked", Some(link), Some(reason)),
        PacketEventKind::ServiceStarted(link, _) => ("service_started", Some(link), None),
        PacketEventKind::Delivered => ("delivered", None, None),
    };
    keys.insert("event".to_owned(), json!(name));
    if let Some(link) = link {
        let name = &network.links[link.0 as usize].name;
        keys.insert("link".to_owned(), json!(name));
    }
    if let Some(reason) = reason {
        keys.insert("drop_reason".to_owned(), json!(reason.name()));
    }
}

fn packet_json(keys: &mut Map<String, Value>, packet: &Packet) {
    let direction = match packet.direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    };
    let ecn = match packet.ecn {
        Ecn::NotCapable => "not-ect",
        Ecn::Capable0 => "ect0",
        Ecn::Capable1 => "ect1",
        Ecn::Experienced => "ce",
    };
    for (key, value) in [
        ("direction", json!(direction)),
        ("number", json!(packet.number)),
        ("size_bytes", json!(packet.size)),
        ("ecn", json!(ecn)),
    ] {
        keys.insert(key.to_owned(), value);
    }
    match &packet.body {
        Body::Tcp(segment) => segment_json(keys, packet, segment),
        Body::EchoRequest => drop(keys.insert("content".to_owned(), json!("ping"))),
        Body::EchoReply { .. } => drop(keys.insert("content".to_owned(), json!("ping_reply"))),
        Body::Datagram => drop(keys.insert("content".to_owned(), json!("datagram"))),
    }
}

fn segment_json(keys: &mut Map<String, Value>, packet: &Packet, segment: &Segment) {
    let flags = [
        (SegmentFlags::SYN, "SYN"),
        (SegmentFlags::FIN, "FIN"),
        (SegmentFlags::RST, "RST"),
        (SegmentFlags::ECE, "ECE"),
        (SegmentFlags::CWR, "CWR"),
    ];
    let flags = flags
        .iter()
        .filter(|(flag, _)| segment.flags.contains(*flag));
    let flags: Vec<&str> = flags.map(|(_, name)| *name).collect();
    let has_ack = segment.flags.contains(SegmentFlags::ACK);
    let sack: Vec<(u64, u64)> = segment.sack.ranges(segment.ack).collect();
    for (key, value) in [
        ("content", json!("tcp")),
        ("connection", json!(packet.connection)),
        ("flags", json!(flags)),
        ("sequence", json!(segment.seq)),
        ("payload_bytes", json!(segment.payload)),
        ("acknowledgement", json!(has_ack.then_some(segment.ack))),
        ("sack", json!(sack)),
        ("window_bytes", json!(segment.window)),
    ] {
        keys.insert(key.to_owned(), value);
    }
}

fn state_json(state: &SenderState) -> Value {
    let congestion = match state.congestion {
        CaState::Open => "open",
        CaState::Disorder => "disorder",
        CaState::Cwr => "cwr",
        CaState::Recovery => "recovery",
        CaState::Loss => "loss",
    };
    json!({
        "is_established": state.is_established,
        "congestion_state": congestion,
        "cwnd_bytes": state.cwnd,
        "ssthresh_bytes": state.ssthresh,
        "outstanding_bytes": state.outstanding,
        "in_flight_bytes": state.in_flight,
        "srtt_s": state.srtt.map(Span::as_secs_f64),
        "rto_s": state.rto.as_secs_f64(),
        "pacing_rate_bps": state.pacing_rate.map(|rate| rate.0),
        "limited_by": state.limited.name(),
        "lost_segments": state.lost,
        "timeouts": state.timeouts,
        "fast_retransmits": state.fast_retransmits,
        "ecn_reductions": state.ecn_reductions,
    })
}
