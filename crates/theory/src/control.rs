//! Congestion controls, as the theory of buffer sizes distinguishes them.

use crate::format::general;

/// Congestion control of long flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Reno (RFC 5681).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// Reno with an alternative backoff after marks (RFC 8511).
    Abe,
    /// Kelly's Scalable TCP.
    Scalable,
    /// BBR, version 1.
    Bbr,
    /// BBR, version 3.
    Bbr3,
    /// TCP Prague, whose window follows marks (RFC 9331).
    Prague,
    /// Data Center TCP, whose window follows marks (RFC 8257).
    Dctcp,
}

impl Control {
    /// All controls, those with a fixed decrease first.
    pub const ALL: [Self; 8] = [
        Self::Reno,
        Self::Cubic,
        Self::Abe,
        Self::Scalable,
        Self::Bbr,
        Self::Bbr3,
        Self::Prague,
        Self::Dctcp,
    ];

    /// Returns the control of a name; None for a name that the theory does not know.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Name in files and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Abe => "abe",
            Self::Scalable => "scalable",
            Self::Bbr => "bbr",
            Self::Bbr3 => "bbr3",
            Self::Prague => "prague",
            Self::Dctcp => "dctcp",
        }
    }

    /// Name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Reno => "Reno",
            Self::Cubic => "CUBIC",
            Self::Abe => "ABE",
            Self::Scalable => "Scalable TCP",
            Self::Bbr => "BBR",
            Self::Bbr3 => "BBRv3",
            Self::Prague => "Prague",
            Self::Dctcp => "DCTCP",
        }
    }

    /// Share of its window that a sender keeps after a loss: RFC 5681, RFC 9438 section 4.6, Kelly's
    /// Scalable TCP. None without a fixed share. ABE keeps as much as Reno, because RFC 8511 changes
    /// only the reaction to ECN.
    pub fn decrease(self) -> Option<f64> {
        match self {
            Self::Reno | Self::Abe => Some(0.5),
            Self::Cubic => Some(0.7),
            Self::Scalable => Some(0.875),
            Self::Bbr | Self::Bbr3 | Self::Prague | Self::Dctcp => None,
        }
    }

    /// True if the control estimates a rate, and keeps at most two bandwidth-delay products in
    /// flight.
    pub fn is_rate_based(self) -> bool {
        matches!(self, Self::Bbr | Self::Bbr3)
    }

    /// True if the control needs a queue that marks packets with ECN.
    pub fn needs_marks(self) -> bool {
        matches!(self, Self::Prague | Self::Dctcp)
    }

    /// True if the control always spaces its packets over the round trip.
    pub fn paces(self) -> bool {
        self.is_rate_based() || self == Self::Prague
    }
}

/// Returns controls with their shares of the flows in the form in which they can be typed, such as
/// `cubic:70%,bbr3:30%`.
pub fn control_words(shares: &[(Control, f64)]) -> String {
    if let [(control, _)] = shares {
        return control.name().to_owned();
    }
    let words = shares
        .iter()
        .map(|(control, share)| format!("{}:{}%", control.name(), general(100.0 * share, 10)));
    words.collect::<Vec<_>>().join(",")
}
