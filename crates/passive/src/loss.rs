//! Where and when packets were lost.

use crate::Nanos;

/// Where, as seen from the tapping points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// At the target link: between two tapping points, or on the side of one where it is taken to be.
    Target,
    /// Before the first tapping point.
    Upstream,
    /// After the last.
    Downstream,
}

impl Place {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// Names in results, each at its index.
    pub const NAMES: [&str; Self::COUNT] = ["target", "upstream", "downstream"];
}

/// Packets lost at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When the first of them was seen last, or when it was missed.
    pub time: Nanos,
    /// The flow's number; none in a drop log.
    pub flow: Option<u32>,
    /// How many.
    pub packets: u32,
    /// Where.
    pub place: Place,
    /// How long packets waited at the target link then, if that was seen.
    pub wait: Option<Nanos>,
}

/// When a flow last lost something at each place.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastLosses([Option<Nanos>; Place::COUNT]);

impl LastLosses {
    /// A loss became known.
    pub fn note(&mut self, place: Place, time: Nanos) {
        let last = &mut self.0[place as usize];
        *last = Some(last.map_or(time, |last| last.max(time)));
    }

    /// At which places something was lost since a time.
    pub fn since(&self, time: Nanos) -> [bool; Place::COUNT] {
        self.0.map(|last| last.is_some_and(|last| last >= time))
    }
}
