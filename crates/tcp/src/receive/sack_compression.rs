//! Linux's compression of selective ACKs (`__tcp_ack_snd_check` and `tcp_compressed_ack_kick` of
//! Linux 6.18, read). The first three segments behind a hole are acknowledged at once. The ACK of a
//! later one waits for up to a millisecond, and reports all that arrive in that time.

use goodqueue_types::Span;

/// Number of ACKs that leave at once after `next` has moved (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// Largest number of ACKs that one ACK replaces (`tcp_comp_sack_nr`).
const MAX_REPLACED: u8 = 44;
/// Longest delay (`tcp_comp_sack_delay_ns`). It is also at most a twentieth of the round trip.
const LONGEST: Span = Span::from_millis(1);
/// Time by which the kernel's timer may be late, and usually is, because no other timer wakes the
/// processor before (`tcp_comp_sack_slack_ns`).
const SLACK: Span = Span::from_micros(100);
/// Number of ranges that an ACK can be expected to report (`TCP_SACK_BLOCKS_EXPECTED`).
const REPORTED: usize = 2;

/// State of the compression.
#[derive(Debug, Default)]
pub(crate) struct SackCompression {
    /// Next sequence number expected, as of the last segment behind a hole, modulo 2³².
    next: u32,
    /// Number of ACKs that have left at once for this `next`.
    at_once: u8,
    /// Number of ACKs that wait.
    waiting: u8,
}

impl SackCompression {
    /// Records a segment behind a hole at `next`, which belongs to the range that was reported as
    /// the `age`-th last before. Returns the time for which its ACK may wait, or none if the ACK
    /// leaves at once. `rtt` is the round-trip time, or 0 if it is unknown.
    pub fn delay(&mut self, next: u64, age: usize, rtt: Span) -> Option<Span> {
        // A range that few ACKs still report must not wait for others.
        let crowded = age >= REPORTED && self.waiting > 0;
        if self.waiting >= MAX_REPLACED || crowded {
            return None;
        }
        if self.next != next as u32 {
            self.next = next as u32;
            self.at_once = 0;
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return None;
        }
        self.waiting += 1;
        Some(LONGEST.min(rtt / 20) + SLACK)
    }

    /// Records that an ACK has left.
    pub fn sent(&mut self) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delay is a twentieth of the round trip, at most 1 ms, and 0.1 ms for the timer.
    #[test]
    fn the_delay_follows_the_round_trip() {
        for (rtt_ms, delay_us) in [(4, 300), (20, 1100), (200, 1100)] {
            let mut state = SackCompression::default();
            let delay = |state: &mut SackCompression| state.delay(7, 0, Span::from_millis(rtt_ms));
            for _ in 0..3 {
                assert_eq!(delay(&mut state), None);
            }
            assert_eq!(delay(&mut state), Some(Span::from_micros(delay_us)));
        }
    }

    /// At most 44 ACKs wait for one, and none if the segment belongs to the third range.
    #[test]
    fn waiting_ends_early() {
        let rtt = Span::from_millis(40);
        let begun = || {
            let mut state = SackCompression::default();
            (0..3).for_each(|_| assert_eq!(state.delay(7, 0, rtt), None));
            state
        };
        let mut state = begun();
        (0..44).for_each(|_| assert!(state.delay(7, 0, rtt).is_some()));
        assert_eq!(state.delay(7, 0, rtt), None);
        state.sent();
        assert!(state.delay(7, 0, rtt).is_some());
        let mut state = begun();
        assert!(state.delay(7, 2, rtt).is_some(), "no ACK waits");
        assert!(state.delay(7, 1, rtt).is_some());
        assert_eq!(state.delay(7, 2, rtt), None);
    }
}
