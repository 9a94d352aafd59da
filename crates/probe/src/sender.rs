//! The sender of a phase.

use crate::{Codepoint, Feedback, LARGE, Pattern, Stream, TINY};
use std::collections::VecDeque;

/// Ratio of the rate of a ramp to the rate at which its packets are received.
const OVERLOAD: f64 = 1.25;
/// Packets that a ramp delivers after the first loss before it ends.
const AFTER_LOSS: u32 = 300;
/// Longest time for which those packets are awaited, in nanoseconds.
const LONGEST_AFTER_LOSS: i64 = 4_000_000_000;
/// Time without any feedback after which the sender gives up, in nanoseconds.
const SILENCE: i64 = 3_000_000_000;
/// Time after which packets in flight count as lost if feedback comes and mentions none of them, in
/// nanoseconds.
const STALL: i64 = 1_000_000_000;
/// Packets that a newer one may overtake before a gap in the numbers counts as a loss.
const REORDERED: u32 = 3;

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its stream.
    pub stream: Stream,
    /// Its number within the stream.
    pub sequence: u32,
    /// IP size in bytes.
    pub bytes: u32,
    /// Its ECN codepoint.
    pub codepoint: Codepoint,
}

/// State of the sender of one phase.
///
/// The caller calls [`send`](Self::send) at [`next_send`](Self::next_send) or later, and
/// [`hear`](Self::hear) for feedback. A packet that is late does not delay those after it.
#[derive(Clone, Debug)]
pub struct Sender {
    pattern: Pattern,
    begun: i64,
    /// Packets sent, by stream.
    sent: [u32; 2],
    /// Earliest time of the next packet of the main stream in a ramp or a hold.
    due: i64,
    rate_bps: f64,
    /// Newest feedback, and the time at which it came.
    heard: Feedback,
    heard_at: i64,
    /// Feedback within the window of a ramp.
    history: VecDeque<Feedback>,
    /// Time of the feedback with the first loss, and the packets received until then.
    loss: Option<(i64, u32)>,
    /// Time of the last feedback about a new packet.
    progress: i64,
    /// Packets of a window that were given up after a stall.
    forgotten: u32,
    /// Packets that a hold may have in flight.
    window: f64,
    /// Time of the last change of the window.
    adjusted: i64,
    /// Sum and number of the queueing delays since then, in nanoseconds.
    waits: (i64, i64),
}

impl Sender {
    /// Returns a sender that begins at `now`.
    pub fn new(pattern: Pattern, now: i64) -> Self {
        Self {
            pattern,
            begun: now,
            sent: [0; 2],
            due: now,
            rate_bps: match pattern {
                Pattern::Ramp { from_bps, .. } => from_bps as f64,
                Pattern::Hold { pace_bps, .. } => pace_bps as f64,
                Pattern::Pings { .. } | Pattern::Trains { .. } => 0.0,
            },
            heard: Feedback::default(),
            heard_at: now,
            history: VecDeque::new(),
            loss: None,
            progress: now,
            forgotten: 0,
            window: match pattern {
                Pattern::Hold { window, .. } => f64::from(window),
                _ => 0.0,
            },
            adjusted: now,
            waits: (0, 0),
        }
    }

