//! The state of recovery by records, and the sequence number at which it ends.

use goodqueue_types::Time;

use crate::connection::stats::CaState;

/// State of recovery (Linux: `icsk_ca_state` and `high_seq`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Episode {
    /// Highest sequence number sent when the state was entered.
    high_seq: u64,
    /// Start of the last reduction.
    reduced_at: Time,
    state: CaState,
    /// True if the next ACK to be handled requires a smaller window.
    ecn_echo: bool,
}

impl Episode {
    #[inline]
    pub fn state(&self) -> CaState {
        self.state
    }

    /// Enters a state. Returns the state that it leaves.
    pub fn enter(&mut self, state: CaState) -> CaState {
        std::mem::replace(&mut self.state, state)
    }

    /// Returns the sequence number whose acknowledgement ends the state.
    #[inline]
    pub fn high_seq(&self) -> u64 {
        self.high_seq
    }

    /// Sets the sequence number whose acknowledgement ends the state.
    pub fn end_at(&mut self, max_sent: u64) {
        self.high_seq = max_sent;
    }

    /// Returns the start of the last reduction.
    pub fn reduced_at(&self) -> Time {
        self.reduced_at
    }

    /// Records that a reduction starts.
    pub fn reduce(&mut self, now: Time) {
        self.reduced_at = now;
    }

    /// Records an ECN echo in an ACK up to `ack`. Returns true if it requires a smaller window,
    /// because no reduction is in progress, or because the ACK ends one.
    pub fn note_echo(&mut self, ack: u64) -> bool {
        let ends = self.state == CaState::Cwr && ack > self.high_seq;
        self.ecn_echo = self.state < CaState::Cwr || ends;
        self.ecn_echo
    }

    /// Returns true if an ECN echo has not been handled.
    #[inline]
    pub fn has_echo(&self) -> bool {
        self.ecn_echo
    }

    /// Returns true if the present ACK requires a smaller window.
    #[inline]
    pub fn take_echo(&mut self) -> bool {
        std::mem::take(&mut self.ecn_echo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 section 6.1.2: the window falls once in a round trip, whatever the number of echoes.
    #[test]
    fn one_echo_counts_until_the_reduction_is_acknowledged() {
        let mut episode = Episode::default();
        assert!(episode.note_echo(1001));
        assert!(episode.take_echo() && !episode.take_echo());
        episode.enter(CaState::Cwr);
        episode.end_at(9001);
        assert!(!episode.note_echo(9001), "the reduction is in progress");
        assert!(!episode.has_echo());
        assert!(episode.note_echo(9002), "the ACK ends it");
        assert_eq!(episode.enter(CaState::Recovery), CaState::Cwr);
        assert!(
            !episode.note_echo(9999),
            "recovery reduces the window itself"
        );
    }
}
