//! The data that recovery sends until the next ACK.

/// Data that may leave until the next ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Resend {
    /// Only new data may be sent.
    #[default]
    Nothing,
    /// Data marked lost, then new data.
    Lost,
    /// New data may be sent, or data marked lost if no new data are left (RFC 5682).
    NewData,
}

/// The data that recovery by records sends until the next ACK.
#[derive(Debug, Default)]
pub(crate) struct Due {
    resend: Resend,
    first: bool,
    fast_retransmit: bool,
    probe: bool,
}

impl Due {
    /// Returns the data that may leave.
    #[inline]
    pub fn resend(&self) -> Resend {
        self.resend
    }

    /// Sets the data that may leave until the next ACK.
    #[inline]
    pub fn set_resend(&mut self, resend: Resend) {
        self.resend = resend;
    }

    /// Makes the first segment due, whatever the window allows. A timeout cancels the probe.
    pub fn time_out(&mut self) {
        *self = Self {
            first: true,
            resend: Resend::Nothing,
            probe: false,
            ..*self
        };
    }

    /// Returns true if the first segment was due.
    #[inline]
    pub fn take_first(&mut self) -> bool {
        std::mem::take(&mut self.first)
    }

    /// Sets whether the first lost segment is due whatever the window allows (RFC 6675 section 5,
    /// step (4.3)).
    pub fn retransmit_fast(&mut self, is_due: bool) {
        self.fast_retransmit = is_due;
    }

    /// Returns true if a fast retransmit was due.
    #[inline]
    pub fn take_fast_retransmit(&mut self) -> bool {
        std::mem::take(&mut self.fast_retransmit)
    }

    /// Makes a tail loss probe due.
    pub fn probe(&mut self) {
        self.probe = true;
    }

    /// Returns true if a tail loss probe was due.
    #[inline]
    pub fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_takes_the_place_of_a_probe() {
        let mut due = Due::default();
        due.set_resend(Resend::Lost);
        due.probe();
        due.retransmit_fast(true);
        due.time_out();
        assert_eq!(due.resend(), Resend::Nothing);
        assert!(!due.take_probe());
        assert!(due.take_first() && !due.take_first());
        assert!(due.take_fast_retransmit() && !due.take_fast_retransmit());
    }
}
