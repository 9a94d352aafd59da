//! Buckets of `htb`, whose tokens may be owed.

use goodqueue_types::{Bytes, Rate, Span};

/// Longest time for which a class gains or owes tokens (Linux: `mbuffer`).
pub const LONGEST: i64 = Span::from_secs(60).0 as i64;
/// Most tokens of a bucket.
const DEEPEST: i64 = i64::MAX / 4;

/// A bucket whose tokens are time, and may be owed.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    depth: i64,
    /// Tokens, in picoseconds of the rate.
    pub tokens: i64,
}

impl Bucket {
    /// Creates a full bucket of this depth.
    pub fn new(rate: Rate, bytes: u64) -> Self {
        let depth = cost(rate, bytes);
        Self {
            rate,
            depth,
            tokens: depth,
        }
    }

    /// Adds the tokens of a time in which nobody used them. They are bounded when they are used next.
    pub fn gain(&mut self, gained: i64) {
        self.tokens = self.tokens.saturating_add(gained).min(DEEPEST);
    }

    /// Adds the tokens of a time, and takes those of a frame.
    pub fn take(&mut self, gained: i64, bytes: u64) {
        let tokens = (self.tokens + gained).min(self.depth) - cost(self.rate, bytes);
        self.tokens = if tokens <= -LONGEST {
            1 - LONGEST
        } else {
            tokens
        };
    }
}

/// Returns the transmission time of a frame.
fn cost(rate: Rate, bytes: u64) -> i64 {
    let time = rate.transmission_time(Bytes(bytes));
    i64::try_from(time.0).unwrap_or(i64::MAX).min(DEEPEST)
}
