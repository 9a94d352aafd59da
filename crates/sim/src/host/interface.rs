//! The network interface of a host that does not pass every packet at once: super-segments, jitter
//! of departures, and coalescing of arrivals.

use crate::workload::law::{Law, TIMES};
use goodqueue_types::parameters::{Key, flag, span};
use goodqueue_types::{Body, Packet, RandomStream, Span, Time, parameters};
use std::collections::VecDeque;
use std::sync::Arc;

parameters! {
    /// Work of the hosts at both ends of a flow between TCP and the network. Each flow's end is a
    /// host of its own here.
    #[derive(Clone, Debug, PartialEq)]
    pub struct InterfaceConfig("interface") {
        /// Segments of a connection that leave at one instant cross the network as one packet of up
        /// to 64 kB, until a queue splits it, as virtual Ethernet passes them. `segmentation_offload`
        /// of TCP makes units as long as Linux's; without it all that is sent at once is a unit.
        super_segments: bool = false => flag().example("true");
        /// Time from the first arrival until all arrivals since then are handled, segments in
        /// sequence as one of up to 64 kB (interrupt coalescing and GRO). `"0s"`: each arrival is
        /// handled at once.
        receive_coalescing: Span = Span::ZERO
            => span(Span::ZERO, Span::from_secs(1)).example("50us");
        /// Time from sending to departure, drawn anew for each packet, which also waits for those
        /// ahead of it; a time or a law of chance, as of `jitter`.
        send_jitter: Law = Law::Fixed(0.0) => Key::new(TIMES)
            .default("\"0s\"")
            .example("{ law = \"exponential\", mean = \"20us\" }");
    }
}

/// State of an interface.
#[derive(Debug)]
pub struct Interface {
    config: Arc<InterfaceConfig>,
    random: RandomStream,
    /// Packet that was sent at this instant and does not belong to the one before.
    next: Option<Packet>,
    /// Packets that wait for their departure, each with its time.
    departures: VecDeque<(Time, Packet)>,
    latest: Time,
    /// Packets that have arrived and were not handled.
    arrivals: VecDeque<Packet>,
    /// Time at which they are handled, or [`Time::MAX`] if there are none.
    interrupt: Time,
    /// Number of segments that left within packets of others.
    pub merged: u64,
}

impl Interface {
    /// Creates an idle interface.
    pub fn new(config: Arc<InterfaceConfig>, random: RandomStream) -> Self {
        Self {
            config,
            random,
            next: None,
            departures: VecDeque::new(),
            latest: Time::ZERO,
            arrivals: VecDeque::new(),
            interrupt: Time::MAX,
            merged: 0,
        }
    }

    /// Returns the time at which a packet leaves or arrivals are handled, or [`Time::MAX`].
    pub fn wakes_at(&self) -> Time {
        let departure = self.departures.front().map_or(Time::MAX, |(at, _)| *at);
        departure.min(self.interrupt)
    }

    /// Returns true if packets that the host has sent have not left.
    pub fn has_departures(&self) -> bool {
        self.next.is_some() || !self.departures.is_empty()
    }

    /// Returns the next packet that leaves at `now`. `poll` writes the next packet of the host into
    /// its place and returns true, or false if there are no more.
    pub fn depart(&mut self, now: Time, poll: impl FnMut(&mut Packet) -> bool) -> Option<Packet> {
        let packet = if self.config.send_jitter == Law::Fixed(0.0) {
            self.poll(poll)?
        } else {
            self.put_off(now, poll);
            self.departures.front().filter(|(at, _)| *at <= now)?;
            self.departures.pop_front()?.1
        };
        self.merged += u64::from(packet.segments() - 1);
        Some(packet)
    }

    /// Draws the departures of all packets that the host sends at `now`.
    fn put_off(&mut self, now: Time, mut poll: impl FnMut(&mut Packet) -> bool) {
        while let Some(packet) = self.poll(&mut poll) {
            let jitter = self.config.send_jitter.draw_span(&mut self.random);
            self.latest = self.latest.max(now.saturating_add(jitter));
            self.departures.push_back((self.latest, packet));
        }
    }

    /// Returns the next packet that the host sends, with the segments after it that it can take.
    fn poll(&mut self, mut poll: impl FnMut(&mut Packet) -> bool) -> Option<Packet> {
        let mut draw = || {
            let mut packet = Packet::default();
            poll(&mut packet).then_some(packet)
        };
        let mut whole = self.next.take().or_else(&mut draw)?;
        let carries = matches!(&whole.body, Body::Tcp(segment) if segment.payload > 0);
        if self.config.super_segments && carries {
            self.next = draw();
            while self.next.as_ref().is_some_and(|next| whole.absorb(next)) {
                self.next = draw();
            }
        }
        Some(whole)
    }

    /// Takes a packet that arrived at `now` and returns true if it is handled later.
    pub fn hold(&mut self, now: Time, packet: &Packet) -> bool {
        let coalescing = self.config.receive_coalescing;
        if coalescing == Span::ZERO {
            return false;
        }
        if self.arrivals.is_empty() {
            self.interrupt = now.saturating_add(coalescing);
        }
        let mut held = self.arrivals.iter_mut().rev();
        let last = held.find(|held| held.connection == packet.connection);
        if !last.is_some_and(|last| last.absorb(packet)) {
            self.arrivals.push_back(*packet);
        }
        true
    }

