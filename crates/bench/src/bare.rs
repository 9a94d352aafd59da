//! A bare loop: the least work that simulates the flows of s1 to s4 packet by packet. Its speed is
//! the limit with which the benchmark compares the simulator's.
//!
//! It handles two events per data packet, and few for timers: the packet's arrival at the
//! bottleneck, and the arrival of its ACK at the reverse link. All else is done with the times that
//! it will have. Flows of one round-trip time share a line of packets. The senders are NewReno (RFC
//! 6582) with a minimum timeout of 200 ms and no delayed ACKs.
//!
//! It has no SACK, no statistics except two counters, no random numbers, no queue discipline except
//! drop tail, and no links without queues. A packet in a line takes 24 bytes.

use crate::cases::{Case, Dumbbell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time in nanoseconds.
type Nanos = u64;

const SECOND: f64 = 1e9;
const PACKET_BITS: f64 = 12_000.0;
const ACK_BITS: f64 = 320.0;
const ACCESS_BPS: f64 = 1e9;
const BOTTLENECK_DELAY: Nanos = 10_000_000;
const START_INTERVAL: Nanos = 10_000_000;
const MIN_TIMEOUT: Nanos = 200_000_000;
const FIRST_TIMEOUT: Nanos = 1_000_000_000;
const LONGEST_TIMEOUT: Nanos = 60_000_000_000;
const INITIAL_WINDOW: f64 = 2.0;
/// Receive window in packets, as in the scenarios. The receiver's map of packets has more bits.
const RECEIVE_WINDOW: u32 = 10_000;
const MAP_BITS: u32 = 1 << 14;
const NEVER: Nanos = Nanos::MAX;

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Data packets delivered to their receivers, retransmissions included.
    pub delivered: u64,
    /// Data packets dropped at the bottleneck.
    pub dropped: u64,
    /// Handled events.
    pub events: u64,
}

/// A packet that travels to the bottleneck, or an ACK that travels to the reverse link.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    at: Nanos,
    flow: u32,
    /// Number of a data packet, or the number that an ACK asks for.
    number: u32,
    /// Time at which the data packet was sent, in microseconds, for the sender's clock.
    sent_us: u32,
}

/// Packets of one class in the order of their arrivals, in a ring.
#[derive(Debug)]
struct Line {
    ring: Vec<Entry>,
    head: usize,
    length: usize,
}

impl Line {
    fn new() -> Self {
        Self {
            ring: vec![Entry::default(); 64],
            head: 0,
            length: 0,
        }
    }

    /// Puts a packet in line. Returns true if it is the head.
    fn push(&mut self, entry: Entry) -> bool {
        if self.length == self.ring.len() {
            self.ring.rotate_left(self.head);
            self.head = 0;
            self.ring.resize(2 * self.length, Entry::default());
        }
        let mask = self.ring.len() - 1;
        let mut at = self.length;
        // Hosts of a class send at their own speed, so a few packets may arrive before the last.
        while at > 0 {
            let before = self.ring[(self.head + at - 1) & mask];
            if before.at <= entry.at {
                break;
            }
            self.ring[(self.head + at) & mask] = before;
            at -= 1;
        }
        self.ring[(self.head + at) & mask] = entry;
        self.length += 1;
        at == 0
    }

    fn pop(&mut self) -> Entry {
        let entry = self.ring[self.head];
        self.head = (self.head + 1) & (self.ring.len() - 1);
        self.length -= 1;
        entry
    }

    fn next(&self) -> Nanos {
        if self.length > 0 {
            self.ring[self.head].at
        } else {
            NEVER
        }
    }
}

/// The next event of each line: a tree of the earlier of two.
#[derive(Debug)]
struct Earliest {
    /// Number of leaves, a power of two. The leaves are in the second half of `nodes`.
    leaves: usize,
    nodes: Vec<(Nanos, u32)>,
}

impl Earliest {
    fn new(lines: usize) -> Self {
        let leaves = lines.next_power_of_two();
        Self {
            leaves,
            nodes: vec![(NEVER, 0); 2 * leaves],
        }
    }

