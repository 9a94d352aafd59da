//! One direction of a TCP connection: the data of one sender, and the acknowledgements that it got.

use crate::Nanos;
use crate::crossing::{Arrival, Crossings, Missing};
use crate::flights::Flights;
use crate::history::{History, View};
use crate::loss::{LastLosses, Loss, Place};
use crate::opening::Opening;
use crate::rounds::{Judge, Rounds};
use crate::rtt::RoundTrips;
use crate::scoreboard::{Record, Scoreboard};
use crate::segment_size::SegmentSize;
use crate::sequence::Unwrap;
use crate::slow_start::FirstFlights;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::{Heading, TcpHeader};
use goodqueue_types::{Ecn, SegmentFlags};

/// Acknowledgements further ahead than this are of another connection, or none.
const FAR: u64 = 1 << 30;

/// What was counted of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Payload bytes, each once.
    pub bytes: u64,
    /// IP bytes, retransmissions included.
    pub ip_bytes: u64,
    /// The same with what the capture shows of the link's own headers.
    pub frame_bytes: u64,
    /// Segments that these make, super-segments taken apart.
    pub packets: u64,
    /// Segments with data as captured, super-segments whole.
    pub captured: u64,
    /// Bytes of their IP and TCP headers.
    pub header_bytes: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Recoveries that began with a fast retransmission.
    pub fast: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent again that had arrived.
    pub spurious: u64,
    /// Packets that came late by themselves.
    pub reordered: u64,
    /// Packets lost, by place.
    pub lost: [u64; Place::COUNT],
    /// Packets marked, by place: between the taps, before them.
    pub marked: [u64; Place::COUNT],
    /// Segments below full size, but for the last ones before a pause.
    pub small: u64,
}

/// A segment as it passed the first tapping point.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// When, in nanoseconds since the first packet of the capture.
    pub time: Nanos,
    pub tcp: &'a TcpHeader,
    /// Bytes of the IP packet as sent.
    pub ip_bytes: u32,
    /// The same with what the capture shows of the link's own headers.
    pub frame_bytes: u32,
    pub ecn: Ecn,
    pub heading: Heading,
}

/// What all flows share.
pub struct Shared<'a> {
    pub thresholds: &'a Thresholds,
    pub losses: &'a mut Vec<Loss>,
    /// How long packets take between the tapping points at present.
    pub usual: Option<Nanos>,
    /// Excess of round-trip times when something was lost.
    pub delays_at_loss: &'a mut Vec<Nanos>,
    pub two_taps: bool,
    /// Payload bytes newly acknowledged, selectively or not.
    pub delivered: u64,
    /// How long what was acknowledged had been on its way from the link, and when data waited there.
    pub since_link: Nanos,
    /// See above.
    pub waited: Option<Waited>,
    /// Segments of data that were seen behind the link first.
    pub backward: u64,
}

/// Data of a flow waited from `from` to `to` without a pause, of which the part to `known` is known.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    pub from: Nanos,
    pub known: Nanos,
    pub to: Nanos,
}

/// Losses, and delays at losses, kept: more are counted by their flows only.
pub const MOST_LOSSES: usize = 1 << 20;

impl Shared<'_> {
    fn lose(&mut self, loss: Loss) {
        if self.losses.len() < MOST_LOSSES {
            self.losses.push(loss);
        }
    }
}

