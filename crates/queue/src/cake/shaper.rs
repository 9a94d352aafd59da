//! The shaper: when the next packet may go. It has no bucket of tokens, so it lets no bursts
//! through after a pause.

use goodqueue_types::{Bytes, Rate, Span, Time};

/// The shaper of all tins.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    rate: Option<Rate>,
    next: Time,
    /// What is dropped counts at ingress, too; but the bottleneck is never slowed down by more than
    /// a third for it.
    failsafe: Time,
}

impl Shaper {
    /// A shaper that has sent nothing yet; `None` holds nothing back.
    pub fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            next: Time::ZERO,
            failsafe: Time::ZERO,
        }
    }

    /// Whether there is a rate at all.
    pub fn is_limited(&self) -> bool {
        self.rate.is_some()
    }

    /// Nothing waited: what was not used is lost.
    pub fn forget_pause(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Until when what waits is held back, if it is.
    pub fn held_until(&self, now: Time) -> Option<Time> {
        (self.next > now && self.failsafe > now).then(|| self.next.min(self.failsafe))
    }

    /// So many bytes were sent.
    pub fn sent(&mut self, bytes: u64) {
        let duration = self.duration(bytes);
        self.next += duration;
        self.failsafe += duration + duration / 2;
    }

    /// So many bytes that had passed the bottleneck were dropped.
    pub fn dropped(&mut self, bytes: u64) {
        self.next += self.duration(bytes);
    }

    fn duration(&self, bytes: u64) -> Span {
        transmission(self.rate, bytes)
    }
}

/// A tin's own clock, which only says whether it keeps within its threshold.
#[derive(Clone, Copy, Debug)]
pub struct TinClock {
    rate: Option<Rate>,
    next: Time,
}

impl TinClock {
    /// A clock for a tin with this threshold.
    pub fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            next: Time::ZERO,
        }
    }

    /// Nothing waited in the tin.
    pub fn forget_pause(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// When the tin is within its threshold again.
    pub fn next(&self) -> Time {
        self.next
    }

    /// So many bytes were sent or counted as sent. A tin above its threshold does not go into debt
    /// for more than this packet.
    pub fn charge(&mut self, now: Time, bytes: u64) {
        let duration = transmission(self.rate, bytes);
        if self.next < now {
            self.next += duration;
        } else {
            self.next = self.next.max(now + duration);
        }
    }
}

/// How long so many bytes take; no time without a rate.
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
        // Late by half a millisecond while busy: the next is not late again.
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
    fn drops_cost_time_but_not_more_than_half_of_what_is_sent() {
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
        // From zero to within the present it catches up; it never has to wait for longer than one.
        assert_eq!(clock.next(), Time::ZERO + Span::from_millis(10));
        clock.forget_pause(TENTH);
        for _ in 0..10 {
            clock.charge(TENTH, 125);
        }
        assert_eq!(clock.next(), TENTH + Span::from_millis(1));
    }
}
