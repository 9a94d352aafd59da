//! Upper bounds of workloads' packets on a link, and the packets that they offer.

use goodqueue_sim::{Law, SessionConfig, SourceConfig, TransfersConfig, WorkloadConfig};
use goodqueue_tcp::TcpConfig;
use goodqueue_types::Span;

/// Largest number of bytes that a link adds to a packet.
const FRAMING: u128 = 1_024;

/// Number of packets of a connection without data: its handshake and its end.
const HANDSHAKES: f64 = 8.0;

/// Packets, and their bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Amount {
    pub packets: u128,
    pub bytes: u128,
}

impl Amount {
    /// Adds another amount this many times.
    pub(crate) fn add(&mut self, other: Self, times: u128) {
        self.packets = (self.packets).saturating_add(other.packets.saturating_mul(times));
        self.bytes = (self.bytes).saturating_add(other.bytes.saturating_mul(times));
    }

    /// Returns the number of its packets that fit into `bytes` bytes, if large and small ones share
    /// them in proportion.
    pub(crate) fn within(self, bytes: u128) -> u128 {
        if self.bytes <= bytes {
            return self.packets;
        }
        (self.packets as f64 * (bytes as f64 / self.bytes as f64)) as u128
    }
}

/// Packets that a flow's hosts offer in a run, without acknowledgements.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    /// The network carries all of them.
    Endless,
    /// The network carries at most these, and may delay them.
    Waiting(Amount),
    /// These, whatever the network does.
    Regardless(Amount),
}

/// Returns the packets that a flow offers in a run of this duration, by the means of its laws.
pub(crate) fn offer(workload: &WorkloadConfig, duration: Span) -> Offer {
    let length = duration.as_secs_f64();
    let (tcp, session) = match workload {
        WorkloadConfig::Source(source) => return Offer::Regardless(of_source(source, length)),
        WorkloadConfig::Stream { tcp, stream } => {
            let once = |bytes: u64| Offer::Waiting(data(tcp, bytes as f64, 1.0, 1.0));
            return stream.bytes().map_or(Offer::Endless, once);
        }
        WorkloadConfig::Session { tcp, session } => (tcp, &**session),
        WorkloadConfig::Foreign(_) => return Offer::Endless,
    };
    let times = |pause: f64, most: Option<u64>| {
        let times = length / pause + 1.0;
        most.map_or(times, |most| times.min(most as f64))
    };
    match session {
        SessionConfig::Transfers(config) => {
            let transfers = transfers(config, duration);
            Offer::Regardless(data(tcp, config.size.mean(), HANDSHAKES, transfers))
        }
        SessionConfig::Exchanges(config) => {
            let request = config.request.mean();
            let pieces = config.reply_per.map_or(1.0, |per| request / per as f64);
            let bytes = request + config.reply.mean() * pieces.max(1.0);
            let exchanges = times(config.pause.mean(), config.most);
            let both = data(tcp, bytes, 1.0, exchanges);
            if config.periodic {
                Offer::Regardless(both)
            } else if exchanges.is_finite() {
                Offer::Waiting(both)
            } else {
                Offer::Endless
            }
        }
        SessionConfig::Video(config) => {
            let highest = config.ladder.iter().max().map_or(0, |rate| rate.0);
            let segment = config.segment.as_secs_f64();
            let ahead = config.max_buffer.as_secs_f64() / segment;
            let bytes = highest as f64 * segment / 8.0;
            Offer::Waiting(data(tcp, bytes, 1.0, times(segment, config.most) + ahead))
        }
        SessionConfig::Responsiveness(_) => Offer::Endless,
        SessionConfig::Web(config) => {
            let objects = config.objects.mean();
            let bytes = config.main_size.mean() + objects * config.object_size.mean();
            let pages = times(config.think.mean(), config.most);
            if pages.is_finite() {
                Offer::Waiting(data(tcp, bytes, HANDSHAKES * (1.0 + objects), pages))
            } else {
                Offer::Endless
            }
        }
    }
}

/// Returns the number of transfers that a flow begins.
pub(crate) fn transfers(config: &TransfersConfig, duration: Span) -> f64 {
    let begun = duration.as_secs_f64() / config.interval.as_secs_f64() + 1.0;
    config.most.map_or(begun, |most| begun.min(most as f64))
}