/// One direction.
#[derive(Debug, Default)]
pub struct Half {
    /// Its number among all directions with data.
    pub id: Option<u32>,
    numbers: Unwrap,
    next: u64,
    una: u64,
    edge: u64,
    scoreboard: Scoreboard,
    history: History,
    /// From when to when its data waited last, by the link's clock.
    waiting: (Nanos, Nanos),
    pub rounds: Rounds,
    pub rtt: RoundTrips,
    first_flights: Option<Box<FirstFlights>>,
    /// All flights, as long as no acknowledgement was seen.
    pub flights: Option<Box<Flights>>,
    pub crossings: Crossings,
    /// Payload bytes seen behind the link in the measured direction, each time that they came.
    pub behind: u64,
    /// Whether it may be a direction that goes through the target link from the first tapping point
    /// to the second.
    pub may_cross: bool,
    pub counts: Counts,
    pub size: SegmentSize,
    pub heading: Heading,
    last_losses: LastLosses,
    /// A recovery goes on until this is acknowledged.
    recovery_end: u64,
    sacked_high: u64,
    duplicates: u32,
    pub first_data: Option<Nanos>,
    pub last_data: Nanos,
    pub last_ack: Nanos,
    /// Time in which the application gave nothing to send.
    pub application: Nanos,
    /// The last segment was below full size.
    last_small: bool,
    pub max_window: u64,
    pub finished: bool,
    /// Acknowledgements that it got.
    pub acks: u64,
    /// How it began, once it has data.
    pub opening: Option<Box<Opening>>,
}

impl Half {
    /// A segment of this direction passed the first tapping point.
    pub fn data(&mut self, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        let tcp = passed.tcp;
        let syn = tcp.flags.contains(SegmentFlags::SYN);
        if syn {
            if !self.numbers.has_begun() {
                self.next = self.numbers.position(tcp.seq.wrapping_add(1));
                (self.una, self.recovery_end) = (self.next, self.next);
            }
            return;
        }
        if let Some((_, echo)) = tcp.timestamps {
            self.rtt.stamp_echoed(passed.time, echo);
        }
        self.finished |= tcp.flags.contains(SegmentFlags::FIN);
        if tcp.payload == 0 {
            return;
        }
        if !self.numbers.has_begun() {
            self.next = self.numbers.position(tcp.seq);
            (self.una, self.recovery_end) = (self.next, self.next);
        }
        let start = self.numbers.peek(tcp.seq);
        let end = start + u64::from(tcp.payload);
        // A probe of a closed window or of an idle connection, or nothing that belongs here.
        if end <= self.next && tcp.payload <= 1 || start > self.next + FAR || end + FAR < self.next
        {
            return;
        }
        self.account(passed);
        let again = end <= self.next;
        let first_flights = self.first_flights.get_or_insert_default();
        if first_flights.add(passed.time, tcp.payload, again) {
            let least = shared.thresholds.slow_start_segments as usize;
            if let Some(whole) = first_flights.estimate(self.size.bytes(), least) {
                self.rtt.slow_start_told(whole);
            }
        }
        if self.acks == 0 {
            let segments = self.size.segments(tcp.payload);
            let following = shared.thresholds.following_share;
            let flights = self.flights.get_or_insert_default();
            flights.add(passed.time, segments, following);
        }
        shared.backward += u64::from(!again && self.crossings.came_backward(end));
        if shared.two_taps && self.may_cross {
            self.crossings.enter(start, end, passed.time, again);
        }
        if again {
            self.again(start, end, passed, shared);
        } else {
            self.new_data(start, end, passed, shared);
        }
        self.last_small = tcp.payload < self.size.bytes();
        self.last_data = passed.time;
    }

    fn account(&mut self, passed: &Passed<'_>) {
        let tcp = passed.tcp;
        self.size.seen(tcp.payload, tcp.timestamps.is_some());
        self.first_data.get_or_insert(passed.time);
        self.heading = passed.heading;
        let segments = u64::from(self.size.segments(tcp.payload));
        self.counts.packets += segments;
        self.counts.ip_bytes += u64::from(passed.ip_bytes);
        self.counts.captured += 1;
        self.counts.header_bytes += u64::from(passed.ip_bytes.saturating_sub(tcp.payload));
        self.counts.frame_bytes += u64::from(passed.frame_bytes);
        if passed.ecn == Ecn::Experienced {
            self.mark(Place::Upstream, passed.time, segments);
        }
    }

    /// Packets came marked.
    pub fn mark(&mut self, place: Place, time: Nanos, packets: u64) {
        self.counts.marked[place as usize] += packets;
        self.last_losses.note(place, time);
    }

