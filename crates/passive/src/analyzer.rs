//! The analyzer: takes packets, keeps the table of connections, and produces flows.

use crate::Nanos;
use crate::connection::half::Half;
use crate::connection::plausible::{Held, Position};
use crate::connection::shared::{Passed, Shared};
use crate::connection::{Connection, Key};
use crate::flow::Flow;
use crate::link::target::{Passages, Series};
use crate::loss::Loss;
use crate::repeats::{Point, Repeats};
use crate::report::{Known, Report, Seen, Totals};
use crate::thresholds::Thresholds;
use goodqueue_trace::read::{Datagram, Heading, TcpHeader, Transport};
use goodqueue_types::SegmentFlags;
use std::collections::HashMap;

/// Largest number of connections that are followed at once. Above this number, idle connections are
/// assumed to be over.
const MAX_CONNECTIONS: usize = 1 << 16;
/// Largest number of flows that are listed. Further flows are only counted.
const MAX_FLOWS: usize = 1 << 20;
/// Time between searches for connections that are over, in nanoseconds of the capture.
const SWEEP: Nanos = 5_000_000_000;

/// Largest time from the first packet that is accepted, 3 years. Sums and differences of such times
/// fit into 64 bits; larger ones come from damaged files.
const FARTHEST: Nanos = 100_000_000_000_000_000;

/// Tapping point that saw a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tap {
    /// The only tapping point, or the one before the target link.
    First,
    /// The tapping point after the target link.
    Second,
}

/// Analyzer of packets, which it takes in order of time.
#[derive(Debug)]
pub struct Analyzer {
    thresholds: Thresholds,
    two_taps: bool,
    connections: HashMap<Key, Box<Connection>>,
    flows: Vec<Option<Flow>>,
    losses: Vec<Loss>,
    delays_at_loss: Vec<Nanos>,
    passages: Passages,
    series: Series,
    totals: Totals,
    /// Packets seen lately at each tapping point.
    repeats: [Repeats; 2],
    /// Bytes of frames by heading.
    headings: [u64; 3],
    start: Option<Nanos>,
    /// Earliest and latest time since the first packet.
    earliest: Nanos,
    last: Nanos,
    next_sweep: Nanos,
    resolution: Nanos,
}

impl Analyzer {
    /// Creates an analyzer that has seen no packets.
    pub fn new(thresholds: Thresholds, two_taps: bool) -> Self {
        Self {
            thresholds,
            two_taps,
            connections: HashMap::new(),
            flows: Vec::new(),
            losses: Vec::new(),
            delays_at_loss: Vec::new(),
            passages: Passages::default(),
            series: Series::default(),
            totals: Totals::default(),
            repeats: [Repeats::default(), Repeats::default()],
            headings: [0; 3],
            start: None,
            earliest: 0,
            last: 0,
            next_sweep: SWEEP,
            resolution: 1,
        }
    }

    /// Sets the resolution of the capture's times, in nanoseconds. No figure can be finer.
    pub fn set_resolution(&mut self, resolution: Nanos) {
        self.resolution = resolution;
    }

    /// Begins a stretch of the capture whose times cannot be compared with earlier ones. The
    /// connections so far are over.
    pub fn begin_stretch(&mut self) {
        self.conclude_those(|_| true);
    }

    /// Takes a packet that passed a tapping point at `time_ns`, on the capture's clock.
    pub fn packet(&mut self, tap: Tap, time_ns: i64, datagram: &Datagram) {
        let start = *self.start.get_or_insert(time_ns);
        let time = time_ns.saturating_sub(start).clamp(-FARTHEST, FARTHEST);
        self.earliest = self.earliest.min(time);
        self.last = self.last.max(time);
        if time >= self.next_sweep {
            self.sweep(self.last);
        }
        let (key, from) = Key::between(datagram.source, datagram.destination, datagram.protocol);
        if self.is_repeated(tap, time, &key, from, datagram) {
            self.totals.repeated += 1;
            return;
        }
        if tap == Tap::First {
            match datagram.transport {
                Transport::Tcp(_) => self.totals.tcp_packets += 1,
                Transport::Udp(_) => self.totals.udp_packets += 1,
                Transport::Other => self.totals.other_packets += 1,
            }
        }
        if let Transport::Tcp(tcp) = &datagram.transport
            && tap == Tap::First
            && let Some(old) = self.connections.get(&key)
            && old.is_over_by(tcp, time, from)
            && let Some(old) = self.connections.remove(&key)
        {
            self.conclude(key, *old);
        }
        if self.connections.len() >= MAX_CONNECTIONS && !self.connections.contains_key(&key) {
            self.make_room(time);
        }
        if tap == Tap::Second || self.follows(time, key, from, datagram) {
            self.follow(tap, time, key, from, datagram);
        }
    }

