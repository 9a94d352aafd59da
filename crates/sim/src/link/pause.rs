//! Flow control of a link by PAUSE frames (IEEE 802.3 Annex 31B, IEEE 802.1Qbb).
//!
//! The node behind the link counts the bytes that came over it and wait there in any queue. From
//! `xoff` bytes on it asks the sender of the link to pause, and at `xon` bytes or fewer to resume.
//! The PAUSE waits for the frame that is sent on the opposite link. It takes effect after that
//! link's delay and the reaction time, and a frame whose transmission has begun is sent to its end.

use crate::measure::link_meter::Window;
use crate::measure::outcome::PauseOutcome;
use goodqueue_types::parameters::{LARGEST, LONGEST, size, span};
use goodqueue_types::{Span, Time, parameters};
use std::collections::VecDeque;

parameters! {
    /// Flow control of a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PauseConfig("flow control") {
        /// Frame bytes that came over the link and wait behind it, from which on the link pauses.
        xoff: u64 = 0 => size(1, LARGEST).required().example("100kB");
        /// Frame bytes at which the link resumes. They are fewer than `xoff`.
        xon: u64 = 0 => size(0, LARGEST).required().example("80kB");
        /// Time from the start of a PAUSE until the sender obeys, besides the delay of the cable.
        reaction: Span = Span::ZERO => span(Span(1), LONGEST).required().example("3us")
            .doc("Time from the start of a PAUSE until the sender obeys, besides the delay of the cable: \
                the PAUSE itself, MAC and PHY, and the sender's reaction.");
    }
}

/// State of the flow control of one link.
#[derive(Debug)]
pub struct PauseState {
    config: PauseConfig,
    /// Link that carries the PAUSE frames, if it can delay them.
    pub opposite: Option<u32>,
    /// Time from the start of a PAUSE to its effect.
    latency: Span,
    window: Window,
    /// Bytes that wait behind the link, by the link in front of which they wait.
    waiting: Vec<(u32, u64)>,
    bytes: u64,
    /// Bytes that waited at the last decision.
    decided: u64,
    /// True if the last request was to pause.
    asked: bool,
    /// Requests under way: the time of the effect, and true for a pause.
    requests: VecDeque<(Time, bool)>,
    /// Time since which the link is paused, if it is.
    since: Option<Time>,
    outcome: PauseOutcome,
}

impl PauseState {
    /// Returns the state of a link whose PAUSE frames have this propagation delay.
    pub fn new(config: PauseConfig, opposite: Option<u32>, delay: Span, window: Window) -> Self {
        Self {
            config,
            opposite,
            latency: delay + config.reaction,
            window,
            waiting: Vec::new(),
            bytes: 0,
            decided: 0,
            asked: false,
            requests: VecDeque::new(),
            since: None,
            outcome: PauseOutcome::default(),
        }
    }

    /// Counts bytes that came over the link and wait in front of another.
    pub fn add(&mut self, link: u32, bytes: u64) {
        match self.waiting.iter_mut().find(|(other, _)| *other == link) {
            Some((_, there)) => *there += bytes,
            None => self.waiting.push((link, bytes)),
        }
        self.bytes += bytes;
    }

    /// Counts bytes that wait no longer.
    pub fn remove(&mut self, link: u32, bytes: u64) {
        if let Some((_, there)) = self.waiting.iter_mut().find(|(other, _)| *other == link) {
            *there -= bytes;
        }
        self.bytes -= bytes;
    }

    /// Requests a pause or its end if the bytes that wait demand it. The PAUSE can be sent at `free`.
    /// Returns the time of the effect.
    pub fn decide(&mut self, now: Time, free: Time) -> Option<Time> {
        let before = std::mem::replace(&mut self.decided, self.bytes);
        if self.window.contains(now) {
            // The bytes before the first change in the window waited at its start.
            self.outcome.peak_bytes = self.outcome.peak_bytes.max(before).max(self.bytes);
        }
        let pauses = if self.asked {
            self.bytes > self.config.xon
        } else {
            self.bytes >= self.config.xoff
        };
        if pauses == self.asked {
            return None;
        }
        self.asked = pauses;
        let effect = free.saturating_add(self.latency);
        self.requests.push_back((effect, pauses));
        Some(effect)
    }

