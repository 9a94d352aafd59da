//! Places and times of losses.

use crate::Nanos;

/// Place of a loss relative to the tapping points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The target link: between two tapping points, or on the side of a single one on which it is
    /// assumed.
    Target,
    /// A link before the first tapping point.
    Upstream,
    /// A link after the last tapping point.
    Downstream,
}

impl Place {
    /// Number of places.
    pub const COUNT: usize = 3;
    /// Names in results, each at its index.
    pub const NAMES: [&str; Self::COUNT] = ["target", "upstream", "downstream"];
}

/// Packets lost at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Time at which the first of them was last seen, or at which it was found missing.
    pub time: Nanos,
    /// Number of the flow. None for a log of drops.
    pub flow: Option<u32>,
    /// Number of packets.
    pub packets: u32,
    /// Place of the loss.
    pub place: Place,
    /// Wait of packets at the target link at that time, if it was seen.
    pub wait: Option<Nanos>,
}

/// Times of a flow's last loss at each place.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastLosses([Option<Nanos>; Place::COUNT]);

impl LastLosses {
    /// Records a loss that is known from this time on.
    pub fn note(&mut self, place: Place, time: Nanos) {
        let last = &mut self.0[place as usize];
        *last = Some(last.map_or(time, |last| last.max(time)));
    }

    /// Returns, for each place, true if there was a loss since a time.
    pub fn since(&self, time: Nanos) -> [bool; Place::COUNT] {
        self.0.map(|last| last.is_some_and(|last| last >= time))
    }
}
