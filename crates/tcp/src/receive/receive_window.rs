//! Receive-window moderation by dynamic right-sizing (Fisk and Feng 2001). The window offered is
//! twice the bytes that the application took in the last round trip. The window therefore never
//! limits a sender that doubles its rate, and never offers much more than the path carries. Numbers
//! are as in Linux (`tcp_rcv_space_adjust`, `tcp_rcv_rtt_update`).

use goodqueue_types::{Bytes, Rate, Span, Time};

use crate::config::TcpConfig;
use crate::maybe::MaybeSpan;

/// Share of memory that is payload, in 256ths. A full Ethernet frame takes 2304 bytes of memory and
/// has 1460 of payload. Linux uses half of the buffer for the window until it has seen a segment,
/// and then this share.
const PAYLOAD_SHARE: u64 = 162;

/// Limit on the rate at which the window opens, which Gijsbers and Akkoorath (2011, section 1)
/// propose against bursts.
///
/// The limit is a token bucket without depth: no credit is saved while the edge cannot move.
#[derive(Debug)]
pub(crate) struct WindowPace {
    rate: Rate,
    /// Largest right edge allowed.
    edge: u64,
    /// Time since which the edge moves, or none while it cannot.
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

    /// Returns the largest right edge allowed.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Moves the edge towards `goal`, the end of the buffer.
    pub fn advance(&mut self, now: Time, goal: u64) {
        let at = self.at.unwrap_or(now);
        let moved = self.rate.bytes_in(now.saturating_since(at)).0;
        if self.edge + moved >= goal {
            self.edge = self.edge.max(goal);
            self.at = None;
        } else {
            self.edge += moved;
            // The remaining part of a byte counts.
            self.at = Some(
                at.saturating_add(self.rate.transmission_time(Bytes(moved)))
                    .min(now),
            );
        }
    }

    /// Returns the time at which the edge reaches `wanted`, or `Time::MAX` while it does not move.
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
    rtt: MaybeSpan,
    /// Last timestamp that gave a sample, or 0 before the first.
    echo: u32,
    /// Sequence number that ends the round. Without timestamps a round trip is the time in which
    /// the offered window is received.
    round_ends: u64,
    round_began: Time,
    /// Largest number of bytes that the application took in a round so far. `began` is the start of
    /// the present round, and `taken_before` the total at its start.
    most_taken: u64,
    began: Time,
    taken_before: u64,
    /// Largest window that needs no more memory.
    comfortable: u64,
}

/// State of the receiver when data have arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intake {
    pub now: Time,
    /// Next sequence number expected, and the window offered beyond it.
    pub next: u64,
    pub window: u64,
    /// Bytes that the application has taken in all.
    pub taken: u64,
    /// Bytes by which out-of-order data reach beyond `next`.
    pub beyond: u64,
}

impl RightSizing {
    /// Creates the measurements of a window that starts with `initial` bytes.
    pub fn new(initial: u64, mss: u32) -> Self {
        Self {
            rtt: MaybeSpan::UNKNOWN,
            echo: 0,
            round_ends: 0,
            round_began: Time::ZERO,
            // Linux assumes ten segments. A start that is not much larger could not grow.
            most_taken: (10 * u64::from(mss)).min(initial / 2),
            began: Time::ZERO,
            taken_before: 0,
            comfortable: 2 * initial * PAYLOAD_SHARE / 256,
        }
    }

    /// Returns the receiver's own estimate of the round-trip time.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt.get()
    }

    /// Returns the window after a segment with `payload` bytes: larger by twice the payload as long
    /// as no more memory is needed (`tcp_grow_window` of Linux).
    pub fn slow_start(&self, window: u64, payload: u32) -> u64 {
        let grown = window.saturating_add(2 * u64::from(payload));
        grown.min(self.comfortable).max(window)
    }

    /// Takes a sample from a full segment that echoes our timestamp `echo`, sent `rtt` ago. Each
    /// timestamp gives one sample, with a weight of one eighth.
    pub fn on_timestamp(&mut self, echo: u32, rtt: Span) {
        if echo == 0 || echo == self.echo {
            return;
        }
        self.echo = echo;
        let smooth = |old: Span| Span(old.0 - old.0 / 8 + rtt.0 / 8);
        self.rtt = MaybeSpan::known(self.rtt.get().map_or(rtt, smooth));
    }

    /// Records data. Returns the window to aim at, if a round trip has passed in which the
    /// application took more than ever.
    pub fn on_data(&mut self, intake: Intake) -> Option<u64> {
        self.measure_by_window(&intake);
        let rtt = self.rtt.get()?;
        if intake.now.saturating_since(self.began) < rtt {
            return None;
        }
        let taken = intake.taken - self.taken_before;
        (self.began, self.taken_before) = (intake.now, intake.taken);
        if taken <= self.most_taken {
            return None;
        }
        // The window is twice the received bytes plus twice their growth, because a sender in slow
        // start uses the present window a round trip later.
        let growth = 4 * u128::from(taken) * u128::from(taken - self.most_taken)
            / u128::from(self.most_taken.max(1));
        self.most_taken = taken;
        Some((2 * taken + intake.beyond).saturating_add(growth as u64))
    }

    /// Takes the shortest time in which a whole window came.
    fn measure_by_window(&mut self, intake: &Intake) {
        if self.echo != 0 || intake.next < self.round_ends {
            return;
        }
        if self.round_ends > 0 {
            let round = intake.now.saturating_since(self.round_began);
            let least = self.rtt.get().map_or(round, |rtt| rtt.min(round));
            self.rtt = MaybeSpan::known(least);
        }
        self.round_ends = intake.next + intake.window;
        self.round_began = intake.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    /// The edge at 8 Mb/s moves by a byte each microsecond, from the first data and from the end of
    /// a stop.
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
        // The buffer has room a second later, and the clock starts then.
        pace.advance(at(1_020_000), 20_001);
        assert_eq!((pace.edge(), pace.reaches(11_001)), (10_001, at(1_021_000)));
    }
}