    fn set(&mut self, line: usize, at: Nanos) {
        let mut node = self.leaves + line;
        self.nodes[node] = (at, line as u32);
        while node > 1 {
            let (this, other) = (self.nodes[node], self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = if this.0 <= other.0 { this } else { other };
        }
    }

    fn first(&self) -> (Nanos, usize) {
        let (at, line) = self.nodes[1];
        (at, line as usize)
    }
}

/// A sender and its receiver.
#[derive(Debug)]
struct Flow {
    class: u32,
    // The sender.
    first_unacknowledged: u32,
    next: u32,
    /// Largest number ever sent, plus one.
    end: u32,
    recover: u32,
    duplicates: u32,
    recovers: bool,
    window: f64,
    threshold: f64,
    smoothed_rtt: f64,
    deviation: f64,
    timeout: Nanos,
    deadline: Nanos,
    /// Time of the flow's timer in the heap. Earlier ones there are out of date.
    armed: Nanos,
    /// Time at which the host's link is free.
    free_at: Nanos,
    // The receiver.
    expected: u32,
    /// Number of packets beyond the expected one.
    beyond: u32,
    map: Vec<u64>,
}

impl Flow {
    fn new(class: u32) -> Self {
        Self {
            class,
            first_unacknowledged: 0,
            next: 0,
            end: 0,
            recover: 0,
            duplicates: 0,
            recovers: false,
            window: INITIAL_WINDOW,
            threshold: f64::from(RECEIVE_WINDOW),
            smoothed_rtt: 0.0,
            deviation: 0.0,
            timeout: FIRST_TIMEOUT,
            deadline: NEVER,
            armed: NEVER,
            free_at: 0,
            expected: 0,
            beyond: 0,
            map: vec![0; MAP_BITS as usize / 64],
        }
    }

    /// Takes a data packet. Returns the number that the ACK asks for.
    fn receive(&mut self, number: u32) -> u32 {
        if number == self.expected {
            self.expected += 1;
            while self.beyond > 0 && self.take(self.expected) {
                self.expected += 1;
                self.beyond -= 1;
            }
        } else if number > self.expected {
            let bit = number % MAP_BITS;
            let word = &mut self.map[bit as usize / 64];
            self.beyond += u32::from(*word >> (bit % 64) & 1 == 0);
            *word |= 1 << (bit % 64);
        }
        self.expected
    }

    /// Returns whether a packet is in the map, and removes it.
    fn take(&mut self, number: u32) -> bool {
        let bit = number % MAP_BITS;
        let word = &mut self.map[bit as usize / 64];
        let mask = 1 << (bit % 64);
        let has = *word & mask != 0;
        *word &= !mask;
        has
    }

