//! The life of one flow: every event of its packets, and its sender after each change.

use crate::engine::probe::Probe;
use crate::host::agent::Agent;
use goodqueue_queue::Backlog;
use goodqueue_tcp::{CaState, ConnectionState, Limited, TcpInfo, TcpStats};
use goodqueue_types::{
    Body, Direction, FlowId, LinkId, Packet, PacketEvent, PacketEventKind, Rate, Span, Time,
};
use std::collections::HashMap;

/// Largest number of turns that are kept. Later turns are not recorded.
const MAX_TURNS: usize = 1 << 20;

/// Part of a flow's life that a [`LifeProbe`] records.
#[derive(Clone, Copy, Debug)]
pub struct LifeRange {
    /// The flow.
    pub flow: FlowId,
    /// Time of the first moment that is recorded.
    pub from: Time,
    /// Time of the last moment that is recorded.
    pub to: Time,
    /// Largest number of recorded moments.
    pub most: usize,
}

/// State of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// True if the handshake is complete.
    pub is_established: bool,
    /// State of congestion.
    pub congestion: CaState,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes. None before the first loss if it starts unlimited.
    pub ssthresh: Option<u64>,
    /// Bytes that were sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// The sender's estimate of its bytes in the network. The window limits this.
    pub in_flight: u64,
    /// Smoothed round-trip time. None before the first sample.
    pub srtt: Option<Span>,
    /// Time after which the retransmission timer expires, backoff included.
    pub rto: Span,
    /// Pacing rate, if sending is paced.
    pub pacing_rate: Option<Rate>,
    /// Cause that limits the sender.
    pub limited: Limited,
    /// Number of segments that are marked lost and not sent again yet, if the sender keeps records.
    pub lost: u32,
    /// Number of expiries of the retransmission timer so far.
    pub timeouts: u64,
    /// Number of entries into fast recovery so far.
    pub fast_retransmits: u64,
    /// Number of reductions of the window for a mark so far.
    pub ecn_reductions: u64,
}

impl SenderState {
    fn new(info: &TcpInfo, stats: &TcpStats) -> Self {
        Self {
            is_established: info.state == ConnectionState::Established,
            congestion: info.ca_state,
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            outstanding: info.bytes_in_flight,
            in_flight: info.pipe,
            srtt: info.srtt,
            rto: info.rto,
            pacing_rate: info.pacing_rate,
            limited: info.limited,
            lost: info.lost,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
            ecn_reductions: stats.ecn_reductions,
        }
    }
}

/// Event at one moment of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// An event of one of the flow's packets.
    Packet {
        /// Kind of the event.
        kind: PacketEventKind,
        /// The packet.
        packet: Packet,
        /// Time that the packet had spent at the link when it was dropped, marked or transmitted.
        waited: Option<Span>,
        /// True if it is sent, and its first byte had been sent before.
        again: bool,
    },
    /// The sender received a packet or its timer fired, and is in this state now.
    Sender {
        /// State of the sender.
        state: SenderState,
        /// Round-trip time that the received packet completed, if any.
        rtt: Option<Span>,
    },
}

/// A moment of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Time of the moment.
    pub time: Time,
    /// Event of this moment.
    pub what: Happening,
}

/// Kind of a moment at which the course of a flow changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A packet was dropped.
    Dropped,
    /// A packet was marked.
    Marked,
    /// The retransmission timer expired.
    Timeout,
    /// The sender entered fast recovery.
    FastRetransmit,
}

/// Recorded part of a flow's life.
#[derive(Clone, Debug)]
pub struct Life {
    /// Moments in order of time. Moments of one instant are in causal order.
    pub moments: Vec<Moment>,
    /// Time before which all moments of the range are recorded. None if all are.
    pub whole_before: Option<Time>,
    /// State of the sender before the range, if it had one.
    pub before: Option<SenderState>,
    /// Turns in the whole run, in order of time. The probe keeps at most 2^20 times, the first ones
    /// that it records, and drops later ones without a notice.
    pub turns: Vec<(Time, Turn)>,
}

