//! One direction of a TCP connection: the data of one sender, and the ACKs that it received.

mod position;

use crate::Nanos;
use crate::connection::counts::Counts;
use crate::connection::crossing::{Arrival, Crossings, Missing};
use crate::connection::history::{History, View};
use crate::connection::opening::Opening;
use crate::connection::rounds::{Judge, Rounds};
use crate::connection::scoreboard::{Record, Scoreboard};
use crate::connection::segment_size::SegmentSize;
use crate::connection::sequence::Unwrap;
use crate::connection::shared::{MAX_LOSSES, Passed, Shared, Waited};
use crate::loss::{LastLosses, Loss, Place};
use crate::repeats::Point;
use crate::rtt::RoundTrips;
use crate::rtt::flights::Flights;
use crate::rtt::slow_start::FirstFlights;
use goodqueue_trace::read::{Heading, TcpHeader};
use goodqueue_types::{Ecn, SegmentFlags};
use std::collections::VecDeque;

/// Distance in bytes above which an ACK belongs to another connection, or to none.
const FAR: u64 = 1 << 30;

/// Largest number of losses of a direction that can still be taken back.
const MAX_RECENT: usize = 64;

/// Numbers of the last losses of a direction.
#[derive(Debug, Default)]
struct RecentlyLost(VecDeque<u32>);

/// State of one direction.
#[derive(Debug, Default)]
pub struct Half {
    /// Number of the direction among all directions with data.
    pub id: Option<u32>,
    numbers: Unwrap,
    next: u64,
    una: u64,
    edge: u64,
    scoreboard: Scoreboard,
    history: History,
    /// Start and end of the last time in which data waited, by the link's clock.
    waiting: (Nanos, Nanos),
    pub rounds: Rounds,
    pub rtt: RoundTrips,
    first_flights: Option<Box<FirstFlights>>,
    /// All flights, until the first ACK is seen.
    pub flights: Option<Box<Flights>>,
    pub crossings: Crossings,
    /// Payload bytes seen behind the link in the measured direction, including repetitions.
    pub behind: u64,
    /// True if the direction may cross the target link from the first tapping point to the second.
    pub may_cross: bool,
    pub counts: Counts,
    pub size: SegmentSize,
    pub heading: Heading,
    /// Place at which the first data were captured.
    pub point: Option<Point>,
    last_losses: LastLosses,
    /// Numbers of the last losses behind the tapping point.
    recently_lost: Option<Box<RecentlyLost>>,
    /// Sequence position whose acknowledgement ends the recovery.
    recovery_end: u64,
    sacked_high: u64,
    duplicates: u32,
    pub first_data: Option<Nanos>,
    pub last_data: Nanos,
    pub last_ack: Nanos,
    /// Time in which the application provided no data.
    pub application: Nanos,
    /// True if the last segment was below full size.
    last_small: bool,
    pub max_window: u64,
    pub finished: bool,
    /// Number of ACKs received.
    pub acks: u64,
    /// Beginning of the flow, once it has data.
    pub opening: Option<Box<Opening>>,
}