    /// Takes an ACK. Returns the number of a packet to retransmit at once.
    fn acknowledge(&mut self, number: u32, now: Nanos, sent_us: u32) -> Option<u32> {
        if number <= self.first_unacknowledged {
            let is_outstanding = self.first_unacknowledged < self.end;
            if number < self.first_unacknowledged || !is_outstanding {
                return None;
            }
            return self.duplicate();
        }
        self.measure((now / 1000) as u32 - sent_us);
        let newly = f64::from(number - self.first_unacknowledged);
        self.first_unacknowledged = number;
        self.next = self.next.max(number);
        self.deadline = if number == self.end {
            NEVER
        } else {
            now + self.timeout
        };
        if self.recovers {
            if number < self.recover {
                self.window = (self.window - newly).max(0.0) + 1.0;
                return Some(number);
            }
            self.recovers = false;
            let flight = f64::from(self.end - number);
            self.window = self.threshold.min(flight.max(1.0) + 1.0);
        } else if self.window < self.threshold {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
        self.duplicates = 0;
        None
    }

    fn duplicate(&mut self) -> Option<u32> {
        if self.recovers {
            self.window += 1.0;
            return None;
        }
        self.duplicates += 1;
        if self.duplicates != 3 || self.first_unacknowledged < self.recover {
            return None;
        }
        let flight = f64::from(self.end - self.first_unacknowledged);
        self.threshold = (flight / 2.0).max(2.0);
        self.window = self.threshold + 3.0;
        self.recovers = true;
        self.recover = self.end;
        Some(self.first_unacknowledged)
    }

    /// Takes a round-trip time in microseconds (RFC 6298).
    fn measure(&mut self, rtt_us: u32) {
        let rtt = f64::from(rtt_us);
        if self.smoothed_rtt > 0.0 {
            self.deviation += ((rtt - self.smoothed_rtt).abs() - self.deviation) / 4.0;
            self.smoothed_rtt += (rtt - self.smoothed_rtt) / 8.0;
        } else {
            self.smoothed_rtt = rtt;
            self.deviation = rtt / 2.0;
        }
        let timeout = (self.smoothed_rtt + 4.0 * self.deviation) * 1000.0;
        self.timeout = (timeout as Nanos).clamp(MIN_TIMEOUT, LONGEST_TIMEOUT);
    }

    /// Handles a timeout: the window closes, and the sender goes back to the first packet without
    /// an ACK.
    fn time_out(&mut self) {
        let flight = f64::from(self.end - self.first_unacknowledged);
        self.threshold = (flight / 2.0).max(2.0);
        self.window = 1.0;
        self.recover = self.end;
        self.recovers = false;
        self.duplicates = 0;
        self.next = self.first_unacknowledged;
        self.timeout = (2 * self.timeout).min(LONGEST_TIMEOUT);
        self.deadline = NEVER;
    }

    fn may_send(&self) -> bool {
        let window = (self.window as u32).min(RECEIVE_WINDOW);
        self.next - self.first_unacknowledged < window
    }
}

/// The whole network.
#[derive(Debug)]
struct Loop {
    flows: Vec<Flow>,
    lines: Vec<Line>,
    events: Earliest,
    /// Times at which flows start or their timers end.
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// One-way delay of an access link, by class.
    access: Vec<Nanos>,
    access_service: Nanos,
    service: Nanos,
    ack_service: Nanos,
    buffer: u64,
    free_at: Nanos,
    back_free_at: Nanos,
    outcome: Outcome,
}

/// Returns whether the bare loop runs a case.
pub fn runs(case: &Case) -> bool {
    case.dumbbell.is_some()
}

/// Runs a dumbbell for some simulated seconds.
pub fn run(of: &Dumbbell, seconds: f64) -> Outcome {
    let mut network = Loop::new(of);
    network.run((seconds * SECOND) as Nanos);
    network.outcome
}

impl Loop {
    fn new(of: &Dumbbell) -> Self {
        let classes = of.classes as usize;
        let access = (0..of.classes).map(|class| {
            let rtt = of.rtt_ms(class) * 1e6;
            ((rtt / 2.0 - BOTTLENECK_DELAY as f64) / 2.0) as Nanos
        });
        let mut network = Self {
            flows: (0..of.flows).map(|i| Flow::new(i % of.classes)).collect(),
            lines: (0..2 * classes).map(|_| Line::new()).collect(),
            events: Earliest::new(2 * classes + 1),
            timers: BinaryHeap::new(),
            access: access.collect(),
            access_service: (PACKET_BITS / ACCESS_BPS * SECOND) as Nanos,
            service: (PACKET_BITS / of.rate_bps() * SECOND) as Nanos,
            ack_service: (ACK_BITS / of.rate_bps() * SECOND) as Nanos,
            buffer: u64::from(of.buffer),
            free_at: 0,
            back_free_at: 0,
            outcome: Outcome::default(),
        };
        for flow in 0..of.flows {
            let start = START_INTERVAL * u64::from(flow);
            network.arm(flow, start);
        }
        network
    }

    fn run(&mut self, end: Nanos) {
        let classes = self.access.len();
        loop {
            let (now, line) = self.events.first();
            if now > end {
                return;
            }
            self.outcome.events += 1;
            if line < classes {
                self.data(line, now);
            } else if line < 2 * classes {
                self.ack(line, now);
            } else {
                self.wake(now);
            }
        }
    }

    /// Handles the arrival of a data packet at the bottleneck, and of its ACK as far as the link
    /// back.
    fn data(&mut self, line: usize, now: Nanos) {
        let entry = self.lines[line].pop();
        self.events.set(line, self.lines[line].next());
        let begin = self.free_at.max(now);
        if begin - now > (self.buffer - 1) * self.service {
            self.outcome.dropped += 1;
            return;
        }
        self.free_at = begin + self.service;
        self.outcome.delivered += 1;
        let access = self.access[line];
        let number = self.flows[entry.flow as usize].receive(entry.number);
        let at = self.free_at + BOTTLENECK_DELAY + self.access_service + 2 * access;
        let back = self.access.len() + line;
        if self.lines[back].push(Entry {
            at,
            number,
            ..entry
        }) {
            self.events.set(back, at);
        }
    }

    /// Handles the arrival of an ACK at the reverse link, and at its sender, which then sends the
    /// packets that its window allows.
    fn ack(&mut self, line: usize, now: Nanos) {
        let entry = self.lines[line].pop();
        self.events.set(line, self.lines[line].next());
        self.back_free_at = self.back_free_at.max(now) + self.ack_service;
        let access = self.access[line - self.access.len()];
        let now = self.back_free_at + BOTTLENECK_DELAY + access;
        let flow = &mut self.flows[entry.flow as usize];
        if flow.deadline < now {
            flow.time_out();
        }
        let again = flow.acknowledge(entry.number, now, entry.sent_us);
        if let Some(number) = again {
            self.transmit(entry.flow, number, now);
        }
        self.send(entry.flow, now);
        // A timer that is armed for an earlier time finds out the later deadline.
        let flow = &self.flows[entry.flow as usize];
        if flow.deadline < flow.armed {
            self.arm(entry.flow, flow.deadline);
        }
    }