    fn new_data(&mut self, start: u64, end: u64, passed: &Passed<'_>, shared: &Shared<'_>) {
        let time = passed.time;
        if start > self.next {
            self.scoreboard.push(Record::new(self.next, start, time, 0));
        }
        let rtt = self.rtt.smoothed().unwrap_or(0);
        let delay = self.rtt.sender_part_now();
        let view = self.history.at(time, delay);
        match self.idle(time) {
            Some(idle)
                if idle as f64 > shared.thresholds.idle_rtts * rtt as f64 && idle > 1_000_000 =>
            {
                let rest = (time - self.last_data).max(0);
                self.application = self.application.saturating_add(rest);
                self.rounds.interrupted();
            }
            _ => self.counts.small += u64::from(self.last_small),
        }
        let fresh = start.max(self.next);
        self.scoreboard.push(Record::new(fresh, end, time, 1));
        self.counts.bytes += end - fresh;
        self.next = self.numbers.position(end as u32);
        if let Some(view) = view {
            let judge = Judge {
                thresholds: shared.thresholds,
                mss: u64::from(self.size.bytes()),
                rtt,
                losses: &self.last_losses,
            };
            self.rounds.sent(time, end, view, &judge);
            let flight = end.saturating_sub(view.una);
            let mss = u64::from(self.size.bytes());
            self.opening
                .get_or_insert_default()
                .sent(view.una, flight, mss);
        }
    }

    /// One tapping point is behind the queue where data wait if more is lost before it than after.
    fn is_behind_queue(&self) -> bool {
        let lost = |place: Place| self.counts.lost[place as usize];
        lost(Place::Upstream) > lost(Place::Downstream) + lost(Place::Target)
    }

    /// How long the sender had known, when it sent this, that everything was acknowledged.
    fn idle(&mut self, time: Nanos) -> Option<Nanos> {
        let delay = self.rtt.sender_part_now();
        let view = self.history.at(time, delay)?;
        let rests = view.una >= self.next && self.counts.bytes > 0;
        rests.then_some(time - view.time - delay)
    }

    /// Bytes below the highest seen: a hole is filled, or something is sent again, which may be parts of
    /// several super-segments.
    fn again(&mut self, start: u64, end: u64, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        let known = start.max(self.una).min(end);
        let mut sent = 0;
        if known > start {
            // All of this is acknowledged.
            sent = u64::from(self.size.segments((known - start) as u32));
            self.counts.retransmissions += sent;
            self.counts.spurious += sent;
        }
        if known == end {
            return;
        }
        for place in self.scoreboard.stretch(known, end) {
            sent += self.record_again(place, passed, shared);
        }
        if sent > 0 {
            self.recover(start, passed.time, shared);
        }
    }

    /// The same of one record: how many segments were sent again, and did not just come late.
    fn record_again(&mut self, place: usize, passed: &Passed<'_>, shared: &mut Shared<'_>) -> u64 {
        let base = self.rtt.base().unwrap_or(Nanos::MAX);
        let record = self.scoreboard.at_mut(place);
        let segments = self.size.segments((record.end - record.start) as u32);
        let before = *record;
        record.copies += 1;
        if before.copies == 0 {
            record.time = passed.time;
            self.counts.bytes += before.end - before.start;
            let late = (shared.thresholds.reordering_s * 1e9) as Nanos;
            if passed.time - before.time < late.min(base / 4) {
                self.counts.reordered += u64::from(segments);
                return 0;
            }
            record.filled = true;
            self.lost(Place::Upstream, before.time, segments, shared);
            self.last_losses.note(Place::Upstream, passed.time);
        } else {
            record.last_stamp = passed.tcp.timestamps.map(|(value, _)| value);
            if before.dropped < before.copies {
                self.last_losses.note(Place::Downstream, passed.time);
            }
        }
        self.counts.retransmissions += u64::from(segments);
        u64::from(segments)
    }

    /// Packets turn out to have been lost.
    fn lost(&mut self, place: Place, time: Nanos, packets: u32, shared: &mut Shared<'_>) {
        self.counts.lost[place as usize] += u64::from(packets);
        self.rtt.behind_queue = self.is_behind_queue();
        shared.lose(Loss {
            time,
            flow: self.id,
            packets,
            place,
            wait: None,
        });
    }