    /// Returns true if a packet was seen before at this tapping point.
    fn is_repeated(
        &mut self,
        tap: Tap,
        time: Nanos,
        key: &Key,
        from: usize,
        datagram: &Datagram,
    ) -> bool {
        let connection = self.connections.get_mut(key);
        let context = connection
            .as_ref()
            .map(|connection| connection.context(from, Point::from_datagram(datagram)));
        let context = context.unwrap_or_default();
        let repeats = &mut self.repeats[usize::from(tap == Tap::Second)];
        let mut again = repeats.seen(time, key, from, datagram, context);
        if let (Transport::Tcp(tcp), Some(connection), Tap::First) =
            (&datagram.transport, connection, tap)
        {
            again = again || connection.halves[from].is_copy(tcp, time, context);
            if tcp.payload > 0 || tcp.flags.contains(SegmentFlags::SYN) {
                connection.repeated(again);
            }
        }
        again
    }

    /// Returns true if a packet follows those of its connection before. Takes packets that were held
    /// and are believed now.
    fn follows(&mut self, time: Nanos, key: Key, from: usize, datagram: &Datagram) -> bool {
        let Transport::Tcp(tcp) = &datagram.transport else {
            return true;
        };
        let Some(connection) = self.connections.get_mut(&key) else {
            return true;
        };
        let position = connection.position(from, tcp);
        if position == Position::Within {
            if connection.held.is_some() {
                self.release(&key, from);
            }
            return true;
        }
        let held = &mut connection.held.get_or_insert_default()[from];
        let (believed, dropped) = held.add(time, datagram, tcp);
        self.totals.outside += dropped;
        let Some(believed) = believed else {
            return false;
        };
        if position == Position::Outside
            && let Some(old) = self.connections.remove(&key)
        {
            self.totals.resumed += 1;
            self.conclude(key, *old);
        }
        for packet in believed {
            self.follow(Tap::First, packet.time, key, from, &packet.datagram);
        }
        false
    }

