//! The cause that keeps a sender from sending more, and its duration: as Linux's chronographs
//! (`tcp_chrono_start`), with a state for each cause.

use goodqueue_types::{Span, Time};

use crate::cc::CongestionControl;
use crate::sender::Sender;

/// Cause that limits a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limited {
    /// Nothing: no data wait to be sent, and none are outstanding.
    #[default]
    Nothing,
    /// The connection's handshake is not complete.
    Handshake,
    /// Data wait for the congestion control: its window, its pacing or its recovery.
    Congestion,
    /// Data wait for space in the peer's window.
    ReceiverWindow,
    /// All data that the application wrote are sent and not acknowledged yet.
    Application,
}

impl Limited {
    /// Number of causes.
    pub const COUNT: usize = 5;
    /// All causes, each at the index `limited as usize`.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Nothing,
        Self::Handshake,
        Self::Congestion,
        Self::ReceiverWindow,
        Self::Application,
    ];

    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Handshake => "handshake",
            Self::Congestion => "congestion",
            Self::ReceiverWindow => "receiver_window",
            Self::Application => "application",
        }
    }
}

/// Time for which each cause limited a sender, at the index `limited as usize`.
pub type TimeLimited = [Span; Limited::COUNT];

/// Time spent in each state before the present one, and the start of the present one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chronograph {
    pub since: Time,
    spent: TimeLimited,
}

impl Sender {
    /// Sets the cause that limits the sender from now on.
    #[inline]
    pub fn note_limit(&mut self, now: Time, limited: Limited) {
        if limited != self.limited {
            self.change_limit(now, limited);
        }
    }

    #[cold]
    fn change_limit(&mut self, now: Time, limited: Limited) {
        let before = std::mem::replace(&mut self.limited, limited);
        let chronograph = self.chronograph.get_or_insert_with(Box::default);
        chronograph.spent[before as usize] += now - chronograph.since;
        chronograph.since = now;
    }

    /// Returns the times up to `now`. The present state counts unless the connection has ended.
    pub fn time_limited(&self, now: Time, is_gone: bool) -> TimeLimited {
        let Some(chronograph) = &self.chronograph else {
            return TimeLimited::default();
        };
        let mut spent = chronograph.spent;
        if !is_gone {
            spent[self.limited as usize] += now.saturating_since(chronograph.since);
        }
        spent
    }

    /// Returns the time at which the present cause began.
    pub fn limited_since(&self) -> Time {
        let chronograph = self.chronograph.as_ref();
        chronograph.map_or(Time::ZERO, |chronograph| chronograph.since)
    }

    /// Returns true if the congestion window has room for more data, with what recovery adds to it.
    pub fn cwnd_has_room(&self, mss: u64) -> bool {
        if let Some(ledger) = &self.ledger {
            return ledger.window(self) > ledger.records.in_flight();
        }
        // Without records both windows count from `una`, and the smaller one limits.
        let waiting = self.stream.data_end().saturating_sub(self.stream.next());
        let used = self.stream.next() - self.stream.una();
        let cwnd = self.controller.cwnd().saturating_add_signed(self.extra);
        cwnd >= (used + waiting.min(mss)).min(self.window)
    }

    /// Returns the cause that limits the sender, after it has sent all that it may. `cwnd_has_room`
    /// is the answer of [`cwnd_has_room`](Self::cwnd_has_room).
    pub fn find_limit(&self, mss: u64, cwnd_has_room: bool) -> Limited {
        if self.stream.next() >= self.stream.data_end() {
            return if self.stream.is_idle() {
                Limited::Nothing
            } else {
                Limited::Application
            };
        }
        let waiting = self.stream.data_end() - self.stream.next();
        let used = self.stream.next() - self.stream.una();
        let peer_has_room = self.window >= used + waiting.min(mss);
        match (cwnd_has_room, peer_has_room) {
            (true, false) => Limited::ReceiverWindow,
            // Less than a segment waits for more data (Nagle's algorithm).
            (true, true) if waiting < mss => Limited::Application,
            _ => Limited::Congestion,
        }
    }
}