    /// What kind of recovery a retransmission belongs to.
    fn recover(&mut self, start: u64, time: Nanos, shared: &mut Shared<'_>) {
        self.opening.get_or_insert_default().lost();
        let rtt = self.rtt.smoothed().unwrap_or(0);
        let silence = (shared.thresholds.timeout_s * 1e9) as Nanos;
        let evidence = self.sacked_high > start || self.duplicates >= 3;
        let silent = time - self.last_data >= silence.max(rtt) && !evidence;
        let new = start >= self.recovery_end;
        if silent {
            self.counts.timeouts += 1;
            self.rounds.interrupted();
        } else if new {
            self.counts.fast += 1;
            let delay = self.rtt.sender_part_now();
            let una = self
                .history
                .at(time, delay)
                .map_or(self.una, |view| view.una);
            self.rounds
                .recovery_began(self.next.saturating_sub(una), self.next);
            if let (Some(last), Some(base)) = (self.rtt.last(), self.rtt.by_pairs())
                && shared.delays_at_loss.len() < MOST_LOSSES
            {
                shared.delays_at_loss.push(last - base);
            }
        }
        if new || silent {
            self.recovery_end = self.next;
        }
    }

    /// The receiver acknowledged; `scale` is its window's, `seen` what it saw of the sender.
    pub fn acknowledged(&mut self, passed: &Passed<'_>, scale: u8, shared: &mut Shared<'_>) {
        let tcp = passed.tcp;
        if !self.numbers.has_begun() {
            self.next = self.numbers.position(tcp.ack);
            (self.una, self.recovery_end) = (self.next, self.next);
        }
        let ack = self.numbers.peek(tcp.ack);
        if ack > self.next + FAR || ack + FAR < self.una {
            return;
        }
        if ack > self.next {
            // The capture lacks what this acknowledges.
            self.next = self.numbers.position(tcp.ack);
        }
        self.acks += 1;
        self.flights = None;
        self.last_ack = passed.time;
        if let Some((value, _)) = tcp.timestamps {
            self.rtt.stamp_passed(passed.time, value);
        }
        if ack > self.una {
            self.count_ack(ack, tcp);
            self.advance(ack, passed, shared);
        } else if ack == self.una && tcp.payload == 0 && self.next > self.una {
            self.duplicates += 1;
            self.opening.get_or_insert_default().lost();
        }
        self.selective(ack, passed, shared);
        shared.since_link = self.rtt.receiver.0.unwrap_or(0);
        let window = u64::from(tcp.window) << scale.min(14);
        self.max_window = self.max_window.max(window);
        self.edge = self.edge.max(ack + window);
        let view = View {
            time: passed.time,
            una: self.una,
            edge: self.edge,
        };
        self.history.push(view, self.rtt.sender_part_now());
    }

    /// How many segments an acknowledgement without trouble stands for.
    fn count_ack(&mut self, ack: u64, tcp: &TcpHeader) {
        if self.duplicates > 0 || self.una < self.recovery_end || !tcp.sack().is_empty() {
            return;
        }
        let full = u64::from(self.size.bytes().max(1));
        if let Some(opening) = self.opening.as_deref_mut() {
            opening.acknowledged((ack - self.una + full / 2) / full, ack, full);
        }
    }

    fn advance(&mut self, ack: u64, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        // Karn: of what was seen once, and not selectively acknowledged before.
        if let Some(record) = self.scoreboard.get_mut(ack - 1)
            && record.is_sample()
            && !record.sacked
        {
            let (sent, waited) = (record.time, record.waited);
            self.rtt.sample(passed.time, passed.time - sent, waited);
            // Receivers hold back the acknowledgement of less than two segments (RFC 5681, section 4.2).
            if self.duplicates == 0 && ack - self.una >= 2 * u64::from(self.size.bytes()) {
                shared.waited = self.waited(sent, passed.time);
            }
        }
        let echo = passed.tcp.timestamps.map(|(_, echo)| echo);
        while let Some(record) = self.scoreboard.acknowledge(ack) {
            if !record.sacked {
                shared.delivered += record.end - record.start;
            }
            self.settle(&record, echo, shared);
        }
        self.una = ack;
        self.duplicates = 0;
    }

