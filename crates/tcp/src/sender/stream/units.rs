//! Sending in units, as a stack does that leaves segmentation to the device. An ACK that opens the
//! window by less than a unit sends nothing if the next ACK is near. The segments of a unit leave
//! back to back, which short queues notice.

use goodqueue_types::{Span, Time};

use crate::cc::CongestionControl;
use crate::connection::stats::CaState;
use crate::sender::ledger::{Ledger, Turn};

/// Binary logarithm of the inverse of a unit's duration: a unit lasts about 2⁻¹⁰ s at the pace
/// (Linux: `sk_pacing_shift`).
const PACE_SHIFT: u32 = 10;

/// The largest unit, in bytes: 64 KiB less the headers (Linux: `sk_gso_max_size`).
const LARGEST: u64 = 65_536 - 320;

/// Scale of the growth of units on short paths. Units grow with each halving of the shortest
/// round-trip time below 2⁹ µs times the bits of a unit's size (Linux: `tcp_tso_rtt_log`).
const RTT_SHIFT: u32 = 9;

/// Inverse of the share of the window that is used at once when it opens (Linux:
/// `tcp_tso_win_divisor`).
const WINDOW_SHARE: u64 = 3;

/// Time between writes from which they are no burst, and time to the next ACK up to which it is
/// near.
const BURST: Span = Span::from_millis(1);

/// The unit that is leaving.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unit {
    /// Number of its segments, and of those that have not left.
    segments: u32,
    left: u32,
    at: Time,
}

impl Unit {
    /// Returns true if the next segment belongs to a unit that has begun to leave.
    fn is_leaving(&self, now: Time) -> bool {
        self.left > 0 && self.at == now
    }

    /// Returns true if its last segment leaves now. Linux sets PSH in the last segment of a unit of
    /// several (`__tcp_transmit_skb`).
    pub fn is_pushed(&self, now: Time) -> bool {
        self.segments > 1 && self.left == 0 && self.at == now
    }
}

impl Ledger {
    /// Returns true if a segment of new data may leave, as part of a unit. Begins a unit if none is
    /// leaving. `window` is the present window in segments.
    pub fn take_from_unit(&mut self, turn: &Turn<'_>, window: u32) -> bool {
        if !self.unit.is_leaving(turn.now) {
            let Some(segments) = self.next_unit(turn, window) else {
                self.unit.left = 0;
                return false;
            };
            self.unit = Unit {
                segments,
                left: segments,
                at: turn.now,
            };
        }
        self.unit.left -= 1;
        true
    }

    /// Returns the segments of the unit that may leave now, or none if it is better to wait for the
    /// next ACK.
    fn next_unit(&self, turn: &Turn<'_>, window: u32) -> Option<u32> {
        let sender = &*turn.sender;
        let mss = self.rules.mss;
        let room = window.saturating_sub(self.records.in_flight()).max(1);
        let peer = sender
            .peer
            .bytes()
            .saturating_sub(sender.stream.next() - sender.stream.una());
        let data = sender
            .stream
            .data_end()
            .saturating_sub(sender.stream.next());
        // At least two units have to be in flight.
        let mut quota = room.min((window / 2).max(1));
        let limit = peer.min(u64::from(room) * mss);
        let may_wait = data > mss && limit < data && u64::from(room) * mss < peer;
        let may_wait = may_wait && self.ack_is_near(turn, limit);
        // Least number of segments of the largest unit; usually the unit has exactly this number.
        if may_wait || quota > sender.controller.least_burst() {
            let largest = self.largest_unit(turn);
            if may_wait && limit < u64::from(largest) * mss {
                return None;
            }
            quota = quota.min(largest);
        }
        let unit = u64::from(quota) * mss;
        if unit <= data.min(peer) {
            return Some(quota.max(1));
        }
        Some((data.min(peer).div_ceil(mss)).max(1) as u32)
    }

    /// Returns true if the window will soon open further (Linux: `tcp_tso_should_defer`).
    fn ack_is_near(&self, turn: &Turn<'_>, limit: u64) -> bool {
        let sender = &*turn.sender;
        let calm = self.episode.state() < CaState::Recovery;
        let share = sender.peer.bytes().min(sender.controller.cwnd()) / WINDOW_SHARE;
        if !calm || limit >= share || sender.activity.since_sending(turn.now) >= BURST {
            return false;
        }
        let srtt = sender.rtt.srtt(&turn.config.rto).unwrap_or(Span::ZERO);
        self.records.first().is_some_and(|first| {
            let due = first.sent.saturating_add(srtt);
            due.saturating_since(turn.now) <= BURST.min(srtt / 2)
        })
    }

    /// Returns the segments sent in about a millisecond at the pace, and more on short paths. The
    /// control sets the minimum.
    fn largest_unit(&self, turn: &Turn<'_>) -> u32 {
        if let Some(burst) = turn.sender.controller.burst() {
            return burst;
        }
        let rate = self.pacing_rate(turn).0;
        let mut bytes = (rate / 8) >> PACE_SHIFT;
        if let Some(min_rtt) = self.min_rtt.get() {
            let shift = (min_rtt.0 / Span::from_micros(1).0) >> RTT_SHIFT;
            if shift < 32 {
                bytes += LARGEST >> shift;
            }
        }
        let least = turn.sender.controller.least_burst();
        ((bytes.min(LARGEST) / self.rules.mss) as u32).max(least)
    }
}
