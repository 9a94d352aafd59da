//! Records of the segments that are sent and not acknowledged yet. RACK, delivery rates and undo
//! need them. The counts have their names in Linux and RFC 8985.

use std::collections::VecDeque;

use goodqueue_types::Time;

use crate::sender::in_flight::rate::Snapshot;
use crate::sender::in_flight::record::{Marks, Record, limited};
use crate::sender::in_flight::tight::{give_back, push_tight};

/// A retransmission. An entry becomes void when its record is acknowledged, SACKed, marked lost or
/// sent again.
#[derive(Clone, Copy, Debug)]
struct Repetition {
    sent: Time,
    /// End of its record.
    end: u64,
    /// Sequence number above which first transmissions came later than this retransmission.
    sent_to: u64,
}

/// Retransmissions in order of time.
#[derive(Debug, Default)]
struct Repetitions {
    queue: VecDeque<Repetition>,
}

/// Snapshots of all records, in their order.
#[derive(Debug, Default)]
struct Snapshots {
    ring: VecDeque<Snapshot>,
    /// Transmissions that were marked lost and that the control has not seen yet.
    losses: Vec<Loss>,
}

/// A transmission that was marked lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub seq: u64,
    pub end: u64,
    pub snapshot: Snapshot,
    /// Value of [`Records::lost`] with this loss.
    pub lost: u64,
}

/// The retransmission queue.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Records in order of sequence numbers.
    ring: VecDeque<Record>,
    /// State of delivery at each record's last transmission, if delivery rates are needed. The
    /// snapshot is stored apart, because it would double the size of a record.
    snapshots: Option<Box<Snapshots>>,
    /// Retransmissions in order of time; none before the first one. First transmissions are in that
    /// order in `ring`.
    repetitions: Option<Box<Repetitions>>,
    /// Sequence number up to which first transmissions are no longer examined by time.
    visited_to: u64,
    /// Number of segments SACKed, or counted as such from duplicate ACKs.
    sacked_out: u32,
    /// Value of `sacked_out` before the present ACK.
    sacked_before: u32,
    /// Number of segments marked lost.
    lost_out: u32,
    /// Number of retransmissions in flight.
    resent_out: u32,
    /// Number of segments marked lost that wait for their retransmission.
    waiting: u32,
    /// Sequence number below which no record waits.
    resend_from: u64,
    /// Sequence number below which all segments are marked lost that were sent only once and are
    /// not SACKed.
    counted_below: u64,
    /// Number of segments marked lost since the start of the connection, including retransmissions.
    lost: u64,
}

impl Records {
    /// Creates an empty queue. Snapshots are kept with the records if `rate_samples` is true.
    pub fn new(rate_samples: bool) -> Self {
        Self {
            snapshots: rate_samples.then(Box::default),
            ..Self::default()
        }
    }