    /// Obeys the requests whose time has come. Returns true if the link has resumed.
    pub fn obey(&mut self, now: Time) -> bool {
        let was_paused = self.is_paused();
        while let Some((at, pauses)) = self.requests.front().copied()
            && at <= now
        {
            self.requests.pop_front();
            if pauses {
                self.since = Some(at);
                self.outcome.pauses += u64::from(self.window.contains(at));
            } else if let Some(since) = self.since.take() {
                self.outcome.paused += self.window.overlap(since, at);
            }
        }
        was_paused && !self.is_paused()
    }

    /// Returns true if the link must not begin a transmission.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.since.is_some()
    }

    /// Returns the links in front of which bytes wait that came over this link.
    pub fn waiting(&self) -> impl Iterator<Item = u32> {
        let some = self.waiting.iter().filter(|(_, bytes)| *bytes > 0);
        some.map(|(link, _)| *link)
    }

    /// Returns the results at the end of the run.
    pub fn finish(&self, in_cycle: bool) -> PauseOutcome {
        let mut outcome = self.outcome;
        if let Some(since) = self.since {
            outcome.paused += self.window.overlap(since, self.window.to);
        }
        outcome.peak_bytes = outcome.peak_bytes.max(self.bytes);
        outcome.in_cycle = in_cycle;
        outcome
    }
}

/// Returns for each paused link if it waits for itself: data that came over it wait in front of
/// another paused link, and so on in a circle.
pub fn cycles(waits_for: &[Vec<usize>]) -> Vec<bool> {
    (0..waits_for.len())
        .map(|start| {
            let mut seen = vec![false; waits_for.len()];
            let mut next = waits_for[start].clone();
            while let Some(link) = next.pop() {
                if link == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[link], true) {
                    next.extend(&waits_for[link]);
                }
            }
            false
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn state() -> PauseState {
        let config = PauseConfig {
            xoff: 3_000,
            xon: 1_000,
            reaction: Span(2 * MS),
        };
        let window = Window {
            from: Time::ZERO,
            to: Time(100 * MS),
        };
        PauseState::new(config, None, Span(MS), window)
    }

    #[test]
    fn a_pause_begins_after_delay_and_reaction_and_ends_as_late() {
        let mut state = state();
        state.add(7, 2_999);
        assert_eq!(state.decide(Time(0), Time(0)), None);
        state.add(7, 1);
        assert_eq!(state.decide(Time(0), Time(MS)), Some(Time(4 * MS)));
        assert!(!state.obey(Time(4 * MS - 1)) && !state.is_paused());
        assert!(!state.obey(Time(4 * MS)) && state.is_paused());
        state.remove(7, 1_999);
        assert_eq!(state.decide(Time(5 * MS), Time(5 * MS)), None);
        state.remove(7, 1);
        assert_eq!(state.decide(Time(6 * MS), Time(6 * MS)), Some(Time(9 * MS)));
        assert!(state.obey(Time(9 * MS)) && !state.is_paused());
        let outcome = state.finish(false);
        assert_eq!((outcome.pauses, outcome.paused), (1, Span(5 * MS)));
        assert_eq!(outcome.peak_bytes, 3_000);
    }

    #[test]
    fn a_pause_that_lasts_counts_until_the_end() {
        let mut state = state();
        state.add(7, 3_000);
        state.decide(Time(0), Time(0));
        state.obey(Time(3 * MS));
        assert_eq!(state.finish(true).paused, Span(97 * MS));
        assert_eq!(state.waiting().collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn only_links_of_a_circle_wait_for_themselves() {
        // 0 waits for 1, 1 for 2, 2 for 1; 3 waits for nothing.
        let waits = [vec![1], vec![2], vec![1], vec![]];
        assert_eq!(cycles(&waits), [false, true, true, false]);
    }
}