impl Half {
    /// Takes a segment of this direction that passed the first tapping point.
    pub fn data(&mut self, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        let tcp = passed.tcp;
        let syn = tcp.flags.contains(SegmentFlags::SYN);
        if syn {
            self.rtt.begun = true;
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
        // The segment is a probe of a closed window or of an idle connection, or it does not belong
        // to this connection.
        if end <= self.next && tcp.payload <= 1 || start > self.next + FAR || end + FAR < self.next
        {
            return;
        }
        self.account(passed);
        let again = end <= self.next;
        let first_flights = self.first_flights.get_or_insert_default();
        if first_flights.add(passed.time, tcp.payload, again) {
            let least = shared.thresholds.slow_start_segments as usize;
            if let Some(whole) = first_flights.estimate(self.size.bytes(), least, self.rtt.begun) {
                self.rtt.slow_start = Some(whole);
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
        let segments = u64::from(self.size.seen(tcp.payload, tcp.timestamps.is_some()));
        self.first_data.get_or_insert(passed.time);
        self.heading = passed.heading;
        self.point.get_or_insert(passed.point);
        self.counts.packets += segments;
        self.counts.ip_bytes += u64::from(passed.ip_bytes);
        self.counts.captured += 1;
        self.counts.header_bytes += u64::from(passed.ip_bytes.saturating_sub(tcp.payload));
        self.counts.frame_bytes += u64::from(passed.frame_bytes);
        if passed.ecn == Ecn::Experienced {
            self.mark(Place::Upstream, passed.time, segments);
        }
    }

    /// Counts marked packets.
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

    /// Returns true if a single tapping point is behind the queue in which data wait: more packets
    /// are lost before it than after it.
    fn is_behind_queue(&self) -> bool {
        let lost = |place: Place| self.counts.lost[place as usize];
        lost(Place::Upstream) > lost(Place::Downstream) + lost(Place::Target)
    }

    /// Returns the time for which the sender had known, when it sent this, that all data were
    /// acknowledged. None if some segments were not acknowledged one by one.
    fn idle(&mut self, time: Nanos) -> Option<Nanos> {
        let delay = self.rtt.sender_part_now();
        let view = self.history.at(time, delay)?;
        let rests = view.una >= self.next && self.counts.bytes > 0;
        rests.then_some(time - view.time - delay)
    }

    /// Handles data below the highest sequence number seen. They fill a hole, or they are a
    /// retransmission, which may cover parts of several super-segments.
    fn again(&mut self, start: u64, end: u64, passed: &Passed<'_>, shared: &mut Shared<'_>) {
        let known = start.max(self.una).min(end);
        let mut sent = 0;
        if known > start {
            // This part is acknowledged already.
            let repeated = u64::from(self.size.segments((known - start) as u32));
            self.counts.spurious += repeated;
            sent += repeated;
        }
        for place in self.scoreboard.stretch(known, end) {
            sent += self.record_again(place, (known, end), passed, shared);
        }
        // Segments that were cut differently do not become more packets.
        let most = u64::from(self.size.segments(passed.tcp.payload));
        self.counts.retransmissions += sent.min(most);
        if sent > 0 && known < end {
            self.recover(start, passed.time, shared);
        }
    }

    /// Handles such data for one record, which they may cover in part. Returns the number of
    /// segments that were retransmitted and not only reordered.
    fn record_again(
        &mut self,
        place: usize,
        (start, end): (u64, u64),
        passed: &Passed<'_>,
        shared: &mut Shared<'_>,
    ) -> u64 {
        let base = self.rtt.base().unwrap_or(Nanos::MAX);
        let record = self.scoreboard.at_mut(place);
        let bytes = record.end.min(end).saturating_sub(record.start.max(start));
        let segments = self.size.segments(bytes as u32);
        let before = *record;
        record.copies += 1;
        if before.copies == 0 {
            record.time = passed.time;
            self.counts.bytes += bytes;
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
        u64::from(segments)
    }

    /// Counts packets that were found lost. Not more packets can be lost than were seen: a packet lost
    /// before the tapping point was seen when it was sent again.
    fn lost(&mut self, place: Place, time: Nanos, packets: u32, shared: &mut Shared<'_>) {
        let known: u64 = self.counts.lost.iter().sum();
        let room = self.counts.packets.saturating_sub(known);
        let packets = u64::from(packets).min(room) as u32;
        if packets == 0 {
            return;
        }
        self.counts.lost[place as usize] += u64::from(packets);
        self.rtt.behind_queue = self.is_behind_queue();
        let listed = shared.lose(Loss {
            time,
            flow: self.id,
            packets,
            place,
            wait: None,
        });
        if place == Place::Downstream
            && let Some(number) = listed
        {
            let RecentlyLost(recent) = &mut **self.recently_lost.get_or_insert_default();
            if recent.len() >= MAX_RECENT {
                recent.pop_front();
            }
            recent.push_back(number);
        }
    }

    /// Decides to which kind of recovery a retransmission belongs.
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
                && shared.delays_at_loss.len() < MAX_LOSSES
            {
                shared.delays_at_loss.push((last - base).max(0));
            }
        }
        if new || silent {
            self.recovery_end = self.next;
        }
    }

    /// Takes an ACK from the receiver. `scale` is the scale of its window.
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
            // The capture lacks the data that this ACK acknowledges.
            self.next = self.numbers.position(tcp.ack);
        }
        self.acks += 1;
        self.flights = None;
        self.last_ack = passed.time;
        if let Some((value, _)) = tcp.timestamps {
            self.rtt.stamp_passed(passed.time, value, tcp.payload > 0);
        }
        if ack > self.una {
            self.count_ack(ack, tcp);
            self.advance(ack, passed, shared);
        } else if ack == self.una && tcp.payload == 0 && self.next > self.una {
            self.duplicates += 1;
            self.opening.get_or_insert_default().lost();
        }
        self.selective(ack, passed, shared);
        shared.since_link = self.rtt.receiver.get().unwrap_or(0);
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

    /// Counts the segments of an ACK while nothing is lost.
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
        // Karn's rule: data that were seen once and not selectively acknowledged before give a
        // sample.
        if let Some(record) = self.scoreboard.get_mut(ack - 1)
            && record.is_sample()
            && !record.sacked
        {
            let (sent, waited) = (record.time, record.waited);
            let taken = self.rtt.sample(passed.time, passed.time - sent, waited);
            // Receivers delay the ACK of less than two segments (RFC 5681, section 4.2).
            if taken && self.duplicates == 0 && ack - self.una >= 2 * u64::from(self.size.bytes()) {
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

    /// Returns the time in which data waited, for a single tapping point before the queue. Data
    /// that take longer than the fastest to be acknowledged wait in the queue. The data leave the
    /// queue before their ACK arrives, by the time that the fastest data took.
    fn waited(&mut self, sent: Nanos, acknowledged: Nanos) -> Option<Waited> {
        let left = acknowledged - self.rtt.receiver.get()?;
        let (from, until) = self.waiting;
        let begins = sent > until;
        let (from, known) = if begins { (sent, sent) } else { (from, until) };
        let to = left.max(known);
        self.waiting = (from, to);
        (to > known).then_some(Waited { from, known, to })
    }

    /// Concludes a record: the number of its copies that were lost is known now.
    fn settle(&mut self, record: &Record, echo: Option<u32>, shared: &mut Shared<'_>) {
        let lost = record.copies.saturating_sub(1 + record.dropped);
        if lost == 0 {
            return;
        }
        let packets = self.size.segments((record.end - record.start) as u32);
        let all = packets.saturating_mul(lost);
        // Eifel (RFC 3522): an echoed clock value older than the last copy's shows that an earlier
        // copy arrived.
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
                // A duplicate SACK (RFC 2883) shows that the original of a retransmission had
                // arrived.
                if index == 0 {
                    self.duplicate_arrived(shared);
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

    /// Takes back a loss: the packet had arrived.
    fn duplicate_arrived(&mut self, shared: &mut Shared<'_>) {
        let Some(RecentlyLost(recent)) = self.recently_lost.as_deref_mut() else {
            return;
        };
        let Some(number) = recent.back().copied() else {
            return;
        };
        let loss = &mut shared.losses[number as usize];
        loss.packets -= 1;
        if loss.packets == 0 {
            recent.pop_back();
        }
        self.counts.lost[Place::Downstream as usize] -= 1;
        self.counts.spurious += 1;
    }

    /// Takes a segment of this direction that passed the second tapping point.
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

    /// Concludes the direction at its end, with results that are known only then.
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
    fn a_direction_without_data_takes_little_memory() {
        assert!(
            std::mem::size_of::<Half>() <= 1152,
            "{}",
            std::mem::size_of::<Half>()
        );
    }
}
