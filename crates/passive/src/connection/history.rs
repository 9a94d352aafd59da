//! The sender's knowledge at the time of sending. ACKs reach the sender later than the tapping
//! point, and its data pass the tapping point later still.

use crate::Nanos;
use std::collections::VecDeque;

/// Number of steps into which the delay between tapping point and sender is divided.
const STEPS: i64 = 128;
const MAX_ENTRIES: usize = 512;

/// State of the acknowledgements at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Time at which the ACK passed.
    pub time: Nanos,
    /// Sequence position up to which all data are acknowledged.
    pub una: u64,
    /// End of the receiver's window.
    pub edge: u64,
}

/// Recent acknowledgements.
#[derive(Debug, Default)]
pub struct History {
    views: VecDeque<View>,
}

impl History {
    /// Records an ACK. `delay` is the time by which queries look back.
    pub fn push(&mut self, view: View, delay: Nanos) {
        match self.views.back_mut() {
            Some(last) if last.una == view.una && last.edge == view.edge => return,
            // ACKs close to one another are merged: the data of the later one, at the time of the
            // earlier one.
            Some(last) if view.time - last.time < delay / STEPS => {
                (last.una, last.edge) = (view.una, view.edge);
                return;
            }
            _ => {}
        }
        if self.views.len() >= MAX_ENTRIES {
            self.views.pop_front();
        }
        self.views.push_back(view);
    }

    /// Returns the state `delay` before a time, or the oldest one recorded if that is later.
    /// Discards states twice as old, which leaves room for a growing delay.
    pub fn at(&mut self, time: Nanos, delay: Nanos) -> Option<View> {
        let kept = time - 2 * delay;
        while self.views.get(1).is_some_and(|next| next.time <= kept) {
            self.views.pop_front();
        }
        let after = self.views.partition_point(|view| view.time <= time - delay);
        self.views.get(after.saturating_sub(1)).copied()
    }
}
