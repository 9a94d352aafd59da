//! The phases of a probe: which packets are sent in which direction.

use crate::{LARGE, TINY};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Direction of the packets of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// The direction from the client, which runs the probe, to the server.
    Up = 0,
    /// The direction from the server to the client.
    Down = 1,
}

/// ECN field of the packets of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Codepoint {
    /// Not ECN-capable.
    #[default]
    NotCapable = 0,
    /// ECT(1), which marks the traffic of L4S (RFC 9331).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
}

/// Packets of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "pattern", deny_unknown_fields)]
pub enum Pattern {
    /// Single packets, which the server echoes.
    Pings {
        /// Number of pings.
        count: u32,
        /// Time between two pings, in microseconds.
        interval_us: u32,
    },
    /// Short trains of packets back to back.
    Trains {
        /// Number of trains.
        count: u32,
        /// Packets of a train.
        length: u32,
        /// Time between the starts of two trains, in microseconds.
        interval_us: u32,
    },
    /// Packets at 1.25 times the rate at which they are received, until shortly after a loss, beside
    /// a sparse stream of tiny packets.
    Ramp {
        /// First rate, in bits of IP per second.
        from_bps: u64,
        /// Largest rate.
        most_bps: u64,
        /// IP size of the packets, in bytes.
        bytes: u32,
        /// Time over which the received rate is averaged, in microseconds.
        window_us: u32,
        /// Time between packets of the sparse stream, in microseconds.
        sparse_us: u32,
        /// Smallest time from the first loss to the end, in milliseconds.
        after_loss_ms: u32,
        /// Longest duration, in milliseconds.
        longest_ms: u32,
    },
    /// A window of packets in flight that keeps the queueing delay constant, beside a sparse stream
    /// of tiny packets.
    Hold {
        /// First number of packets in flight.
        window: u32,
        /// Queueing delay to keep, in microseconds.
        held_us: u32,
        /// Round-trip time without queueing, in microseconds.
        rtt_us: u32,
        /// Difference of the clocks' readings for a packet that does not wait, in nanoseconds.
        base_ns: i64,
        /// Largest rate at which they are sent.
        pace_bps: u64,
        /// Time between packets of the sparse stream, in microseconds.
        sparse_us: u32,
        /// Codepoint of the packets.
        codepoint: Codepoint,
        /// Duration in milliseconds.
        span_ms: u32,
    },
}

/// A phase of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Direction of the packets. Pings go up and come back.
    pub path: Path,
    /// The packets.
    #[serde(flatten)]
    pub pattern: Pattern,
}

/// A phase that asks for more than a server gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseError {
    /// The value that is too large or too small.
    pub what: &'static str,
    /// Largest value.
    pub most: u64,
}

impl fmt::Display for PhaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be from 1 to {}", self.what, self.most)
    }
}

/// Longest duration of a phase in milliseconds.
const LONGEST_MS: u32 = 20_000;

/// Shortest time between packets of the sparse stream, in microseconds.
const SHORTEST_SPARSE_US: u32 = 1000;

/// Traffic of the phases that fill the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Expected duration, in seconds.
    pub seconds: f64,
    /// Expected traffic in both directions together, in bytes of IP.
    pub bytes: f64,
}

impl Path {
    /// Returns the direction in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

impl Pattern {
    /// Returns the longest time that a sender takes for the packets, in nanoseconds.
    pub fn longest_ns(&self) -> i64 {
        let us = |count: u32, us: u32| i64::from(count) * i64::from(us) * 1000;
        match *self {
            Self::Pings { count, interval_us }
            | Self::Trains {
                count, interval_us, ..
            } => us(count, interval_us),
            Self::Ramp { longest_ms, .. } => us(longest_ms, 1000),
            Self::Hold { span_ms, .. } => us(span_ms, 1000),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.pattern {
            Pattern::Pings { .. } => return f.write_str("pings"),
            Pattern::Trains { .. } => "trains",
            Pattern::Ramp { bytes: LARGE, .. } => "ramp",
            Pattern::Ramp { .. } => "ramp of small packets",
            Pattern::Hold { codepoint, .. } => match codepoint {
                Codepoint::NotCapable => "constant window",
                Codepoint::Capable0 => "constant window with ECT(0)",
                Codepoint::Capable1 => "constant window with ECT(1)",
            },
        };
        write!(f, "{what} {}", self.path.word())
    }
}

impl Phase {
    /// Returns true for packets that fill the buffer of the bottleneck.
    pub fn fills_buffer(&self) -> bool {
        matches!(self.pattern, Pattern::Ramp { .. } | Pattern::Hold { .. })
    }

    /// Refuses a phase that lasts too long or sends too fast.
    ///
    /// # Errors
    /// Returns the value at fault and its largest value.
    pub fn check(&self, most_bps: u64) -> Result<(), PhaseError> {
        let bound = |what, value: u64, most: u64| {
            let fits = (1..=most).contains(&value);
            fits.then_some(()).ok_or(PhaseError { what, most })
        };
        let shorter = |what, ms: u32| bound(what, u64::from(ms), u64::from(LONGEST_MS));
        match self.pattern {
            Pattern::Pings { count, interval_us } => {
                bound("the number of pings", count.into(), 1000)?;
                bound("the interval of pings", interval_us.into(), 1_000_000)?;
                let us = u64::from(count) * u64::from(interval_us);
                bound("the time of the pings in ms", us / 1000, LONGEST_MS.into())
            }
            Pattern::Trains {
                count,
                length,
                interval_us,
            } => {
                bound("the number of trains", count.into(), 100)?;
                bound("the length of a train", length.into(), 100)?;
                let bits = u64::from(length) * u64::from(LARGE) * 8;
                let bps = bits * 1_000_000 / u64::from(interval_us.max(1));
                bound("the mean rate of the trains", bps, most_bps)?;
                let us = u64::from(count) * u64::from(interval_us);
                bound("the time of the trains in ms", us / 1000, LONGEST_MS.into())
            }
            Pattern::Ramp {
                from_bps,
                most_bps: top,
                bytes,
                window_us,
                sparse_us,
                after_loss_ms,
                longest_ms,
            } => {
                bound("the first rate of a ramp", from_bps, most_bps)?;
                bound("the largest rate of a ramp", top, most_bps)?;
                bound("the size of a packet", bytes.into(), LARGE.into())?;
                bound("the size of a packet", (bytes >= TINY).into(), LARGE.into())?;
                bound("the window of a ramp", window_us.into(), 2_000_000)?;
                bound(
                    "the sparse interval",
                    (sparse_us / SHORTEST_SPARSE_US).into(),
                    1000,
                )?;
                shorter("the time after a loss", after_loss_ms)?;
                shorter("the duration of a ramp", longest_ms)
            }
            Pattern::Hold {
                window,
                pace_bps,
                sparse_us,
                span_ms,
                held_us,
                rtt_us,
                ..
            } => {
                bound("the delay to keep", held_us.into(), 1_000_000)?;
                bound("the round-trip time", rtt_us.into(), 5_000_000)?;
                bound("the rate of a hold", pace_bps, most_bps)?;
                bound(
                    "the sparse interval",
                    (sparse_us / SHORTEST_SPARSE_US).into(),
                    1000,
                )?;
                // The bound is the number of packets that the largest rate sends in two seconds.
                let most = 2 * most_bps / (8 * u64::from(LARGE));
                bound("the packets in flight", window.into(), most.max(2))?;
                shorter("the duration of a phase", span_ms)
            }
        }
    }
}
