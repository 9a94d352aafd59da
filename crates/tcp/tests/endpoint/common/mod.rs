//! A small exact network for tests: two endpoints, and a chain of store-and-forward links in each
//! direction.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod cases;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use goodqueue_tcp::{TcpConfig, TcpEndpoint};
use goodqueue_types::{Bytes, Ecn, Rate, SackBlocks, Segment, SegmentFlags, Span, Time};

/// A unidirectional link with room for `limit` waiting packets besides the one in service.
#[derive(Clone, Debug)]
pub struct Hop {
    pub rate: Rate,
    pub delay: Span,
    pub framing: u64,
    pub limit: usize,
    free_at: Time,
    /// Times at which the service of each waiting packet begins.
    starts: VecDeque<Time>,
    pub drops: u64,
    pub arrivals: u64,
}

impl Hop {
    pub fn new(bits_per_second: u64, delay: Span, framing: u64) -> Self {
        Self {
            rate: Rate(bits_per_second),
            delay,
            framing,
            limit: usize::MAX,
            free_at: Time::ZERO,
            starts: VecDeque::new(),
            drops: 0,
            arrivals: 0,
        }
    }

    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the time at which a packet handed over at `now` arrives at the far end, or none if
    /// it is dropped.
    fn carry(&mut self, now: Time, ip_bytes: u32) -> Option<Time> {
        self.arrivals += 1;
        while self.starts.front().is_some_and(|start| *start <= now) {
            self.starts.pop_front();
        }
        if self.starts.len() >= self.limit {
            self.drops += 1;
            return None;
        }
        let start = self.free_at.max(now);
        if start > now {
            self.starts.push_back(start);
        }
        let bytes = Bytes(u64::from(ip_bytes) + self.framing);
        self.free_at = start + self.rate.transmission_time(bytes);
        Some(self.free_at + self.delay)
    }
}

/// A segment at the time when it was handed to its host's link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    pub time: Time,
    pub from: usize,
    pub segment: Segment,
}

enum Event {
    Arrive {
        to: usize,
        hop: usize,
        segment: Segment,
        mark: Ecn,
    },
    Timer(usize),
    Ping,
}

/// Echo requests from host 0, answered by host 1, on the same links.
#[derive(Clone, Copy, Debug)]
pub struct Ping {
    pub start: Time,
    pub interval: Span,
    pub ip_bytes: u16,
}

/// Function that returns the extra delays of the copies of a packet to deliver, by its host and its
/// index among all packets of that host.
pub type Fate = Box<dyn FnMut(usize, u64, &Segment) -> Vec<Span>>;

/// Function that returns true if a queue marks a packet instead of dropping it.
pub type Mark = Box<dyn FnMut(&Segment) -> bool>;

/// Two endpoints and the links between them.
pub struct Network {
    pub now: Time,
    pub hosts: [TcpEndpoint; 2],
    /// Links from host 0 to host 1, and in the other direction.
    pub hops: [Vec<Hop>; 2],
    /// Returns the extra delays of the copies to deliver of each packet that leaves its last link,
    /// or none if it is lost.
    pub fate: Fate,
    /// Decides if an ECN-capable packet is marked as it leaves.
    pub mark: Mark,
    pub log: Vec<Sent>,
    pub keep_log: bool,
    /// IP size of SYN and SYN-ACK, for other simulators that use other options.
    pub syn_bytes: Option<u16>,
    pub ping: Option<Ping>,
    /// Share of each piece of delivered data with which host 1 answers, at least one byte.
    pub echo: Option<f64>,
    /// Round-trip times of pings.
    pub ping_rtts: Vec<Span>,
    /// Round-trip times that host 0 measured.
    pub rtts: Vec<Span>,
    counts: [u64; 2],
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    events: std::collections::BTreeMap<u64, Event>,
    order: u64,
    armed: [Time; 2],
}

impl Network {
    pub fn new(config: &TcpConfig, forward: Vec<Hop>, backward: Vec<Hop>) -> Self {
        let config = Arc::new(config.clone());
        let mut hosts = [TcpEndpoint::new(config.clone()), TcpEndpoint::new(config)];
        hosts[1].listen();
        Self {
            now: Time::ZERO,
            hosts,
            hops: [forward, backward],
            fate: Box::new(|_, _, _| vec![Span::ZERO]),
            mark: Box::new(|_| false),
            log: Vec::new(),
            keep_log: true,
            syn_bytes: None,
            ping: None,
            echo: None,
            ping_rtts: Vec::new(),
            rtts: Vec::new(),
            counts: [0; 2],
            heap: BinaryHeap::new(),
            events: std::collections::BTreeMap::new(),
            order: 0,
            armed: [Time::MAX; 2],
        }
    }

    /// Loses the packets of host 0 with these indices (SYN: 0) at the end of the path.
    pub fn lose(&mut self, indices: &'static [u64]) {
        self.fate = Box::new(move |from, index, _| {
            if from == 0 && indices.contains(&index) {
                vec![]
            } else {
                vec![Span::ZERO]
            }
        });
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.heap.push(Reverse((time, self.order)));
        self.events.insert(self.order, event);
        self.order += 1;
    }

