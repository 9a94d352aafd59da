//! The buffer of a player: seconds of video that have come and are not played yet.

use goodqueue_types::{Histogram, Span, Time};

/// Levels are recorded in steps of this, in milliseconds.
const LEVEL_STEP: Span = Span::from_millis(100);
const MILLISECOND: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Until the threshold is reached for the first time.
    Starting,
    Playing,
    /// Until it is reached again.
    Stalled,
    /// All has been played.
    Ended,
}

/// A buffer that fills by segments and empties by the clock.
#[derive(Clone, Debug)]
pub struct Playout {
    state: State,
    level: Span,
    /// Playing begins, and begins again, at this level.
    threshold: Span,
    /// No more is to come.
    complete: bool,
    /// The state is that of this time.
    now: Time,
    measured_from: Time,
    began: Time,
    /// From the beginning to the first picture.
    pub startup: Option<Span>,
    /// How often it ran dry.
    pub stalls: u64,
    /// How long nothing played after the start-up, and how long something did.
    pub stalled: Span,
    /// The other.
    pub played: Span,
    /// Milliseconds of video in the buffer, weighted by time in milliseconds from the start on.
    pub levels: Histogram,
}

impl Playout {
    /// An empty buffer of a video that was asked for at this time.
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

    /// What is in it.
    pub fn level(&self) -> Span {
        self.level
    }

    /// Plays until then.
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
            // The middle of the step stands for it.
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

    /// A segment has come; it may be the last.
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
    fn it_starts_at_the_threshold_and_stalls_when_it_is_dry() {
        let mut buffer = buffer(0);
        let two = Span::from_secs(2);
        buffer.add(at(2_000), two, false);
        assert_eq!(buffer.startup, None);
        buffer.add(at(2_500), two, false);
        assert_eq!(buffer.startup, Some(Span::from_millis(1_500)));
        buffer.advance(at(5_500));
        assert_eq!(buffer.level(), Span::from_secs(1));
        // Dry at 6.5 s; filled again at 8 s and 8.5 s.
        buffer.add(at(8_000), two, false);
        buffer.add(at(8_500), two, false);
        assert_eq!((buffer.stalls, buffer.stalled), (1, two));
        // The last one: it ends at 14.5 s, without a stall.
        buffer.add(at(9_500), two, true);
        buffer.advance(at(20_000));
        assert_eq!((buffer.stalls, buffer.stalled), (1, two));
        assert_eq!(buffer.played, Span::from_secs(10));
        // Until it ends: 1 s at 0, 0.5 s at 2, 4 s from 4 to 0, 1.5 s at 0, 0.5 s at 2, 1 s from 4 to
        // 3, 5 s from 5 to 0.
        let expected = (1.0 + 8.0 + 1.0 + 3.5 + 12.5) / 13.5;
        let mean = buffer.levels.mean().expect("levels") / 1e3;
        assert!(
            (mean - expected).abs() < 0.001,
            "{mean}, expected {expected}"
        );
    }

    #[test]
    fn only_what_lies_in_the_window_counts() {
        let mut buffer = buffer(7_000);
        buffer.add(at(2_500), Span::from_secs(4), false);
        // Dry from 6.5 s on.
        buffer.add(at(8_000), Span::from_secs(4), false);
        assert_eq!((buffer.stalls, buffer.stalled), (0, Span::from_secs(1)));
        buffer.advance(at(9_000));
        assert_eq!(buffer.played, Span::from_secs(1));
        assert_eq!(buffer.startup, Some(Span::from_millis(1_500)));
    }

    #[test]
    fn what_comes_as_the_last_picture_ends_is_in_time() {
        let mut buffer = buffer(0);
        buffer.add(at(2_000), Span::from_secs(4), false);
        buffer.add(at(6_000), Span::from_secs(4), false);
        buffer.advance(at(9_000));
        assert_eq!((buffer.stalls, buffer.stalled), (0, Span::ZERO));
    }
}
