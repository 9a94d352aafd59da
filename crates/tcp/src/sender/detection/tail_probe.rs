//! The tail loss probe in flight (RFC 8985 section 7).

/// Meaning of an ACK for the probe in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The ACK decides nothing, or shows that nothing was lost.
    Harmless,
    /// The probe has repaired a loss.
    Repaired,
}

/// A tail loss probe in flight, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct TailProbe {
    probe: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
struct Probe {
    /// Highest sequence number sent when the probe left.
    high_seq: u64,
    /// True if the probe repeated old data.
    resent: bool,
}

impl TailProbe {
    /// Records that a probe leaves, with the highest sequence number sent.
    pub fn leave(&mut self, high_seq: u64, resent: bool) {
        self.probe = Some(Probe { high_seq, resent });
    }

    /// Forgets the probe.
    pub fn forget(&mut self) {
        self.probe = None;
    }

    /// Returns true if a probe is in flight.
    pub fn is_out(&self) -> bool {
        self.probe.is_some()
    }

    /// Returns true if a probe in flight repeats old data.
    pub fn repeats(&self) -> bool {
        self.probe.is_some_and(|probe| probe.resent)
    }

    /// Returns true if a probe in flight repeats the data that end at `end`.
    pub fn repeats_to(&self, end: u64) -> bool {
        let fits = |probe: Probe| probe.resent && probe.high_seq == end;
        self.probe.is_some_and(fits)
    }

    /// Returns true if an ACK up to `ack` may decide about a probe in flight.
    #[inline]
    pub fn is_reached(&self, ack: u64) -> bool {
        self.probe.is_some_and(|probe| ack >= probe.high_seq)
    }

    /// Decides about the probe by an ACK that [reaches](Self::is_reached) it (RFC 8985 section 7.4).
    /// `dsack` is true if the ACK reports the probe as a duplicate, and `plain_duplicate` if it is a
    /// duplicate ACK without SACK. A probe that has repaired a loss is left to the caller.
    pub fn judge(&mut self, ack: u64, dsack: bool, plain_duplicate: bool) -> Verdict {
        let Some(probe) = self.probe else {
            return Verdict::Harmless;
        };
        if !probe.resent || dsack {
            self.probe = None;
        } else if ack > probe.high_seq {
            return Verdict::Repaired;
        } else if plain_duplicate {
            self.probe = None;
        }
        Verdict::Harmless
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated() -> TailProbe {
        let mut probe = TailProbe::default();
        probe.leave(5001, true);
        probe
    }

    /// An ACK of later data without a report of a duplicate: only one copy of the segment arrived.
    #[test]
    fn a_probe_has_repaired_a_loss_if_no_duplicate_is_reported() {
        let mut probe = repeated();
        assert!(!probe.is_reached(5000) && probe.is_reached(5001));
        assert_eq!(probe.judge(5001, false, false), Verdict::Harmless);
        assert!(probe.is_out(), "the ACK may be that of the first copy");
        assert_eq!(probe.judge(6001, false, false), Verdict::Repaired);
        assert!(probe.repeats() && probe.repeats_to(5001) && !probe.repeats_to(6001));
    }

    #[test]
    fn a_second_report_of_the_segment_shows_that_nothing_was_lost() {
        for (dsack, plain_duplicate) in [(true, false), (false, true)] {
            let mut probe = repeated();
            let verdict = probe.judge(5001, dsack, plain_duplicate);
            assert_eq!((verdict, probe.is_out()), (Verdict::Harmless, false));
        }
    }

    #[test]
    fn a_probe_of_new_data_shows_no_loss() {
        let mut probe = TailProbe::default();
        probe.leave(6001, false);
        assert!(probe.is_out() && !probe.repeats());
        assert_eq!(probe.judge(6001, false, false), Verdict::Harmless);
        assert!(!probe.is_out());
    }
}
