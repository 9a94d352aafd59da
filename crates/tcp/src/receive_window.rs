//! Receive-window moderation by dynamic right-sizing (Fisk and Feng 2001): the window offered is
//! twice what the application took in the last round trip, so that it never limits a sender that
//! doubles its rate, and never offers much more than the path carries. Numbers as in Linux
//! (`tcp_rcv_space_adjust`, `tcp_rcv_rtt_update`).

use goodqueue_types::{Bytes, Rate, Span, Time};

use crate::config::TcpConfig;

/// Of 2304 bytes of memory a full Ethernet frame fills 1460: Linux takes half of the buffer for the
/// window until it has seen a segment, and then this share, in 256ths.
const PAYLOAD_SHARE: u64 = 162;

/// Opens the window at a rate: what Gijsbers and Akkoorath (2011, section 1) propose against bursts.
///
/// A token bucket without depth: where the edge could not have moved on, no credit is saved.
#[derive(Debug)]
pub(crate) struct WindowPace {
    rate: Rate,
    /// How far the right edge may be.
    edge: u64,
    /// Since when; none while the edge cannot move.
    at: Option<Time>,
}

impl WindowPace {
    pub fn new(config: &TcpConfig) -> Option<Box<Self>> {
        config.receive_window_pace.map(|rate| {
            Box::new(Self {
                rate,
                edge: 1 + config.syn_window(),
                at: None,
            })
        })
    }

    /// How far the right edge may be.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Moves the edge on towards `goal`, where the buffer ends.
    pub fn advance(&mut self, now: Time, goal: u64) {
        let at = self.at.unwrap_or(now);
        let moved = self.rate.bytes_in(now.saturating_since(at)).0;
        if self.edge + moved >= goal {
            self.edge = self.edge.max(goal);
            self.at = None;
        } else {
            self.edge += moved;
            // The part of a byte that is left counts.
            self.at = Some(
                at.saturating_add(self.rate.transmission_time(Bytes(moved)))
                    .min(now),
            );
        }
    }

    /// When the edge reaches `wanted`; `Time::MAX` if its clock does not run.
    pub fn reaches(&self, wanted: u64) -> Time {
        let left = Bytes(wanted.saturating_sub(self.edge));
        self.at.map_or(Time::MAX, |at| {
            at.saturating_add(self.rate.transmission_time(left))
        })
    }
}

/// The receiver's measurements.
#[derive(Debug)]
pub(crate) struct RightSizing {
    /// The receiver's own estimate of the round-trip time.
    rtt: Option<Span>,
    /// The last timestamp measured by; 0 before the first.
    echo: u32,
    /// Without timestamps a round trip is the time it takes to receive what the window offered.
    round_ends: u64,
    round_began: Time,
    /// Bytes taken by the application in the best round so far, and when this one began with how
    /// many in total.
    most_taken: u64,
    began: Time,
    taken_before: u64,
    /// What the window can be without more memory.
    comfortable: u64,
}

/// What the receiver looks like when data have come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intake {
    pub now: Time,
    /// Next sequence number expected, and the window offered beyond it.
    pub next: u64,
    pub window: u64,
    /// Bytes that the application has taken in all.
    pub taken: u64,
    /// How far data out of order reach beyond `next`.
    pub beyond: u64,
}

impl RightSizing {
    /// The window begins with `initial` bytes.
    pub fn new(initial: u64, mss: u32) -> Self {
        Self {
            rtt: None,
            echo: 0,
            round_ends: 0,
            round_began: Time::ZERO,
            // Linux: ten segments; a start that is not much more could not grow.
            most_taken: (10 * u64::from(mss)).min(initial / 2),
            began: Time::ZERO,
            taken_before: 0,
            comfortable: 2 * initial * PAYLOAD_SHARE / 256,
        }
    }

    /// The window after a segment with `payload`: twice as much more, as long as no more memory is
    /// needed (`tcp_grow_window` of Linux).
    pub fn slow_start(&self, window: u64, payload: u32) -> u64 {
        let grown = window.saturating_add(2 * u64::from(payload));
        grown.min(self.comfortable).max(window)
    }

    /// A full segment echoes our timestamp `echo`, sent `rtt` ago: once for each timestamp, smoothed
    /// by an eighth.
    pub fn on_timestamp(&mut self, echo: u32, rtt: Span) {
        if echo == 0 || echo == self.echo {
            return;
        }
        self.echo = echo;
        let smooth = |old: Span| Span(old.0 - old.0 / 8 + rtt.0 / 8);
        self.rtt = Some(self.rtt.map_or(rtt, smooth));
    }

    /// Takes note of data; the window to aim at, if a round trip has passed in which the
    /// application took more than ever.
    pub fn on_data(&mut self, intake: Intake) -> Option<u64> {
        self.measure_by_window(&intake);
        let rtt = self.rtt?;
        if intake.now.saturating_since(self.began) < rtt {
            return None;
        }
        let taken = intake.taken - self.taken_before;
        (self.began, self.taken_before) = (intake.now, intake.taken);
        if taken <= self.most_taken {
            return None;
        }
        // Twice what came, and twice as much again as it grew: what is advertised now is used a
        // round trip later, by a sender in slow start.
        let growth = 4 * u128::from(taken) * u128::from(taken - self.most_taken)
            / u128::from(self.most_taken.max(1));
        self.most_taken = taken;
        Some((2 * taken + intake.beyond).saturating_add(growth as u64))
    }

    /// The shortest time in which a whole window came.
    fn measure_by_window(&mut self, intake: &Intake) {
        if self.echo != 0 || intake.next < self.round_ends {
            return;
        }
        if self.round_ends > 0 {
            let round = intake.now.saturating_since(self.round_began);
            self.rtt = Some(self.rtt.map_or(round, |rtt| rtt.min(round)));
        }
        self.round_ends = intake.next + intake.window;
        self.round_began = intake.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    /// At 8 Mb/s a byte each microsecond: from the first data on, and from when the edge was held up.
    #[test]
    fn the_edge_moves_at_its_rate_and_saves_no_credit() {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.mss = 1000;
        config.receive_window_pace = Some(Rate(8_000_000));
        let mut pace = WindowPace::new(&config).expect("a pace");
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        assert_eq!((pace.edge(), pace.reaches(3001)), (2001, Time::MAX));
        pace.advance(at(5000), 10_001);
        assert_eq!((pace.edge(), pace.reaches(3001)), (2001, at(6000)));
        pace.advance(at(5500), 10_001);
        assert_eq!((pace.edge(), pace.reaches(3001)), (2501, at(6000)));
        // Half a byte is not lost.
        pace.advance(at(5500) + Span(500_000), 10_001);
        pace.advance(at(5501), 10_001);
        assert_eq!(pace.edge(), 2502);
        pace.advance(at(20_000), 10_001);
        assert_eq!((pace.edge(), pace.reaches(11_001)), (10_001, Time::MAX));
        // A second later the buffer has room: the clock begins then.
        pace.advance(at(1_020_000), 20_001);
        assert_eq!((pace.edge(), pace.reaches(11_001)), (10_001, at(1_021_000)));
    }
}