/// Probe that records the life of one flow within a range of time.
///
/// The numbers of its moments and turns are bounded. The rest of its memory grows with the flow's
/// packets in the network, and with its connections, because ended ones keep their entries.
#[derive(Debug)]
pub struct LifeProbe {
    range: LifeRange,
    moments: Vec<Moment>,
    whole_before: Option<Time>,
    state: Option<SenderState>,
    before: Option<SenderState>,
    turns: Vec<(Time, Turn)>,
    /// Time at which each packet in the network last arrived at a link.
    arrivals: HashMap<(Direction, u64), Time>,
    /// Sequence number after all data sent by each end of each connection.
    sent: HashMap<(Direction, u32), u64>,
}

impl LifeProbe {
    /// Creates a probe for a part of a flow's life.
    pub fn new(range: LifeRange) -> Self {
        Self {
            range,
            moments: Vec::new(),
            whole_before: None,
            state: None,
            before: None,
            turns: Vec::new(),
            arrivals: HashMap::new(),
            sent: HashMap::new(),
        }
    }

    /// Returns the recorded events and states.
    pub fn finish(mut self) -> Life {
        // The engine works ahead, so moments of different places are not in order of time.
        self.moments.sort_by_key(|moment| moment.time);
        self.turns.sort_by_key(|(time, _)| *time);
        if let Some(end) = self.whole_before {
            self.moments.retain(|moment| moment.time < end);
        }
        Life {
            moments: self.moments,
            whole_before: self.whole_before,
            before: self.before,
            turns: self.turns,
        }
    }

    fn note(&mut self, time: Time, what: Happening) {
        if time < self.range.from || time > self.range.to {
            return;
        }
        if self.moments.len() < self.range.most {
            self.moments.push(Moment { time, what });
        } else {
            let end = self.whole_before.get_or_insert(time);
            *end = time.min(*end);
        }
    }

    /// Notes the data of a packet that is sent. Returns true if their first byte had been sent
    /// before.
    fn is_sent_again(&mut self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else {
            return false;
        };
        let key = (packet.direction, packet.connection);
        let sent = self.sent.entry(key).or_insert(0);
        let again = segment.end_seq() > segment.seq && segment.seq < *sent;
        *sent = segment.end_seq().max(*sent);
        again
    }

    /// Keeps a turn, unless [`MAX_TURNS`] are kept already.
    fn turn(&mut self, time: Time, turn: Turn) {
        if self.turns.len() < MAX_TURNS {
            self.turns.push((time, turn));
        }
    }
}

impl Probe for LifeProbe {
    const ACTIVE: bool = true;

    fn packet(&mut self, event: PacketEvent) {
        let PacketEvent { time, kind, packet } = event;
        if packet.flow != self.range.flow {
            return;
        }
        let key = (packet.direction, packet.number);
        let waited = match kind {
            PacketEventKind::Arrived(_) => {
                self.arrivals.insert(key, time);
                None
            }
            PacketEventKind::Dropped(..) => {
                self.turn(time, Turn::Dropped);
                self.arrivals.remove(&key).map(|arrived| time - arrived)
            }
            PacketEventKind::Marked(..) => {
                self.turn(time, Turn::Marked);
                self.arrivals.get(&key).map(|arrived| time - *arrived)
            }
            PacketEventKind::ServiceStarted(_, waited) => Some(waited),
            PacketEventKind::Sent => None,
            PacketEventKind::Delivered => {
                self.arrivals.remove(&key);
                None
            }
        };
        let what = Happening::Packet {
            kind,
            packet,
            waited,
            again: kind == PacketEventKind::Sent && self.is_sent_again(&packet),
        };
        self.note(time, what);
    }

    fn backlog(&mut self, _: LinkId, _: Time, _: Backlog) {}

    fn agent(&mut self, flow: u32, time: Time, agent: &Agent, rtt: Option<Span>) {
        let behaviour = agent.behaviour();
        if flow != self.range.flow.0 {
            return;
        }
        let (Some(info), Some(counts)) = (behaviour.tcp_info(), behaviour.tcp_stats()) else {
            return;
        };
        let state = SenderState::new(&info, &counts);
        let last = self.state.replace(state);
        if time < self.range.from {
            self.before = Some(state);
        }
        if last == Some(state) && rtt.is_none() {
            return;
        }
        let (timeouts, fast) = last.map_or((0, 0), |last| (last.timeouts, last.fast_retransmits));
        if state.timeouts > timeouts {
            self.turn(time, Turn::Timeout);
        }
        if state.fast_retransmits > fast {
            self.turn(time, Turn::FastRetransmit);
        }
        self.note(time, Happening::Sender { state, rtt });
    }
}