    /// Takes the held packets that follow those before, and drops the others.
    fn release(&mut self, key: &Key, from: usize) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let Some(held) = &mut connection.held else {
            return;
        };
        for packet in held[from].take() {
            let Transport::Tcp(tcp) = &packet.datagram.transport else {
                continue;
            };
            let connection = self.connections.get(key);
            let position = connection.map(|connection| connection.position(from, tcp));
            if position == Some(Position::Within) {
                self.follow(Tap::First, packet.time, *key, from, &packet.datagram);
            } else {
                self.totals.outside += 1;
            }
        }
        if let Some(connection) = self.connections.get_mut(key)
            && connection
                .held
                .as_ref()
                .is_some_and(|held| held.iter().all(Held::is_empty))
        {
            connection.held = None;
        }
    }

    fn follow(&mut self, tap: Tap, time: Nanos, key: Key, from: usize, datagram: &Datagram) {
        let connection = self.connections.entry(key).or_insert_with(|| {
            self.totals.connections += 1;
            let forward = if tap == Tap::First { from } else { 1 - from };
            Box::new(Connection::new(time, self.two_taps.then_some(forward)))
        });
        let forward = connection.forward == Some(from);
        if let Transport::Tcp(tcp) = &datagram.transport {
            let passed = Passed {
                time,
                tcp,
                ip_bytes: datagram.ip_bytes,
                frame_bytes: datagram.frame_bytes,
                ecn: datagram.ecn,
                heading: datagram.heading,
                point: Point::from_datagram(datagram),
            };
            let known = self.losses.len();
            let mut acknowledged = (0, time, None);
            let mut shared = Shared {
                thresholds: &self.thresholds,
                losses: &mut self.losses,
                usual: self.passages.usual(),
                delays_at_loss: &mut self.delays_at_loss,
                two_taps: self.two_taps,
                delivered: 0,
                since_link: 0,
                waited: None,
                backward: 0,
            };
            match tap {
                Tap::First => {
                    number(&mut connection.halves[from], tcp, &mut self.flows);
                    connection.passed(from, &passed, &mut shared);
                    acknowledged = (shared.delivered, time - shared.since_link, shared.waited);
                    self.passages.backward += shared.backward;
                }
                Tap::Second => {
                    self.passages.seen_behind(time);
                    if forward {
                        self.passages.left(u64::from(datagram.frame_bytes));
                        connection.halves[from].behind += u64::from(tcp.payload);
                    }
                    if let Some(arrival) = connection.crossed(from, &passed, &mut shared) {
                        let bin = self.series.at(arrival.time);
                        bin.delay_sum += arrival.took as f64;
                        bin.delay_count += 1;
                        bin.delay_max = bin.delay_max.max(arrival.took);
                        self.passages.matched(&arrival);
                    }
                    for loss in &mut self.losses[known..] {
                        loss.wait = self.passages.took_at(loss.time);
                    }
                }
            }
            let way = index(connection.halves[1 - from].heading);
            let (delivered, left, waited) = acknowledged;
            if delivered > 0 {
                self.series.at(left).delivered[way] += delivered;
            }
            if let Some(waited) = waited {
                self.series.was_busy(&waited, way);
            }
        } else {
            connection.last = time;
            if forward && tap == Tap::Second {
                self.passages.left(u64::from(datagram.frame_bytes));
            }
        }
        self.count(tap, time, forward, datagram);
    }

    /// Counts the bytes of a packet that passed the link: after the link with two tapping points,
    /// at the only tapping point otherwise.
    fn count(&mut self, tap: Tap, time: Nanos, forward: bool, datagram: &Datagram) {
        let at_link = if self.two_taps {
            tap == Tap::Second && forward
        } else {
            true
        };
        if !at_link {
            return;
        }
        let heading = if self.two_taps {
            0
        } else {
            index(datagram.heading)
        };
        let bytes = u64::from(datagram.frame_bytes);
        self.headings[heading] += bytes;
        self.series.at(time).bytes[heading] += bytes;
    }

    /// Concludes connections that are over.
    fn sweep(&mut self, now: Nanos) {
        self.next_sweep = now + SWEEP;
        let idle = (self.thresholds.idle_s * 1e9) as Nanos;
        let closed = (self.thresholds.closed_s * 1e9) as Nanos;
        self.conclude_those(|connection| {
            let rest = now - connection.last;
            rest > idle || connection.closed && rest > closed
        });
    }

    /// Concludes connections without data, then idle ones, then all others, until the table has
    /// room.
    fn make_room(&mut self, now: Nanos) {
        let before = self.connections.len();
        self.conclude_those(|connection| connection.halves.iter().all(|half| half.id.is_none()));
        if self.connections.len() > MAX_CONNECTIONS / 2 {
            self.conclude_those(|connection| now - connection.last > 1_000_000_000);
        }
        if self.connections.len() > MAX_CONNECTIONS / 2 {
            self.conclude_those(|_| true);
        }
        self.totals.evicted += (before - self.connections.len()) as u64;
    }

    fn conclude_those(&mut self, over: impl Fn(&Connection) -> bool) {
        let mut over: Vec<_> = self
            .connections
            .extract_if(|_, connection| over(connection))
            .collect();
        // The order of the hash table differs between processes, so the connections are sorted.
        over.sort_unstable_by_key(|(key, _)| *key);
        for (key, connection) in over {
            self.conclude(key, *connection);
        }
    }

    fn conclude(&mut self, key: Key, connection: Connection) {
        let [low, high] = key.ends;
        let forward = connection.forward;
        if let Some(held) = &connection.held {
            self.totals.outside += held.iter().map(|held| held.len() as u64).sum::<u64>();
        }
        for (from, mut half) in connection.halves.into_iter().enumerate() {
            let mut shared = Shared {
                thresholds: &self.thresholds,
                losses: &mut self.losses,
                usual: None,
                delays_at_loss: &mut self.delays_at_loss,
                two_taps: self.two_taps,
                delivered: 0,
                since_link: 0,
                waited: None,
                backward: 0,
            };
            half.close(&mut shared);
            let Some(id) = half.id else {
                self.totals.unlisted += u64::from(half.first_data.is_some());
                continue;
            };
            let ends = if from == 0 { [low, high] } else { [high, low] };
            let crosses = forward == Some(from) && self.passages.may_hold(&half);
            let flow = Flow::from_half(half, ends, crosses, &self.thresholds);
            self.flows[id as usize] = Some(flow);
        }
    }

    /// Concludes all connections and returns the report. `drops` is a log of drops at the target
    /// link, in seconds on the capture's clock.
    pub fn finish(
        mut self,
        link_rate_bps: Option<u64>,
        drops: Option<&[f64]>,
        seed: u64,
    ) -> Report {
        self.conclude_those(|_| true);
        if !self.two_taps {
            self.turn();
        }
        let start = self.start.unwrap_or(0);
        let heading = self.heading_of_most();
        let flows = self.flows.into_iter().flatten().collect();
        let since = |time: &f64| ((time * 1e9).round() as Nanos).saturating_sub(start);
        let log = drops.map(|times| times.iter().map(since).collect());
        Report::from_seen(
            Seen {
                flows,
                losses: self.losses,
                delays_at_loss: self.delays_at_loss,
                passages: self.passages,
                series: self.series,
                totals: self.totals,
                heading,
                two_taps: self.two_taps,
                duration: self.last - self.earliest,
                start,
                resolution: self.resolution,
            },
            &Known {
                link_rate_bps,
                drops: log,
                seed,
            },
            &self.thresholds,
        )
    }

    fn heading_of_most(&self) -> usize {
        (0..3)
            .max_by_key(|heading| self.headings[*heading])
            .unwrap_or(0)
    }

    /// Sets the direction of each flow: the heading with most bytes is the measured direction. If
    /// the capture shows no headings, all flows have that direction.
    fn turn(&mut self) {
        let most = self.heading_of_most();
        for flow in self.flows.iter_mut().flatten() {
            flow.forward = index(flow.heading) == most;
        }
    }
}

