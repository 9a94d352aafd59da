//! Values that a connection starts with: a number with a unit, or a word.

use goodqueue_types::parameters::{Parameter, Value};

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// A number of segments.
    Segments(u32),
    /// The table of RFC 5681 section 3.1.
    Rfc5681,
}

impl InitialWindow {
    /// Returns the window in bytes for segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u64 {
        let segments = match self {
            Self::Segments(n) => n,
            Self::Rfc5681 if mss > 2190 => 2,
            Self::Rfc5681 if mss > 1095 => 3,
            Self::Rfc5681 => 4,
        };
        u64::from(segments) * u64::from(mss)
    }
}

impl Parameter for InitialWindow {
    fn from_value(value: Value) -> Self {
        Option::from_value(value).map_or(Self::Rfc5681, Self::Segments)
    }

    fn value(&self) -> Value {
        match self {
            Self::Segments(segments) => Value::Packets(u64::from(*segments)),
            Self::Rfc5681 => Value::Absent,
        }
    }
}

/// Initial slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// Arbitrarily high, so that only loss ends the first slow start (RFC 5681 section 3.1).
    Unlimited,
    /// A number of bytes.
    Bytes(u64),
    /// A number of segments.
    Segments(u32),
    /// The whole segments in the receive window (ns-2, whose `ssthresh_` starts as `window_`).
    ReceiveWindow,
}

impl Parameter for InitialSsthresh {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Packets(segments) => Self::Segments(segments as u32),
            Value::Word("receive_window") => Self::ReceiveWindow,
            value => Option::from_value(value).map_or(Self::Unlimited, Self::Bytes),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Unlimited => Value::Absent,
            Self::Bytes(bytes) => Value::Bytes(*bytes),
            Self::Segments(segments) => Value::Packets(u64::from(*segments)),
            Self::ReceiveWindow => Value::Word("receive_window"),
        }
    }
}
