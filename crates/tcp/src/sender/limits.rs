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

/// The cause that limits a sender, and the time for which each cause did.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// Cause that limited the sender when it last had nothing to send.
    present: Limited,
    /// Times for which each cause limited the sender, once one has.
    chronograph: Option<Box<Chronograph>>,
}

/// Time spent in each state before the present one, and the start of the present one.
#[derive(Clone, Copy, Debug, Default)]
struct Chronograph {
    since: Time,
    spent: TimeLimited,
}

impl Limits {
    /// Sets the cause that limits the sender from now on.
    #[inline]
    pub fn note(&mut self, now: Time, limited: Limited) {
        if limited != self.present {
            self.change(now, limited);
        }
    }

    #[cold]
    fn change(&mut self, now: Time, limited: Limited) {
        let before = std::mem::replace(&mut self.present, limited);
        let chronograph = self.chronograph.get_or_insert_with(Box::default);
        chronograph.spent[before as usize] += now - chronograph.since;
        chronograph.since = now;
    }

    /// Returns the cause that limits the sender now.
    pub fn present(&self) -> Limited {
        self.present
    }

    /// Returns the times up to `now`. The present state counts unless the connection has ended.
    pub fn times(&self, now: Time, is_gone: bool) -> TimeLimited {
        let Some(chronograph) = &self.chronograph else {
            return TimeLimited::default();
        };
        let mut spent = chronograph.spent;
        if !is_gone {
            spent[self.present as usize] += now.saturating_since(chronograph.since);
        }
        spent
    }

    /// Returns the time at which the present cause began.
    pub fn since(&self) -> Time {
        let chronograph = self.chronograph.as_ref();
        chronograph.map_or(Time::ZERO, |chronograph| chronograph.since)
    }
}

impl Sender {
    /// Returns true if the congestion window has room for more data, with what recovery adds to it.
    pub fn cwnd_has_room(&self, mss: u64) -> bool {
        if let Some(ledger) = &self.ledger {
            return ledger.window_segments(self) > ledger.records.in_flight();
        }
        // Without records both windows count from `una`, and the smaller one limits.
        let waiting = self.stream.data_end().saturating_sub(self.stream.next());
        let used = self.stream.next() - self.stream.una();
        let cwnd = self
            .controller
            .cwnd()
            .saturating_add_signed(self.accounting.extra());
        cwnd >= (used + waiting.min(mss)).min(self.peer.bytes())
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
        let peer_has_room = self.peer.bytes() >= used + waiting.min(mss);
        match (cwnd_has_room, peer_has_room) {
            (true, false) => Limited::ReceiverWindow,
            // Less than a segment waits for more data (Nagle's algorithm).
            (true, true) if waiting < mss => Limited::Application,
            _ => Limited::Congestion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handshake of 2 s, a full window for 3 s, and silence: each cause has its time, and an ended
    /// connection has no present one.
    #[test]
    fn each_cause_is_counted_from_its_begin_to_the_next() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut limits = Limits::default();
        assert_eq!(limits.times(at(9), false), TimeLimited::default());
        limits.note(at(1), Limited::Handshake);
        limits.note(at(3), Limited::Congestion);
        limits.note(at(4), Limited::Congestion);
        limits.note(at(6), Limited::Application);
        assert_eq!(
            (limits.present(), limits.since()),
            (Limited::Application, at(6))
        );
        for (is_gone, application) in [(false, 2), (true, 0)] {
            let times = limits.times(at(8), is_gone);
            assert_eq!(times, [1, 2, 3, 0, application].map(Span::from_secs));
        }
    }
}