fn index(heading: Heading) -> usize {
    match heading {
        Heading::Unknown => 0,
        Heading::In => 1,
        Heading::Out => 2,
    }
}

/// Gives a direction its number when its first data are seen, if the list has room.
fn number(half: &mut Half, tcp: &TcpHeader, flows: &mut Vec<Option<Flow>>) {
    if half.id.is_none() && tcp.payload > 0 && flows.len() < MAX_FLOWS {
        half.id = Some(flows.len() as u32);
        flows.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::Ecn;

    #[test]
    fn a_direction_that_does_not_fit_into_the_list_is_counted_once() {
        let mut analyzer = Analyzer::new(Thresholds::default(), false);
        for number in 0..3 {
            let mut tcp = TcpHeader::default();
            (tcp.seq, tcp.flags, tcp.payload) = (number * 1000, SegmentFlags::ACK, 1000);
            let datagram = Datagram {
                source: ([10, 0, 0, 1], 5000).into(),
                destination: ([10, 0, 0, 2], 80).into(),
                protocol: 6,
                ecn: Ecn::NotCapable,
                id: None,
                ip_bytes: 1040,
                frame_bytes: 1040,
                heading: Heading::Unknown,
                interface: 0,
                cut: false,
                transport: Transport::Tcp(tcp),
            };
            analyzer.packet(Tap::First, i64::from(number), &datagram);
            // This simulates a full list of flows.
            analyzer.flows.clear();
            for connection in analyzer.connections.values_mut() {
                connection.halves.iter_mut().for_each(|half| half.id = None);
            }
        }
        assert_eq!(analyzer.finish(None, None, 1).totals.unlisted, 1);
    }
}
