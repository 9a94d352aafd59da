//! The shaper, which sets the time of the next packet. It has no token bucket, so no burst follows
//! a pause.

use goodqueue_types::{Bytes, Rate, Span, Time};

/// Shaper of all tins.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    rate: Option<Rate>,
    next: Time,
    /// Latest time of the next packet. At ingress, dropped bytes delay `next` too, but `failsafe`
    /// keeps them from slowing the link down by more than a third.
    failsafe: Time,
}

impl Shaper {
    /// Creates a shaper that has sent nothing yet. With `None` it holds nothing back.
    pub fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            next: Time::ZERO,
            failsafe: Time::ZERO,
        }
    }

    /// Sets the rate. The time of the next packet stays.
    pub fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate;
    }

    /// Returns true if the shaper has a rate.
    pub fn is_limited(&self) -> bool {
        self.rate.is_some()
    }

    /// Discards the unused time of a pause in which nothing waited.
    pub fn forget_pause(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Returns the time until which packets are held back, or none if one may leave now.
    pub fn held_until(&self, now: Time) -> Option<Time> {
        (self.next > now && self.failsafe > now).then(|| self.next.min(self.failsafe))
    }

    /// Charges `bytes` bytes that were sent.
    pub fn sent(&mut self, bytes: u64) {
        let duration = self.duration(bytes);
        self.next += duration;
        self.failsafe += duration + duration / 2;
    }

    /// Charges `bytes` bytes that were dropped after they had passed the bottleneck.
    pub fn dropped(&mut self, bytes: u64) {
        self.next += self.duration(bytes);
    }

    fn duration(&self, bytes: u64) -> Span {
        transmission(self.rate, bytes)
    }
}

/// Clock of one tin. It only decides if the tin is within its threshold.
#[derive(Clone, Copy, Debug)]
pub struct TinClock {
    rate: Option<Rate>,
    next: Time,
}

impl TinClock {
    /// Creates the clock of a tin with this threshold.
    pub fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            next: Time::ZERO,
        }
    }

    /// Sets the threshold. The time from which the tin is within it stays.
    pub fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate;
    }

    /// Discards the unused time of a pause in which nothing waited in the tin.
    pub fn forget_pause(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Returns the time from which the tin is within its threshold again.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Charges `bytes` bytes that were sent or count as sent. A tin above its threshold owes no
    /// more than this one packet.
    pub fn charge(&mut self, now: Time, bytes: u64) {
        let duration = transmission(self.rate, bytes);
        if self.next < now {
            self.next += duration;
        } else {
            self.next = self.next.max(now + duration);
        }
    }
}

/// Returns the transmission time of `bytes` bytes, or zero without a rate.
pub fn transmission(rate: Option<Rate>, bytes: u64) -> Span {
    rate.map_or(Span::ZERO, |rate| rate.transmission_time(Bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABIT: Option<Rate> = Some(Rate(1_000_000));
    const TENTH: Time = Time(100_000_000_000);

    #[test]
    fn packets_are_spaced_and_a_pause_gives_no_credit() {
        let mut shaper = Shaper::new(MEGABIT);
        shaper.forget_pause(TENTH);
        assert_eq!(shaper.held_until(TENTH), None);
        shaper.sent(125);
        let next = TENTH + Span::from_millis(1);
        assert_eq!(shaper.held_until(TENTH), Some(next));
        assert_eq!(shaper.held_until(next), None);
        // This packet leaves half a millisecond late while the shaper is busy. The next one is on
        // time.
        shaper.sent(125);
        assert_eq!(
            shaper.held_until(next + Span::from_micros(500)),
            Some(next + Span::from_millis(1))
        );
        let mut unlimited = Shaper::new(None);
        unlimited.sent(1_000_000);
        assert_eq!(unlimited.held_until(Time::ZERO), None);
    }

    #[test]
    fn drops_take_at_most_half_as_much_time_as_packets_sent() {
        let mut shaper = Shaper::new(MEGABIT);
        shaper.sent(125);
        shaper.dropped(1250);
        let failsafe = Time::ZERO + Span::from_micros(1500);
        assert_eq!(shaper.held_until(Time::ZERO), Some(failsafe));
    }

    #[test]
    fn a_tin_above_its_threshold_owes_one_packet() {
        let mut clock = TinClock::new(MEGABIT);
        for _ in 0..10 {
            clock.charge(TENTH, 125);
        }
        // The clock catches up from zero to the present. It is never ahead by more than one packet.
        assert_eq!(clock.next(), Time::ZERO + Span::from_millis(10));
        clock.forget_pause(TENTH);
        for _ in 0..10 {
            clock.charge(TENTH, 125);
        }
        assert_eq!(clock.next(), TENTH + Span::from_millis(1));
    }
}
