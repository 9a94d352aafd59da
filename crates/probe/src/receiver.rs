//! The receiver of a phase: it records packets and tells the sender how many arrived.

use crate::{Feedback, Pattern, Record, Recording, Stream};

/// Most packets that are recorded. More than these are counted only.
const MAX_RECORDS: usize = 2_000_000;
/// Shortest time between two feedbacks of a ramp, in nanoseconds.
const RAMP_FEEDBACK: i64 = 5_000_000;
/// Shortest time between two feedbacks of a phase with a window, in nanoseconds.
const HOLD_FEEDBACK: i64 = 100_000;

/// State of the receiver of one phase.
#[derive(Clone, Debug)]
pub struct Receiver {
    recording: Recording,
    feedback: Feedback,
    /// Shortest time between two feedbacks; none if the sender needs none.
    interval: Option<i64>,
    /// Time of the last feedback.
    told: i64,
}

impl Receiver {
    /// Returns a receiver that has received nothing.
    pub fn new(pattern: &Pattern) -> Self {
        Self {
            recording: Recording::default(),
            feedback: Feedback::default(),
            interval: match pattern {
                Pattern::Ramp { .. } => Some(RAMP_FEEDBACK),
                Pattern::Hold { .. } => Some(HOLD_FEEDBACK),
                Pattern::Pings { .. } | Pattern::Trains { .. } => None,
            },
            told: i64::MIN / 2,
        }
    }

    /// Records a packet. Returns the feedback that is to be sent now, if any.
    pub fn receive(&mut self, record: Record) -> Option<Feedback> {
        if self.recording.records.len() < MAX_RECORDS {
            self.recording.records.push(record);
        }
        if record.stream == Stream::Main {
            self.feedback.next = self.feedback.next.max(record.sequence.saturating_add(1));
            self.feedback.received = self.feedback.received.saturating_add(1);
            self.feedback.bytes += u64::from(record.bytes);
            self.feedback.time = record.received;
            self.feedback.delay = record.delay();
        }
        let interval = self.interval?;
        if record.received.saturating_sub(self.told) < interval {
            return None;
        }
        self.told = record.received;
        Some(self.feedback)
    }

    /// Returns true if the sender of this phase needs feedback.
    pub fn gives_feedback(&self) -> bool {
        self.interval.is_some()
    }

    /// Returns feedback that repeats the last one, for a sender that may have missed it.
    pub fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// Returns the recording of a phase in which the sender sent these numbers of packets.
    pub fn finish(mut self, sent: [u32; 2]) -> Recording {
        self.recording.sent = sent;
        self.recording
    }
}
