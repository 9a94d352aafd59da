//! The backlog of a queue, and the limit on it.

use goodqueue_types::parameters::{Parameter, Value};

/// Backlog of a queue: packets, and their bytes with link-layer framing. It excludes the frame in
/// transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets that wait.
    pub packets: u64,
    /// Frame bytes that wait.
    pub bytes: u64,
}

impl Backlog {
    /// Adds a frame of this size.
    #[inline]
    pub fn add(&mut self, frame_bytes: u64) {
        self.packets += 1;
        self.bytes += frame_bytes;
    }

    /// Removes a frame of this size.
    #[inline]
    pub fn remove(&mut self, frame_bytes: u64) {
        self.packets -= 1;
        self.bytes -= frame_bytes;
    }
}

/// Largest backlog of a queue. This is the one definition of what a buffer limit counts (MODEL.md,
/// "Limits").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Largest number of packets.
    Packets(u64),
    /// Largest number of frame bytes.
    Bytes(u64),
    /// No limit. This is the default of a host's own interface.
    Unlimited,
}

impl Limit {
    /// Returns true if a frame of this size may join the backlog. Linux `pfifo` (`qlen < limit`)
    /// and `bfifo` (`backlog + bytes <= limit`) decide in the same manner.
    #[inline]
    pub fn admits(self, backlog: Backlog, frame_bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + frame_bytes <= limit,
            Self::Unlimited => true,
        }
    }

    /// Returns true if the backlog is at the limit or above it. ns-2's RED uses this instead of
    /// [`Limit::admits`], so its last packet may exceed a limit in bytes.
    #[inline]
    pub fn is_reached_by(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets >= limit,
            Self::Bytes(limit) => backlog.bytes >= limit,
            Self::Unlimited => false,
        }
    }

    /// Returns true if the backlog is above the limit. Queues use this that accept a packet first
    /// and then drop another (Linux `sfq`, `fq_codel`).
    #[inline]
    pub fn is_exceeded_by(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets > limit,
            Self::Bytes(limit) => backlog.bytes > limit,
            Self::Unlimited => false,
        }
    }
}

impl Parameter for Limit {
    fn from_value(value: Value) -> Self {
        match value {
            Value::Packets(packets) => Self::Packets(packets),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            _ => Self::Unlimited,
        }
    }

    fn value(&self) -> Value {
        match *self {
            Self::Packets(packets) => Value::Packets(packets),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Unlimited => Value::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_admit_up_to_and_including_themselves() {
        let two = Backlog {
            packets: 2,
            bytes: 1200,
        };
        assert!(Limit::Packets(3).admits(two, 9000));
        assert!(!Limit::Packets(2).admits(two, 1));
        assert!(Limit::Bytes(1500).admits(two, 300));
        assert!(!Limit::Bytes(1500).admits(two, 301));
        assert!(Limit::Unlimited.admits(two, u64::MAX - 1200));
        assert!(!Limit::Packets(0).admits(Backlog::default(), 1));
        assert!(Limit::Packets(1).is_exceeded_by(two) && !Limit::Packets(2).is_exceeded_by(two));
        assert!(Limit::Packets(2).is_reached_by(two) && !Limit::Packets(3).is_reached_by(two));
        assert!(Limit::Bytes(1200).is_reached_by(two) && !Limit::Bytes(1201).is_reached_by(two));
        assert!(Limit::Bytes(1199).is_exceeded_by(two) && !Limit::Bytes(1200).is_exceeded_by(two));
    }
}