    /// Returns the time at which the next packet is due, or none until feedback comes.
    pub fn next_send(&self) -> Option<i64> {
        let main = self.next_main();
        let sparse = self.next_sparse();
        match (main, sparse) {
            (Some(main), Some(sparse)) => Some(main.min(sparse)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the next packet, which is sent at `now`, if one is due.
    pub fn send(&mut self, now: i64) -> Option<Outgoing> {
        let sparse = self.next_sparse().filter(|due| *due <= now);
        let main = self.next_main().filter(|due| *due <= now);
        let stream = match (main, sparse) {
            (None, None) => return None,
            (Some(main), Some(sparse)) if main <= sparse => Stream::Main,
            (Some(_), None) => Stream::Main,
            (_, Some(_)) => Stream::Sparse,
        };
        let sequence = self.sent[stream as usize];
        self.sent[stream as usize] += 1;
        if stream == Stream::Main {
            self.pace(now);
        }
        let (bytes, codepoint) = match (stream, self.pattern) {
            (Stream::Sparse, _) | (_, Pattern::Pings { .. }) => (TINY, Codepoint::NotCapable),
            (_, Pattern::Trains { .. }) => (LARGE, Codepoint::NotCapable),
            (_, Pattern::Ramp { bytes, .. }) => (bytes, Codepoint::NotCapable),
            (_, Pattern::Hold { codepoint, .. }) => (LARGE, codepoint),
        };
        Some(Outgoing {
            stream,
            sequence,
            bytes,
            codepoint,
        })
    }

    /// Takes feedback in, which came at `now`.
    pub fn hear(&mut self, now: i64, feedback: Feedback) {
        if feedback.received < self.heard.received || feedback.next > self.sent[0] {
            return;
        }
        if feedback.next > self.heard.next {
            self.progress = now;
        } else if now - self.progress >= STALL {
            // The receiver is there, and the whole window was lost.
            self.forgotten = self.sent[0];
            self.progress = now;
        }
        self.heard = feedback;
        self.heard_at = now;
        match self.pattern {
            Pattern::Ramp { .. } => self.follow_rate(now, feedback),
            Pattern::Hold { .. } => self.follow_delay(now, feedback),
            Pattern::Pings { .. } | Pattern::Trains { .. } => {}
        }
    }

    /// Returns true when the phase has ended: nothing more is sent.
    pub fn is_done(&self, now: i64) -> bool {
        let since = now - self.begun;
        match self.pattern {
            Pattern::Pings { count, .. } => self.sent[0] >= count,
            Pattern::Trains { count, length, .. } => self.sent[0] >= count * length,
            Pattern::Hold { span_ms, .. } => since >= ms(span_ms) || self.is_unheard(now),
            Pattern::Ramp {
                longest_ms,
                after_loss_ms,
                ..
            } => {
                let after = self.loss.is_some_and(|(at, received)| {
                    let enough = self.heard.received - received >= AFTER_LOSS;
                    let since = now - at;
                    since >= ms(after_loss_ms) && (enough || since >= LONGEST_AFTER_LOSS)
                });
                after || since >= ms(longest_ms) || self.is_unheard(now)
            }
        }
    }

    /// Returns the numbers of packets that were sent, by stream.
    pub fn sent(&self) -> [u32; 2] {
        self.sent
    }

    /// Sets the time at which the next packet of the main stream is due.
    fn pace(&mut self, now: i64) {
        let bytes = match self.pattern {
            Pattern::Ramp { bytes, .. } => bytes,
            Pattern::Hold { .. } => LARGE,
            Pattern::Pings { .. } | Pattern::Trains { .. } => return,
        };
        let gap = f64::from(bytes) * 8e9 / self.rate_bps;
        // A ramp that was held up sends at most 5 ms of packets at once, a hold none.
        let held_up = match self.pattern {
            Pattern::Ramp { .. } => now - 5_000_000,
            _ => now,
        };
        self.due = self.due.max(held_up).saturating_add(gap as i64);
    }

    /// Returns the packets of the main stream that may still arrive.
    fn in_flight(&self) -> u32 {
        self.sent[0] - self.heard.next.max(self.forgotten)
    }

    fn is_unheard(&self, now: i64) -> bool {
        now - self.heard_at >= SILENCE
    }

    fn next_sparse(&self) -> Option<i64> {
        match self.pattern {
            Pattern::Ramp { sparse_us, .. } | Pattern::Hold { sparse_us, .. } => {
                Some(self.begun + i64::from(self.sent[1]) * i64::from(sparse_us) * 1000)
            }
            Pattern::Pings { .. } | Pattern::Trains { .. } => None,
        }
    }

    fn next_main(&self) -> Option<i64> {
        let sent = self.sent[0];
        match self.pattern {
            Pattern::Pings { interval_us, .. } => {
                Some(self.begun + i64::from(sent) * i64::from(interval_us) * 1000)
            }
            Pattern::Trains {
                length,
                interval_us,
                ..
            } => {
                let train = sent / length.max(1);
                Some(self.begun + i64::from(train) * i64::from(interval_us) * 1000)
            }
            Pattern::Ramp { .. } => Some(self.due),
            Pattern::Hold { .. } => {
                let is_open = f64::from(self.in_flight()) < self.window;
                is_open.then_some(self.due)
            }
        }
    }

    /// Changes the window once in a round trip so that the queueing delay approaches the wanted one.
    fn follow_delay(&mut self, now: i64, feedback: Feedback) {
        let Pattern::Hold {
            window,
            held_us,
            rtt_us,
            base_ns,
            ..
        } = self.pattern
        else {
            return;
        };
        let wait = feedback
            .delay
            .saturating_sub(base_ns)
            .clamp(0, 10_000_000_000);
        self.waits = (self.waits.0 + wait, self.waits.1 + 1);
        let [held, rtt] = [held_us, rtt_us].map(|us| i64::from(us) * 1000);
        // The window is filled in the first round trips, whose delays say nothing.
        let filled = self.begun + (rtt + held) * 3;
        if now < filled {
            self.waits = (0, 0);
            self.adjusted = now;
        }
        if now - self.adjusted < rtt + held || self.waits.1 == 0 {
            return;
        }
        let mean = self.waits.0 as f64 / self.waits.1 as f64;
        let ratio = (rtt + held) as f64 / (rtt as f64 + mean);
        let wanted = self.window * (1.0 + (ratio - 1.0) / 2.0);
        let first = f64::from(window);
        self.window = wanted.clamp((first / 2.0).max(2.0), first * 1.2 + 1.0);
        self.waits = (0, 0);
        self.adjusted = now;
    }

    /// Follows the received rate of a ramp.
    fn follow_rate(&mut self, now: i64, feedback: Feedback) {
        let Pattern::Ramp {
            window_us,
            most_bps,
            ..
        } = self.pattern
        else {
            return;
        };
        let lost = feedback.next - feedback.received.min(feedback.next);
        if lost > REORDERED && self.loss.is_none() {
            self.loss = Some((now, feedback.received));
        }
        self.history.push_back(feedback);
        let window = i64::from(window_us) * 1000;
        while self.history.len() > 2 && feedback.time - self.history[1].time >= window {
            self.history.pop_front();
        }
        let oldest = self.history[0];
        let span = feedback.time - oldest.time;
        if span >= window / 2 && feedback.bytes > oldest.bytes {
            let received = (feedback.bytes - oldest.bytes) as f64 * 8e9 / span as f64;
            self.rate_bps = (OVERLOAD * received).min(most_bps as f64);
        }
    }
}

fn ms(ms: u32) -> i64 {
    i64::from(ms) * 1_000_000
}