    /// Sends all segments of a host and sets its timer.
    pub fn flush(&mut self, host: usize) {
        while let Some(mut segment) = self.hosts[host].poll_transmit(self.now) {
            if let Some(bytes) = self.syn_bytes
                && segment.flags.contains(SegmentFlags::SYN)
            {
                segment.header = bytes;
            }
            let index = self.counts[host];
            self.counts[host] += 1;
            if self.keep_log {
                self.log.push(Sent {
                    time: self.now,
                    from: host,
                    segment,
                });
            }
            let delays = (self.fate)(host, index, &segment);
            let mut mark = self.hosts[host].transmit_ecn();
            if mark != Ecn::NotCapable && (self.mark)(&segment) {
                mark = Ecn::Experienced;
            }
            self.forward(host, 0, segment, mark, &delays);
        }
        let deadline = self.hosts[host].poll_timeout().unwrap_or(Time::MAX);
        if deadline < self.armed[host] {
            self.armed[host] = deadline;
            self.schedule(deadline, Event::Timer(host));
        }
    }

    fn forward(&mut self, from: usize, hop: usize, segment: Segment, mark: Ecn, delays: &[Span]) {
        let Some(arrival) = self.hops[from][hop].carry(self.now, segment.ip_bytes()) else {
            return;
        };
        // The fate is decided at the first link, after its queue. Later links see copies late.
        if hop + 1 < self.hops[from].len() && delays.len() == 1 && delays[0] == Span::ZERO {
            self.schedule(
                arrival,
                Event::Arrive {
                    to: 1 - from,
                    hop: hop + 1,
                    segment,
                    mark,
                },
            );
            return;
        }
        if delays.is_empty() && hop + 1 < self.hops[from].len() {
            // The packet is lost at the far end, so it still takes capacity of the links before.
            self.schedule(
                arrival,
                Event::Arrive {
                    to: 1 - from,
                    hop: hop + 1,
                    segment: lost(segment),
                    mark,
                },
            );
            return;
        }
        for delay in delays {
            let hop = self.hops[from].len();
            self.schedule(
                arrival + *delay,
                Event::Arrive {
                    to: 1 - from,
                    hop,
                    segment,
                    mark,
                },
            );
        }
    }

    /// Runs until `end` or until no event is left.
    pub fn run_until(&mut self, end: Time) {
        if self.now == Time::ZERO
            && let Some(ping) = self.ping
        {
            self.schedule(ping.start, Event::Ping);
        }
        self.flush(0);
        self.flush(1);
        while let Some(Reverse((time, order))) = self.heap.peek().copied() {
            if time > end {
                break;
            }
            self.heap.pop();
            self.now = time;
            match self.events.remove(&order).expect("event") {
                Event::Arrive {
                    to,
                    hop,
                    segment,
                    mark,
                } if hop < self.hops[1 - to].len() => {
                    let fate = if is_lost(&segment) {
                        vec![]
                    } else {
                        vec![Span::ZERO]
                    };
                    self.forward(1 - to, hop, segment, mark, &fate);
                }
                Event::Arrive { to, segment, .. } if is_ping(&segment) => {
                    if to == 1 {
                        self.forward(1, 0, segment, Ecn::NotCapable, &[Span::ZERO]);
                    } else {
                        self.ping_rtts.push(time - Time(segment.seq));
                    }
                }
                Event::Arrive {
                    to, segment, mark, ..
                } => {
                    if !is_lost(&segment) {
                        let before = self.hosts[to].stats().delivered_bytes;
                        self.hosts[to].handle_packet(time, &segment, mark);
                        if to == 0 {
                            self.rtts.extend(self.hosts[0].take_rtt_sample());
                        }
                        self.flush(to);
                        let delivered = self.hosts[to].stats().delivered_bytes - before;
                        if let Some(share) = self.echo.filter(|_| to == 1 && delivered > 0) {
                            self.hosts[1].write(((delivered as f64 * share) as u64).max(1));
                            self.flush(1);
                        }
                    }
                }
                Event::Ping => {
                    let ping = self.ping.expect("a ping");
                    let echo = ping_segment(time, ping.ip_bytes);
                    self.forward(0, 0, echo, Ecn::NotCapable, &[Span::ZERO]);
                    self.schedule(time + ping.interval, Event::Ping);
                }
                Event::Timer(host) => {
                    self.armed[host] = Time::MAX;
                    if self.hosts[host]
                        .poll_timeout()
                        .is_some_and(|deadline| deadline <= time)
                    {
                        self.hosts[host].handle_timeout(time);
                    }
                    self.flush(host);
                }
            }
        }
    }

    /// Returns the data segments that host 0 sent, as (microseconds, first byte, true if sent
    /// before).
    pub fn data_sent(&self) -> Vec<(u64, u64, bool)> {
        let mut highest = 0;
        let data = self
            .log
            .iter()
            .filter(|sent| sent.from == 0 && sent.segment.payload > 0);
        data.map(|sent| {
            let again = sent.segment.seq < highest;
            highest = highest.max(sent.segment.end_seq());
            ((sent.time.0 + 500_000) / 1_000_000, sent.segment.seq, again)
        })
        .collect()
    }
}

fn lost(mut segment: Segment) -> Segment {
    segment.flags = segment.flags.with(SegmentFlags::RST);
    segment
}

fn ping_segment(time: Time, ip_bytes: u16) -> Segment {
    Segment {
        seq: time.0,
        ack: 0,
        window: 0,
        payload: 0,
        header: ip_bytes,
        flags: SegmentFlags::PSH,
        sack: SackBlocks::default(),
        ..Segment::default()
    }
}

fn is_ping(segment: &Segment) -> bool {
    segment.flags == SegmentFlags::PSH
}

fn is_lost(segment: &Segment) -> bool {
    segment.flags.contains(SegmentFlags::RST)
}

/// Returns a path of one link in each direction.
pub fn simple(config: &TcpConfig, bits_per_second: u64, delay: Span, limit: usize) -> Network {
    let hop = || vec![Hop::new(bits_per_second, delay, 0).with_limit(limit)];
    Network::new(config, hop(), hop())
}
