//! The playout buffer of a player: seconds of video that have arrived and are not played yet.

use goodqueue_types::{Histogram, Span, Time};

/// Step in which levels are recorded while the video plays.
const LEVEL_STEP: Span = Span::from_millis(100);
const MILLISECOND: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The threshold has not been reached yet.
    Starting,
    Playing,
    /// The buffer ran empty and has not reached the threshold again.
    Stalled,
    /// All segments have been played.
    Ended,
}

/// A buffer that segments fill and playing empties.
#[derive(Clone, Debug)]
pub struct Playout {
    state: State,
    level: Span,
    /// Level at which playing begins, and begins again after a stall.
    threshold: Span,
    /// True if no more segments follow.
    complete: bool,
    /// Time up to which the state is current.
    now: Time,
    measured_from: Time,
    began: Time,
    /// Time from the request to the start of playing.
    pub startup: Option<Span>,
    /// Number of times that the buffer ran empty.
    pub stalls: u64,
    /// Time for which nothing played after the start.
    pub stalled: Span,
    /// Time for which the video played.
    pub played: Span,
    /// Milliseconds of video in the buffer from the start on, weighted by time.
    pub levels: Histogram,
}

impl Playout {
    /// Creates an empty buffer of a video that was requested at `began`.
    pub fn new(began: Time, threshold: Span, measured_from: Time) -> Self {
        Self {
            state: State::Starting,
            level: Span::ZERO,
            threshold,
            complete: false,
            now: began,
            measured_from,
            began,
            startup: None,
            stalls: 0,
            stalled: Span::ZERO,
            played: Span::ZERO,
            levels: Histogram::default(),
        }
    }

    /// Returns the playing time in the buffer.
    pub fn level(&self) -> Span {
        self.level
    }

    /// Plays until `to`.
    pub fn advance(&mut self, to: Time) {
        if self.now < self.measured_from && self.measured_from < to {
            self.step(self.measured_from);
        }
        if self.now < to {
            self.step(to);
        }
    }

    fn step(&mut self, to: Time) {
        let measured = self.now >= self.measured_from;
        let mut time = to - self.now;
        if self.state == State::Playing {
            let playing = time.min(self.level);
            self.play(playing, measured);
            time = Span(time.0 - playing.0);
            if time > Span::ZERO {
                self.state = if self.complete {
                    State::Ended
                } else {
                    State::Stalled
                };
                self.stalls += u64::from(measured && !self.complete);
            }
        }
        if measured && self.state == State::Stalled {
            self.stalled += time;
            self.record(time);
        } else if measured && self.state == State::Starting {
            self.record(time);
        }
        self.now = to;
    }

    fn play(&mut self, mut time: Span, measured: bool) {
        if !measured {
            self.level = Span(self.level.0 - time.0);
            return;
        }
        self.played += time;
        while time > Span::ZERO {
            let step = time.min(LEVEL_STEP);
            // The middle of the step represents its level.
            self.level = Span(self.level.0 - step.0 / 2);
            self.record(step);
            self.level = Span(self.level.0 - (step.0 - step.0 / 2));
            time = Span(time.0 - step.0);
        }
    }

    fn record(&mut self, time: Span) {
        self.levels
            .record(self.level.0 / MILLISECOND, time.0 / 1_000);
    }

    /// Adds a segment that has arrived, which may be the last.
    pub fn add(&mut self, now: Time, segment: Span, last: bool) {
        self.advance(now);
        self.level += segment;
        self.complete = last;
        let waiting = matches!(self.state, State::Starting | State::Stalled);
        if waiting && (self.level >= self.threshold || last) {
            self.state = State::Playing;
            self.startup.get_or_insert(now - self.began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn buffer(measured_from: u64) -> Playout {
        Playout::new(at(1_000), Span::from_secs(4), at(measured_from))
    }

    #[test]
    fn playback_starts_at_the_threshold_and_stalls_when_the_buffer_is_empty() {
        let mut buffer = buffer(0);
        let two = Span::from_secs(2);
        buffer.add(at(2_000), two, false);
        assert_eq!(buffer.startup, None);
        buffer.add(at(2_500), two, false);
        assert_eq!(buffer.startup, Some(Span::from_millis(1_500)));
        buffer.advance(at(5_500));
        assert_eq!(buffer.level(), Span::from_secs(1));
        // The buffer is empty at 6.5 s and gets segments at 8 s and 8.5 s.
        buffer.add(at(8_000), two, false);
        buffer.add(at(8_500), two, false);
        assert_eq!((buffer.stalls, buffer.stalled), (1, two));
        // This is the last segment. Playing ends at 14.5 s, without a stall.
        buffer.add(at(9_500), two, true);
        buffer.advance(at(20_000));
        assert_eq!((buffer.stalls, buffer.stalled), (1, two));
        assert_eq!(buffer.played, Span::from_secs(10));
        // Until the end the level is 0 for 1 s, 2 for 0.5 s, from 4 to 0 for 4 s, 0 for 1.5 s, 2
        // for 0.5 s, from 4 to 3 for 1 s, and from 5 to 0 for 5 s.
        let expected = (1.0 + 8.0 + 1.0 + 3.5 + 12.5) / 13.5;
        let mean = buffer.levels.mean().expect("levels") / 1e3;
        assert!(
            (mean - expected).abs() < 0.001,
            "{mean}, expected {expected}"
        );
    }

    #[test]
    fn only_the_measured_window_counts() {
        let mut buffer = buffer(7_000);
        buffer.add(at(2_500), Span::from_secs(4), false);
        // The buffer is empty from 6.5 s on.
        buffer.add(at(8_000), Span::from_secs(4), false);
        assert_eq!((buffer.stalls, buffer.stalled), (0, Span::from_secs(1)));
        buffer.advance(at(9_000));
        assert_eq!(buffer.played, Span::from_secs(1));
        assert_eq!(buffer.startup, Some(Span::from_millis(1_500)));
    }

    #[test]
    fn segments_that_arrive_as_the_last_picture_ends_are_in_time() {
        let mut buffer = buffer(0);
        buffer.add(at(2_000), Span::from_secs(4), false);
        buffer.add(at(6_000), Span::from_secs(4), false);
        buffer.advance(at(9_000));
        assert_eq!((buffer.stalls, buffer.stalled), (0, Span::ZERO));
    }
}
