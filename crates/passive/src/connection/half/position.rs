//! Position of a segment relative to those before it: near, far, outside, or the same data again.

use super::{FAR, Half};
use crate::Nanos;
use crate::connection::plausible::{LACKING, LARGEST_WINDOW, Position, USUAL_REACH};
use crate::repeats::Context;
use goodqueue_trace::read::TcpHeader;

impl Half {
    /// Returns the position of data of this direction relative to those before. `knows_windows` is true
    /// if the scale of the receiver's windows was seen.
    pub fn position(&self, seq: u32, payload: u32, knows_windows: bool) -> Position {
        // Without data the numbers of ACKs show what the capture lacks.
        if !self.numbers.has_begun() || payload == 0 && self.first_data.is_none() {
            return Position::Within;
        }
        let reach = self.reach();
        let window = if knows_windows {
            self.max_window.max(reach)
        } else {
            LARGEST_WINDOW
        };
        let start = self.numbers.peek(seq);
        let end = start + u64::from(payload);
        let oldest = if self.acks > 0 {
            self.una
        } else {
            self.next.saturating_sub(LACKING)
        };
        let (above, below) = (start.saturating_sub(self.next), oldest.saturating_sub(end));
        let distance = above.max(below);
        if distance <= reach {
            Position::Within
        } else if distance <= window && distance <= FAR {
            Position::Far
        } else {
            Position::Outside
        }
    }

    /// Returns the position of an ACK of this direction relative to its data.
    pub fn position_of_ack(&self, ack: u32) -> Position {
        if self.first_data.is_none() {
            return Position::Within;
        }
        let beyond = self.numbers.peek(ack).saturating_sub(self.next);
        if beyond <= self.reach() {
            Position::Within
        } else if beyond <= FAR {
            Position::Far
        } else {
            Position::Outside
        }
    }

    /// Returns the distance within which data follow those before.
    fn reach(&self) -> u64 {
        USUAL_REACH.max(self.rounds.max_flight.saturating_mul(2))
    }

    /// Returns true if these data were captured before, at another place or as differently cut segments:
    /// before the division of a super-segment, or after it.
    pub fn is_copy(&self, tcp: &TcpHeader, time: Nanos, context: Context) -> bool {
        if tcp.payload == 0 || !self.numbers.has_begun() {
            return false;
        }
        let start = self.numbers.peek(tcp.seq);
        let end = start + u64::from(tcp.payload);
        if start < self.una || end > self.next {
            return false;
        }
        let lately = |sent| context.is_copy_after(time - sent);
        let otherwise = context.elsewhere || !self.scoreboard.is_record(start, end);
        otherwise && self.scoreboard.was_seen(start, end, lately)
    }
}