    /// Sends what the window of a flow admits.
    fn send(&mut self, index: u32, now: Nanos) {
        while self.flows[index as usize].may_send() {
            let flow = &mut self.flows[index as usize];
            let number = flow.next;
            flow.next += 1;
            flow.end = flow.end.max(flow.next);
            self.transmit(index, number, now);
        }
    }

    fn transmit(&mut self, index: u32, number: u32, now: Nanos) {
        let flow = &mut self.flows[index as usize];
        if flow.deadline == NEVER {
            flow.deadline = now + flow.timeout;
        }
        flow.free_at = flow.free_at.max(now) + self.access_service;
        let line = flow.class as usize;
        let at = flow.free_at + self.access[line];
        let entry = Entry {
            at,
            flow: index,
            number,
            sent_us: (now / 1000) as u32,
        };
        if self.lines[line].push(entry) {
            self.events.set(line, at);
        }
    }

    /// Handles the start of a flow or the end of its timer.
    fn wake(&mut self, now: Nanos) {
        let Some(Reverse((at, index))) = self.timers.pop() else {
            unreachable!("only an armed timer wakes");
        };
        let flow = &mut self.flows[index as usize];
        if flow.armed == at {
            flow.armed = NEVER;
            let is_due = flow.deadline <= now;
            if is_due {
                flow.time_out();
            }
            if is_due || flow.end == 0 {
                self.send(index, now);
            }
            let deadline = self.flows[index as usize].deadline;
            if deadline != NEVER {
                self.arm(index, deadline);
            }
        }
        self.set_timer();
    }

    fn arm(&mut self, flow: u32, at: Nanos) {
        self.flows[flow as usize].armed = at;
        self.timers.push(Reverse((at, flow)));
        self.set_timer();
    }

    fn set_timer(&mut self) {
        let next = self.timers.peek();
        let next = next.map_or(NEVER, |Reverse((at, _))| *at);
        self.events.set(2 * self.access.len(), next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// Utilisation, the share of dropped packets and events per packet over the last three quarters
    /// of a case.
    fn measured(name: &str) -> (f64, f64, f64) {
        let case = cases::named(name).expect("a known case");
        let dumbbell = case.dumbbell.expect("peers run it");
        let seconds = f64::from(case.duration_s);
        let begin = run(&dumbbell, seconds / 4.0);
        let end = run(&dumbbell, seconds);
        let delivered = (end.delivered - begin.delivered) as f64;
        let dropped = (end.dropped - begin.dropped) as f64;
        let capacity = dumbbell.rate_bps() * seconds * 0.75 / PACKET_BITS;
        (
            delivered / capacity,
            dropped / (dropped + delivered),
            (end.events - begin.events) as f64 / delivered,
        )
    }

    /// htsim, whose TCP is NewReno without SACK too, loses 0.055 % of the packets of s3 and uses
    /// 0.9983 of the link. One flow alone is nearly deterministic.
    #[test]
    fn one_flow_loses_as_much_as_in_htsim() {
        let (utilization, loss, events) = measured("s3");
        assert!((utilization - 0.9983).abs() < 1e-3, "{utilization}");
        assert!((loss / 0.00055 - 1.0).abs() < 0.1, "{loss}");
        assert!((events - 2.0).abs() < 0.01, "{events}");
    }

    /// The link is full in htsim and in ns-2. They lose 1.28 % and 1.51 % of the packets of s1, and
    /// 1.72 % and 2.61 % of those of s2.
    #[test]
    fn many_flows_lose_as_much_as_in_other_simulators() {
        for (name, htsim, ns2) in [("s1", 0.0128, 0.0151), ("s2", 0.0172, 0.0261)] {
            let (utilization, loss, _) = measured(name);
            assert!(utilization > 0.995, "{name}: {utilization}");
            assert!((0.9 * htsim..1.1 * ns2).contains(&loss), "{name}: {loss}");
        }
    }

    #[test]
    fn a_line_keeps_the_order_of_arrivals() {
        let mut line = Line::new();
        let times = [5, 9, 7, 7, 1, 12];
        let heads = times.map(|at| {
            line.push(Entry {
                at,
                ..Entry::default()
            })
        });
        assert_eq!(heads, [true, false, false, false, true, false]);
        let mut out = Vec::new();
        while line.next() != NEVER {
            out.push(line.pop().at);
        }
        assert_eq!(out, [1, 5, 7, 7, 9, 12]);
    }
}