/// Returns the segments of `bytes` bytes and `others` segments without data, this many times.
fn data(tcp: &TcpConfig, bytes: f64, others: f64, times: f64) -> Amount {
    let segments = libm::ceil(bytes / f64::from(tcp.mss)) + others;
    let bytes = bytes + segments * f64::from(tcp.header_bytes());
    Amount {
        packets: (segments * times) as u128,
        bytes: (bytes * times) as u128,
    }
}

/// Returns the datagrams of both hosts.
fn of_source(source: &SourceConfig, length: f64) -> Amount {
    let (at_once, _) = source.most_at_once();
    let share = match source {
        SourceConfig::OnOff { on, off, .. } => on_share(on, off),
        _ => 1.0,
    };
    // An echo request is answered.
    let copies = if matches!(source, SourceConfig::Ping { .. }) {
        2.0
    } else {
        1.0
    };
    let mut sum = Amount::default();
    for (interval, backward) in source.intervals().zip([false, true]) {
        let packets = (length * share / interval.as_secs_f64() + 1.0) * f64::from(at_once) * copies;
        let packets = packets as u128;
        let bytes = packets.saturating_mul(source.largest_packet(backward).into());
        sum.add(Amount { packets, bytes }, 1);
    }
    sum
}

/// Returns the share of the time that an on-off source is on.
fn on_share(on: &Law, off: &Law) -> f64 {
    let (on, off) = (on.mean(), off.mean());
    on / (on + off)
}

/// Returns an upper bound on the frame bytes of a flow that wait in the network at once.
pub(crate) fn most_waiting(workload: &WorkloadConfig, duration: Span) -> u128 {
    // A Poisson source does not reach twice the mean plus a thousand.
    let events = |interval: Span| 2 * u128::from(duration.0 / interval.0.max(1)) + 1_000;
    let datagrams = |interval: Span, bytes: u128| events(interval) * (bytes + FRAMING);
    let window = |tcp: &TcpConfig| {
        let mss = u128::from(tcp.mss);
        let window = tcp.receive_window.max(tcp.initial_window.bytes(tcp.mss));
        // Each segment counts twice: data, and as many retransmissions or ACKs.
        let segments = 2 * (u128::from(window) / mss + 1);
        segments * (mss + u128::from(tcp.header) + FRAMING)
    };
    match workload {
        WorkloadConfig::Stream { tcp, .. } if workload.is_bulk() => window(tcp),
        // Data travel in both directions.
        WorkloadConfig::Stream { tcp, .. } => 2 * window(tcp),
        WorkloadConfig::Session { tcp, session } => {
            let connections = match &**session {
                SessionConfig::Transfers(config) => events(config.interval),
                SessionConfig::Exchanges(_) | SessionConfig::Video(_) => 1,
                SessionConfig::Web(config) => 2 * u128::from(config.parallel),
                SessionConfig::Responsiveness(config) => {
                    u128::from(config.connections) + events(config.shortest_interval())
                }
            };
            connections * window(tcp)
        }
        WorkloadConfig::Source(source) => {
            let (packets, bytes) = source.most_at_once();
            let of_a_packet = |interval| datagrams(interval, u128::from(bytes));
            u128::from(packets) * source.intervals().map(of_a_packet).sum::<u128>()
        }
        // No file has one: they are put into the network afterwards.
        WorkloadConfig::Foreign(_) => 0,
    }
}

/// Returns the largest IP packet from client to server, or backward.
pub(crate) fn largest_packet(workload: &WorkloadConfig, backward: bool) -> u64 {
    match workload {
        WorkloadConfig::Stream { tcp, .. } if workload.is_bulk() => {
            let options = if tcp.option_bytes && tcp.recovery == goodqueue_tcp::Recovery::Sack {
                // This is the size of an ACK with all its SACK blocks.
                let room = if tcp.timestamps.is_some() { 3 } else { 4 };
                let blocks = u64::from(tcp.details.sack_blocks).min(room);
                8 * blocks + u64::from(tcp.details.sack_option_overhead)
            } else {
                0
            };
            if backward {
                (u64::from(tcp.header_bytes()) + options).max(1)
            } else {
                u64::from(tcp.header_bytes()) + u64::from(tcp.mss)
            }
        }
        // Data travel in both directions.
        WorkloadConfig::Session { tcp, .. } | WorkloadConfig::Stream { tcp, .. } => {
            u64::from(tcp.header_bytes()) + u64::from(tcp.mss)
        }
        WorkloadConfig::Source(source) => source.largest_packet(backward).into(),
        WorkloadConfig::Foreign(_) => 0xFFFF,
    }
}
