//! Queues that take little more memory than their entries.

use std::collections::VecDeque;

/// Appends to a queue that grows by a quarter instead of doubling, because thousands of flows have
/// one.
#[inline]
pub(super) fn push_tight<T>(queue: &mut VecDeque<T>, entry: T) {
    if queue.len() == queue.capacity() {
        queue.reserve_exact((queue.len() / 4).max(2));
    }
    queue.push_back(entry);
}

/// Gives memory back if three quarters of it are empty, as after slow start.
#[inline]
pub(super) fn give_back<T>(queue: &mut VecDeque<T>) {
    if queue.len() < queue.capacity() / 4 && queue.capacity() > 16 {
        queue.shrink_to(2 * queue.len() + 4);
    }
}