    /// Returns the number of outstanding segments.
    pub fn out(&self) -> u32 {
        self.ring.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns the number of segments thought to be in the network (RFC 6675's pipe, in segments).
    pub fn in_flight(&self) -> u32 {
        (self.out() + self.resent_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Returns the number of segments SACKed, or counted as such from duplicate ACKs.
    #[inline]
    pub fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Records the number of segments SACKed, before an ACK is handled.
    #[inline]
    pub fn note_sacked(&mut self) {
        self.sacked_before = self.sacked_out;
    }

    /// Returns the number of segments SACKed before the present ACK, or now if that is smaller.
    pub fn sacked_throughout(&self) -> u32 {
        self.sacked_before.min(self.sacked_out)
    }

    /// Returns the number of segments marked lost.
    #[inline]
    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Returns the number of retransmissions in flight.
    #[inline]
    pub fn resent_out(&self) -> u32 {
        self.resent_out
    }

    /// Returns the number of segments marked lost since the start of the connection, including
    /// retransmissions.
    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub fn first(&self) -> Option<&Record> {
        self.ring.front()
    }

    pub fn last_index(&self) -> Option<usize> {
        self.ring.len().checked_sub(1)
    }

    pub fn get(&self, index: usize) -> &Record {
        &self.ring[index]
    }

    /// Returns the index of the first record that ends above `position`.
    pub fn index_above(&self, position: u64) -> usize {
        self.ring.partition_point(|record| record.end() <= position)
    }

    /// Returns the state of delivery at a record's last transmission, if delivery rates are needed.
    pub fn snapshot(&self, index: usize) -> Option<&Snapshot> {
        let snapshots = self.snapshots.as_deref()?;
        snapshots.ring.get(index)
    }

    /// Appends new data, with a snapshot if the records keep them.
    #[inline]
    pub fn push(&mut self, record: Record, snapshot: Option<Snapshot>) {
        debug_assert!(self.ring.back().is_none_or(|last| last.end() <= record.seq));
        push_tight(&mut self.ring, record);
        if let (Some(snapshots), Some(snapshot)) = (&mut self.snapshots, snapshot) {
            push_tight(&mut snapshots.ring, snapshot);
        }
    }

    /// Removes the records that end at or below `ack`, in order, after a visit to each with its
    /// [snapshot](Self::snapshot). A record that `ack` cuts loses its head. Returns their number.
    #[inline]
    pub fn remove_below(
        &mut self,
        ack: u64,
        mut visit: impl FnMut(&Record, Option<&Snapshot>),
    ) -> u32 {
        let mut removed = 0;
        while let Some(record) = self.ring.front()
            && record.end() <= ack
        {
            let snapshots = self.snapshots.as_deref();
            visit(
                record,
                snapshots.and_then(|snapshots| snapshots.ring.front()),
            );
            if record
                .marks
                .has(Marks::SACKED | Marks::LOST | Marks::RESENT)
            {
                self.sacked_out = self
                    .sacked_out
                    .saturating_sub(u32::from(record.is_sacked()));
                self.waiting -= u32::from(record.is_lost() && !record.is_resent());
                self.lost_out -= u32::from(record.is_lost());
                self.resent_out -= u32::from(record.is_resent());
            }
            self.ring.pop_front();
            if let Some(snapshots) = &mut self.snapshots {
                snapshots.ring.pop_front();
            }
            removed += 1;
        }
        self.cut_below(ack);
        removed
    }

    /// Removes the head of the first record below `ack`, and retransmissions and memory that are not
    /// in use any more.
    #[inline]
    fn cut_below(&mut self, ack: u64) {
        if let Some(first) = self.ring.front_mut()
            && first.seq < ack
        {
            first.marks.set(Marks::CUT);
            first.len -= (ack - first.seq) as u16;
            first.seq = ack;
        }
        if let Some(repetitions) = &mut self.repetitions {
            let queue = &mut repetitions.queue;
            while queue.front().is_some_and(|entry| entry.end <= ack) {
                queue.pop_front();
            }
        }
        give_back(&mut self.ring);
    }

    /// Removes the remaining retransmissions when nothing is outstanding.
    pub fn forget_repetitions(&mut self) {
        self.repetitions = None;
    }

    /// Gives back memory that is not in use, because thousands of flows have a few records each.
    pub fn tighten(&mut self) {
        self.ring.shrink_to(self.ring.len() + 1);
        match &mut self.repetitions {
            Some(repetitions) if !repetitions.queue.is_empty() => repetitions.queue.shrink_to_fit(),
            none => *none = None,
        }
    }

    /// Marks a record SACKed. A retransmission in flight counts as delivered only if the record was
    /// marked lost. Otherwise it is still in flight.
    pub fn mark_sacked(&mut self, index: usize) {
        let record = &mut self.ring[index];
        debug_assert!(!record.is_sacked());
        record.marks.set(Marks::SACKED);
        if record.is_lost() {
            self.waiting -= u32::from(!record.is_resent());
            self.resent_out -= u32::from(record.is_resent());
            self.lost_out -= 1;
            record.marks.clear(Marks::LOST | Marks::RESENT);
        }
        self.sacked_out += 1;
    }

    /// Handles a duplicate report of a record, whose retransmission has arrived too.
    pub fn clear_resent(&mut self, index: usize) {
        let record = &mut self.ring[index];
        if record.is_resent() {
            record.marks.clear(Marks::RESENT);
            self.resent_out -= 1;
            self.waiting += u32::from(record.is_lost());
            self.resend_from = self.resend_from.min(record.seq);
        }
    }

    /// Marks a record lost, or its retransmission if that was in flight.
    pub fn mark_lost(&mut self, index: usize) {
        let record = &mut self.ring[index];
        if record.is_sacked() {
            return;
        }
        if !record.is_lost() {
            record.marks.set(Marks::LOST);
            self.lost_out += 1;
            // The segment was retransmitted before the mark was removed.
            if record.is_resent() {
                self.count_loss(index);
                return;
            }
        } else if record.is_resent() {
            record.marks.clear(Marks::RESENT);
            self.resent_out -= 1;
        } else {
            return;
        }
        self.waiting += 1;
        self.resend_from = self.resend_from.min(record.seq);
        self.count_loss(index);
    }

    /// Counts the loss of a record's last transmission, and keeps it for a control that needs
    /// delivery rates.
    fn count_loss(&mut self, index: usize) {
        self.lost += 1;
        if let Some(snapshots) = &mut self.snapshots {
            let record = &self.ring[index];
            snapshots.losses.push(Loss {
                seq: record.seq,
                end: record.end(),
                snapshot: snapshots.ring[index],
                lost: self.lost,
            });
        }
    }

    /// Returns true if the records keep transmissions that were marked lost.
    #[inline]
    pub fn keeps_losses(&self) -> bool {
        self.snapshots.is_some()
    }

    /// Returns the transmissions marked lost since the last call, in the order of the marks.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        let snapshots = self.snapshots.as_deref_mut();
        snapshots.map_or_else(Vec::new, |snapshots| std::mem::take(&mut snapshots.losses))
    }

    /// Marks the segments lost that were sent only once and end at or below `position`. Segments
    /// marked before are not examined again, because a window may hold thousands of segments.
    pub fn mark_lost_below(&mut self, position: u64) {
        for index in self.index_above(self.counted_below)..self.index_above(position) {
            if !self.ring[index].was_resent() {
                self.mark_lost(index);
            }
        }
        self.counted_below = self.counted_below.max(position);
    }

    /// Removes every mark of loss.
    pub fn unmark_lost(&mut self) {
        self.counted_below = 0;
        for record in &mut self.ring {
            record.marks.clear(Marks::LOST);
        }
        self.lost_out = 0;
        self.waiting = 0;
    }

    /// Removes every SACK mark, because the receiver has dropped the SACKed data.
    pub fn unmark_sacked(&mut self) {
        self.counted_below = 0;
        for record in &mut self.ring {
            record.marks.clear(Marks::SACKED);
        }
        self.sacked_out = 0;
    }

    /// Returns the lowest record that waits for its retransmission.
    pub fn next_waiting(&mut self) -> Option<usize> {
        if self.waiting == 0 {
            self.resend_from = u64::MAX;
            return None;
        }
        let from = self.index_above(self.resend_from);
        let found = (from..self.ring.len()).find(|index| {
            let record = &self.ring[*index];
            record.waits()
        });
        debug_assert!(found.is_some(), "one waits");
        if let Some(index) = found {
            self.resend_from = self.ring[index].seq;
        }
        found
    }

    /// Counts duplicate ACKs without SACK information as delivered segments, at most all but the
    /// holes. Returns false if there are more of them.
    pub fn count_duplicates(&mut self, duplicates: u32) -> bool {
        let holes = self.lost_out.max(1);
        let most = self.out().saturating_sub(holes);
        let counted = self.sacked_out + duplicates;
        self.sacked_out = counted.min(most);
        counted <= most
    }

    /// Counts the segments delivered from duplicate ACKs from zero on.
    pub fn forget_counted(&mut self) {
        self.sacked_out = 0;
    }

    /// Corrects the counts after an ACK of `acked` segments without SACK, when `counted` were
    /// counted from duplicate ACKs. One of the acknowledged segments filled the hole; duplicate
    /// ACKs had represented the others. Returns their number.
    pub fn remove_counted(&mut self, acked: u32, counted: u32) -> u32 {
        let eaten = counted.min(acked - 1);
        self.sacked_out = counted - eaten;
        eaten
    }

    /// Records a retransmission, when `delivered` segments were delivered.
    pub fn resend(&mut self, index: usize, now: Time, delivered: u64, snapshot: Option<Snapshot>) {
        let record = &mut self.ring[index];
        self.waiting -= u32::from(record.waits());
        if !record.is_resent() {
            record.marks.set(Marks::RESENT);
            self.resent_out += 1;
        }
        self.repeat(index, now, delivered, snapshot);
    }

    /// Records a tail loss probe, which replaces the last transmission and adds none to the flight.
    pub fn repeat(&mut self, index: usize, now: Time, delivered: u64, snapshot: Option<Snapshot>) {
        let record = &mut self.ring[index];
        record.marks.set(Marks::EVER_RESENT);
        record.sent = now;
        record.delivered = limited(delivered);
        let (end, sent_to) = (record.end(), self.ring.back().map_or(0, Record::end));
        let repetition = Repetition {
            sent: now,
            end,
            sent_to,
        };
        push_tight(
            &mut self.repetitions.get_or_insert_default().queue,
            repetition,
        );
        if let (Some(snapshots), Some(snapshot)) = (&mut self.snapshots, snapshot) {
            snapshots.ring[index] = snapshot;
        }
    }

    /// Visits transmissions in order of time while `visit` returns true. Transmissions that `visit`
    /// marks lost, and void ones, are not visited again.
    pub fn visit_by_time(&mut self, mut visit: impl FnMut(&mut Self, usize) -> bool) {
        let (mut first, mut repetition) = (self.first_unvisited(), 0);
        // Void transmissions are removed if no valid one precedes them.
        let mut forgets = true;
        loop {
            let original = self.ring.get(first);
            let queue = self.repetitions.as_deref().map(|known| &known.queue);
            let entry = queue.and_then(|queue| queue.get(repetition)).copied();
            let repeated = match (original, entry) {
                (None, None) => return,
                (Some(record), Some(entry)) => record.end() > entry.sent_to,
                (original, _) => original.is_none(),
            };
            let entry = entry.filter(|_| repeated);
            if let Some(index) = self.live(first, entry) {
                if !visit(self, index) {
                    return;
                }
                forgets &= self.live(first, entry).is_none();
            }
            match (repeated, forgets) {
                (true, true) => {
                    if let Some(repetitions) = &mut self.repetitions {
                        repetitions.queue.pop_front();
                    }
                }
                (true, false) => repetition += 1,
                (false, _) => {
                    if forgets {
                        self.visited_to = self.ring[first].end();
                    }
                    first += 1;
                }
            }
        }
    }

    /// Returns the index of the lowest record whose first transmission is still examined by time.
    fn first_unvisited(&self) -> usize {
        match self.ring.front() {
            Some(record) if record.end() <= self.visited_to => self.index_above(self.visited_to),
            _ => 0,
        }
    }

    /// Returns the record of a transmission that is not void: of a retransmission, or else of the
    /// first transmission of the record at `first`.
    #[inline]
    fn live(&self, first: usize, repetition: Option<Repetition>) -> Option<usize> {
        if let Some(entry) = repetition {
            return self.live_repetition(entry);
        }
        let record = &self.ring[first];
        (!record.was_resent() && record.is_under_way()).then_some(first)
    }

    fn live_repetition(&self, entry: Repetition) -> Option<usize> {
        let index = self.ring.partition_point(|record| record.end() < entry.end);
        let record = self.ring.get(index)?;
        let is_newest = (record.end(), record.sent) == (entry.end, entry.sent);
        (is_newest && record.is_under_way()).then_some(index)
    }
}

#[cfg(test)]
mod tests;
