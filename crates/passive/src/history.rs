//! What the sender knew when it sent: acknowledgements reach it later than the tapping point, and
//! its data pass there later still.

use crate::Nanos;
use std::collections::VecDeque;

/// Steps that the delay between the tapping point and the sender is cut into.
const STEPS: i64 = 128;
const MOST_ENTRIES: usize = 512;

/// What acknowledgements had said at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// When the acknowledgement that says so passed.
    pub time: Nanos,
    /// Everything before is acknowledged.
    pub una: u64,
    /// The end of the receiver's window.
    pub edge: u64,
}

/// The recent acknowledgements.
#[derive(Debug, Default)]
pub struct History {
    views: VecDeque<View>,
}

impl History {
    /// Takes note of an acknowledgement; `delay` is how far back will be asked.
    pub fn push(&mut self, view: View, delay: Nanos) {
        match self.views.back_mut() {
            Some(last) if last.una == view.una && last.edge == view.edge => return,
            // Close ones are one: the later says more, the earlier was there first.
            Some(last) if view.time - last.time < delay / STEPS => {
                (last.una, last.edge) = (view.una, view.edge);
                return;
            }
            _ => {}
        }
        if self.views.len() >= MOST_ENTRIES {
            self.views.pop_front();
        }
        self.views.push_back(view);
    }

    /// What was known `delay` before a time; forgets what was known twice as long before, as the delay
    /// may grow. Of times before all that is remembered, the oldest.
    pub fn at(&mut self, time: Nanos, delay: Nanos) -> Option<View> {
        let kept = time - 2 * delay;
        while self.views.get(1).is_some_and(|next| next.time <= kept) {
            self.views.pop_front();
        }
        let after = self.views.partition_point(|view| view.time <= time - delay);
        self.views.get(after.saturating_sub(1)).copied()
    }
}