    /// Returns the next packet to handle at `now`, or none if none is due.
    pub fn handle(&mut self, now: Time) -> Option<Packet> {
        if self.interrupt > now {
            return None;
        }
        let packet = self.arrivals.pop_front();
        if self.arrivals.is_empty() {
            self.interrupt = Time::MAX;
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::{Segment, SegmentFlags};

    fn micros(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn segment(seq: u64, payload: u32) -> Packet {
        let segment = Segment {
            seq,
            payload,
            header: 40,
            flags: SegmentFlags::ACK,
            ..Segment::default()
        };
        Packet {
            size: segment.ip_bytes(),
            body: Body::Tcp(segment),
            ..Packet::default()
        }
    }

    fn interface(config: InterfaceConfig) -> Interface {
        Interface::new(Arc::new(config), RandomStream::new(1, "test", 0))
    }

    /// Returns the segments of each packet that leaves at `now` if the host sends these packets then.
    fn departing(interface: &mut Interface, now: Time, packets: &[Packet]) -> Vec<u32> {
        let mut left = packets.iter();
        let mut poll = |place: &mut Packet| {
            let next = left.next();
            next.inspect(|next| *place = **next).is_some()
        };
        std::iter::from_fn(|| interface.depart(now, &mut poll))
            .map(|packet| packet.segments())
            .collect()
    }

    #[test]
    fn segments_in_sequence_leave_as_one_packet() {
        let mut with = interface(InterfaceConfig {
            super_segments: true,
            ..InterfaceConfig::default()
        });
        let gap = [1, 101, 201, 401, 501].map(|seq| segment(seq, 100));
        assert_eq!(departing(&mut with, micros(5), &gap), [3, 2]);
        assert_eq!((with.merged, with.has_departures()), (3, false));
        // ACKs are never merged.
        let acks = [segment(1, 0), segment(1, 0)];
        assert_eq!(departing(&mut with, micros(6), &acks), [1, 1]);
        let mut without = interface(InterfaceConfig::default());
        assert_eq!(departing(&mut without, micros(5), &gap), [1; 5]);
    }

    #[test]
    fn jitter_delays_departures_and_keeps_their_order() {
        let mut one = interface(InterfaceConfig {
            send_jitter: Law::exponential(50e-6),
            ..InterfaceConfig::default()
        });
        let packets: Vec<_> = (0..200)
            .map(|index| segment(1 + 100 * index, 100))
            .collect();
        let mut now = micros(0);
        let mut left = departing(&mut one, now, &packets).len();
        let mut times = vec![now; left];
        while one.has_departures() {
            assert!(one.wakes_at() > now);
            now = one.wakes_at();
            let more = departing(&mut one, now, &[]).len();
            assert!(more > 0);
            times.extend(vec![now; more]);
            left += more;
        }
        assert_eq!((left, one.wakes_at()), (200, Time::MAX));
        assert!(times[0] > micros(0) && times.is_sorted());
        // The last departure is the largest of all draws: of 200 with this mean, 50 µs times their
        // harmonic number, 294 µs, with a deviation of 64 µs.
        assert!(now > micros(100) && now < micros(550), "{now:?}");
    }

    #[test]
    fn a_constant_delay_shifts_departures() {
        let mut one = interface(InterfaceConfig {
            send_jitter: Law::Fixed(20e-6),
            ..InterfaceConfig::default()
        });
        assert_eq!(departing(&mut one, micros(10), &[segment(1, 10)]), []);
        assert_eq!(departing(&mut one, micros(15), &[segment(11, 10)]), []);
        assert_eq!(one.wakes_at(), micros(30));
        assert_eq!(departing(&mut one, micros(30), &[]), [1]);
        assert_eq!(one.wakes_at(), micros(35));
    }

    #[test]
    fn arrivals_within_the_time_of_an_interrupt_are_handled_together() {
        let mut one = interface(InterfaceConfig {
            receive_coalescing: Span::from_micros(50),
            ..InterfaceConfig::default()
        });
        for (at, seq) in [(10, 1), (20, 101), (59, 301), (60, 401)] {
            assert!(one.hold(micros(at), &segment(seq, 100)));
        }
        assert_eq!((one.wakes_at(), one.handle(micros(59))), (micros(60), None));
        let handled = std::iter::from_fn(|| one.handle(micros(60)));
        let handled: Vec<_> = handled.map(|packet| packet.segments()).collect();
        // The two segments on either side of a hole.
        assert_eq!(handled, [2, 2]);
        assert_eq!(one.wakes_at(), Time::MAX);
        one.hold(micros(70), &segment(501, 100));
        assert_eq!(one.wakes_at(), micros(120));
        let mut none = interface(InterfaceConfig::default());
        assert!(!none.hold(micros(1), &segment(1, 100)));
    }
}