    /// One tapping point before the queue: what takes longer than the fastest to be acknowledged waited
    /// there, until as long before its acknowledgement as the fastest took.
    fn waited(&mut self, sent: Nanos, acknowledged: Nanos) -> Option<Waited> {
        let left = acknowledged - self.rtt.receiver.0?;
        let (from, until) = self.waiting;
        let begins = sent > until;
        let (from, known) = if begins { (sent, sent) } else { (from, until) };
        let to = left.max(known);
        self.waiting = (from, to);
        (to > known).then_some(Waited { from, known, to })
    }

    /// A record is done with: which of its copies were lost is known now.
    fn settle(&mut self, record: &Record, echo: Option<u32>, shared: &mut Shared<'_>) {
        let lost = record.copies.saturating_sub(1 + record.dropped);
        if lost == 0 {
            return;
        }
        let packets = self.size.segments((record.end - record.start) as u32);
        let all = packets.saturating_mul(lost);
        // Eifel (RFC 3522): a clock echoed that is older than the last copy's tells that an earlier
        // one arrived.
        let earlier = echo.zip(record.last_stamp);
        if earlier.is_some_and(|(echo, last)| echo.wrapping_sub(last).cast_signed() < 0) {
            self.counts.spurious += u64::from(packets);
            return;
        }
        self.lost(Place::Downstream, record.time, all, shared);
    }

    fn selective(&mut self, ack: u64, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        for (index, (left, right)) in passed.tcp.sack().iter().enumerate() {
            let (left, right) = (self.numbers.peek(*left), self.numbers.peek(*right));
            if right <= left || right > self.next {
                continue;
            }
            if right <= ack {
                // A duplicate (RFC 2883): what was sent again had arrived.
                if index == 0 {
                    self.duplicate_arrived();
                }
                continue;
            }
            self.sacked_high = self.sacked_high.max(right);
            let (newest, bytes) = self.scoreboard.sack(left, right);
            shared.delivered += bytes;
            if let Some(record) = newest
                && record.is_sample()
            {
                self.rtt
                    .sample(passed.time, passed.time - record.time, record.waited);
            }
        }
    }

    fn duplicate_arrived(&mut self) {
        let downstream = &mut self.counts.lost[Place::Downstream as usize];
        if *downstream > 0 {
            *downstream -= 1;
            self.counts.spurious += 1;
        }
    }

    /// A segment of this direction passed the second tapping point.
    pub fn crossed(&mut self, passed: &Passed<'_>, shared: &mut Shared<'_>) -> Option<Arrival> {
        let tcp = passed.tcp;
        if tcp.payload == 0 || !self.numbers.has_begun() {
            return None;
        }
        let start = self.numbers.peek(tcp.seq);
        let end = start + u64::from(tcp.payload);
        let mut crossings = std::mem::take(&mut self.crossings);
        let arrival = crossings.leave(start, end, passed.time, shared.usual, |missing| {
            self.dropped(&missing, shared);
        });
        self.crossings = crossings;
        if let Some(arrival) = arrival
            && let Some(record) = self.scoreboard.get_mut(arrival.start)
            && record.copies == 1
        {
            record.waited = Some(arrival.took);
        }
        arrival
    }

    fn dropped(&mut self, missing: &Missing, shared: &mut Shared<'_>) {
        let packets = self.size.segments((missing.end - missing.start) as u32);
        self.last_losses.note(Place::Target, missing.time);
        for place in self.scoreboard.stretch(missing.start, missing.end) {
            self.scoreboard.at_mut(place).dropped += 1;
        }
        self.lost(Place::Target, missing.time, packets, shared);
    }

    /// The end of what was seen: what can only be told now.
    pub fn close(&mut self, shared: &mut Shared<'_>) {
        while let Some(record) = self.scoreboard.acknowledge(u64::MAX) {
            self.settle(&record, None, shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_without_data_is_small() {
        assert!(
            std::mem::size_of::<Half>() <= 1152,
            "{}",
            std::mem::size_of::<Half>()
        );
    }
}
