//! Streaming video: segments of constant duration over one connection. The player's buffer
//! determines the bit rate of each.

use super::measure::{AppOutcome, Metric};
use super::playout::Playout;
use super::smoothing::Smoothing;
use super::{Desk, MOST, Measure, REQUEST, Reply};
use goodqueue_types::parameters::{ANY_TIME, Given, INTERVAL, Key, Kind, Refusal, fraction};
use goodqueue_types::{Rate, Span, Time, parameters};

parameters! {
    /// Parameters of a video and its player.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VideoConfig("video") {
        /// Playing time of a segment.
        segment: Span = Span::from_secs(4) => Key::new(INTERVAL).example("2s");
        /// Bit rates of the video, in rising order.
        ladder: Vec<Rate> = [350_000, 750_000, 1_500_000, 3_000_000, 6_000_000].map(Rate).to_vec()
            => Key::new(Kind::ListOf(&Kind::Rate)).example("[\"1Mbps\", \"5Mbps\"]");
        /// Largest deviation of a segment's size from the mean of its bit rate. Sizes are uniform.
        variation: f64 = 0.0 => fraction().default("\"0%\"").example("30%");
        request: u64 = 350 => REQUEST;
        /// Playing time in the buffer at which playing begins, and begins again after a stall.
        startup: Span = Span::ZERO => Key::new(INTERVAL).default("a segment").example("8s");
        /// Playing time that the buffer holds. The player requests a segment once it fits.
        max_buffer: Span = Span::from_secs(60) => Key::new(INTERVAL).example("30s");
        /// Playing time in the buffer up to which the player requests the lowest bit rate.
        reservoir: Span = Span::ZERO => Key::new(ANY_TIME).default("a quarter of `max_buffer`")
            .example("10s");
        /// Playing time above the reservoir from which the player requests the highest bit rate. Between
        /// both, bit rates follow BBA-0 (Huang et al., SIGCOMM 2014).
        cushion: Span = Span::ZERO => Key::new(INTERVAL)
            .default("from the reservoir to 90 % of `max_buffer`").example("20s");
        most: Option<u64> = None => MOST.example("100").doc("Largest number of segments.");
    }
}

impl VideoConfig {
    /// Sets the parameters whose defaults depend on others, if they are not given.
    pub(super) fn complete(&mut self, given: &Given) {
        let full = self.max_buffer;
        if !given.has("startup") {
            self.startup = self.segment;
        }
        if !given.has("reservoir") {
            self.reservoir = Span(full.0 / 4);
        }
        if !given.has("cushion") {
            // The lower and the upper reservoir are those of Huang et al. (2014): the rest up to
            // 90 % of the buffer.
            self.cushion = Span(full.0 / 10 * 9).saturating_sub(self.reservoir);
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let full = self.max_buffer;
        // Only whole segments are in the buffer before playback begins.
        if self.startup.0.div_ceil(self.segment.0) > full.0 / self.segment.0 {
            let message = "the buffer never holds so many segments as it takes to begin";
            let help = "write a longer max_buffer, or a shorter startup or segment";
            return Err(Refusal::new("max_buffer", message, help));
        }
        if self.reservoir + self.cushion > full {
            let message = "reservoir and cushion are more than the buffer";
            let help = format!("together at most \"{}s\"", full.as_secs_f64());
            return Err(Refusal::new("cushion", message, help));
        }
        if self.ladder.is_empty() || !self.ladder.is_sorted_by(|a, b| a < b) {
            let message = "a ladder is one bit rate or more, each above the one before";
            let help = "write as in [\"750kbps\", \"1500kbps\"]";
            return Err(Refusal::new("ladder", message, help));
        }
        Ok(())
    }

    /// Returns the rate of the next segment, by its index on the ladder: algorithm 1 of Huang et
    /// al., A Buffer-Based Approach to Rate Adaptation, SIGCOMM 2014 (BBA-0). The buffer's level
    /// corresponds to a rate on a straight line from the lowest to the highest over the cushion.
    /// The last rate stays until the line has passed one of its neighbours.
    fn next_rung(&self, last: usize, level: Span) -> usize {
        let highest = self.ladder.len() - 1;
        let rate = |rung: usize| self.ladder[rung].0;
        if level <= self.reservoir {
            return 0;
        }
        let above = level.0 - self.reservoir.0;
        if above >= self.cushion.0 {
            return highest;
        }
        let width = u128::from(rate(highest) - rate(0));
        let line = rate(0) + (width * u128::from(above) / u128::from(self.cushion.0)) as u64;
        if line >= rate((last + 1).min(highest)) {
            // This is the highest rate below the line.
            self.ladder.partition_point(|rung| rung.0 < line).max(1) - 1
        } else if line <= rate(last.saturating_sub(1)) {
            // This is the lowest rate above the line.
            self.ladder
                .partition_point(|rung| rung.0 <= line)
                .min(highest)
        } else {
            last
        }
    }
}

const SEGMENT: usize = 0;
const FIRST_BYTE: usize = 1;

/// The segment that is being downloaded.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    asked: Time,
    /// Position in the server's stream after which it begins, until its first byte has arrived.
    begins_after: Option<u64>,
    /// Position at which it ends.
    ends_at: u64,
}

/// The client of a video.
#[derive(Debug)]
pub struct Video {
    config: VideoConfig,
    connection: Option<u32>,
    /// Time at which the next segment is requested.
    next: Time,
    written: u64,
    received: u64,
    asked: u64,
    rung: usize,
    fetch: Option<Fetch>,
    playout: Playout,
    /// Arrivals from the warm-up on.
    smoothing: Smoothing,
    /// Sum of the bit rates of the segments that arrived from the warm-up on. `switches` counts
    /// changes of the rate in that time.
    rates: u64,
    switches: u64,
    measured_from: Time,
    pub measure: Measure,
}

impl Video {
    /// Creates a client that requests its first segment at `start`, when it opens the connection.
    pub fn new(config: VideoConfig, start: Time, measure: Measure) -> Self {
        let measured_from = measure.from();
        Self {
            connection: None,
            next: start,
            written: 0,
            received: 0,
            asked: 0,
            rung: 0,
            fetch: None,
            playout: Playout::new(start, config.startup, measured_from),
            smoothing: Smoothing::default(),
            rates: 0,
            switches: 0,
            measured_from,
            measure: measure
                .named("segments", "segment_time_s")
                .times("first_byte_time_s"),
            config,
        }
    }

    pub fn wakes_at(&self) -> Time {
        self.next
    }

    /// Requests the next segment.
    pub fn wake(&mut self, desk: &mut Desk<'_>) {
        self.next = Time::MAX;
        self.playout.advance(desk.now);
        let rung = self.config.next_rung(self.rung, self.playout.level());
        if rung != self.rung && desk.now >= self.measured_from {
            self.switches += 1;
        }
        self.rung = rung;
        let varied = 1.0 + self.config.variation * (2.0 * desk.random.unit() - 1.0);
        let bits = self.config.ladder[rung].0 as f64 * self.config.segment.as_secs_f64();
        let reply = Reply {
            bytes: libm::round(bits / 8.0 * varied).max(1.0) as u64,
            after: Span::ZERO,
            closes: false,
        };
        let id = *self.connection.get_or_insert_with(|| desk.open());
        self.written = desk.ask(id, self.config.request, self.written, reply);
        let begins_after = Some(self.received);
        self.received += reply.bytes;
        self.asked += 1;
        self.fetch = Some(Fetch {
            asked: desk.now,
            begins_after,
            ends_at: self.received,
        });
    }

    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        let Some(fetch) = &mut self.fetch else {
            return;
        };
        let delivered = desk.delivered(id);
        let begun = fetch.begins_after.take_if(|begin| *begin < delivered);
        let fetch = *fetch;
        if begun.is_some() {
            self.measure.record(FIRST_BYTE, fetch.asked, desk.now);
        }
        if desk.now >= self.measured_from {
            self.smoothing.note(desk.now, delivered.min(fetch.ends_at));
        }
        if delivered < fetch.ends_at {
            return;
        }
        self.fetch = None;
        self.measure.record(SEGMENT, fetch.asked, desk.now);
        if desk.now >= self.measured_from {
            self.rates += self.config.ladder[self.rung].0;
        }
        let segment = self.config.segment;
        let last = self.config.most.is_some_and(|most| self.asked >= most);
        self.playout.add(desk.now, segment, last);
        if last {
            desk.close(id);
            return;
        }
        // The buffer can be this full only while it plays, so after `beyond` it has room for the
        // segment.
        let beyond = (self.playout.level() + segment).saturating_sub(self.config.max_buffer);
        self.next = desk.now.saturating_add(beyond);
    }

    /// Returns the measurements until the end of the run.
    pub fn outcome(&self, end: Time) -> AppOutcome {
        let mut playout = self.playout.clone();
        playout.advance(end);
        let mut outcome = self.measure.outcome();
        let segments = outcome.metrics.first().map_or(0, |(_, count)| match count {
            Metric::Count(count) => *count,
            _ => 0,
        });
        let over = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let (stalled, played) = (playout.stalled.as_secs_f64(), playout.played.as_secs_f64());
        let level = |milliseconds: Option<u64>| milliseconds.map(|level| level as f64 / 1e3);
        let startup = playout.startup.map(Span::as_secs_f64);
        let numbers = [
            ("startup_delay_s", startup),
            ("stall_time_s", Some(stalled)),
            ("stall_share", over(stalled, stalled + played)),
            (
                "video_bitrate_bps",
                over(self.rates as f64, segments as f64),
            ),
            (
                "mean_playout_buffer_s",
                playout.levels.mean().map(|level| level / 1e3),
            ),
            ("p5_playout_buffer_s", level(playout.levels.quantile(0.05))),
            ("max_playout_buffer_s", level(playout.levels.max())),
            ("smoothing_buffer_bytes", self.smoothing.shortfall()),
        ];
        let numbers = numbers.map(|(name, number)| (name, Metric::Number(number)));
        outcome
            .metrics
            .push(("stalls", Metric::Count(playout.stalls)));
        let switches = Metric::Count(self.switches);
        outcome.metrics.push(("bitrate_switches", switches));
        outcome.metrics.extend(numbers);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line goes from 1 Mb/s at 10 s to 9 Mb/s at 26 s, by 0.5 Mb/s per second.
    #[test]
    fn rates_follow_the_line_over_the_cushion() {
        let secs = Span::from_secs;
        let config = VideoConfig {
            segment: secs(4),
            ladder: [1, 2, 4, 9].map(|rate| Rate(rate * 1_000_000)).to_vec(),
            variation: 0.0,
            request: 200,
            startup: secs(4),
            max_buffer: secs(40),
            reservoir: secs(10),
            cushion: secs(16),
            most: None,
        };
        for (last, level, next) in [
            // In the reservoir the rate is the lowest, beyond the cushion the highest, for any last
            // rate.
            (3, 0, 0),
            (3, 10, 0),
            (0, 26, 3),
            (0, 40, 3),
            // The line is at 1.5 Mb/s. From 1 it has not reached 2. From 4 it has passed 2, and 2
            // is the next rate above it.
            (0, 11, 0),
            (2, 11, 1),
            (1, 11, 1),
            // The line is at 2 Mb/s, the neighbour, and the highest rate below it is 1.
            (0, 12, 0),
            // The line is at 3 Mb/s.
            (0, 14, 1),
            (1, 14, 1),
            (2, 14, 2),
            (3, 14, 2),
            // The line is at 4.5 Mb/s.
            (1, 17, 2),
            (3, 17, 3),
        ] {
            assert_eq!(
                config.next_rung(last, secs(level)),
                next,
                "{last} at {level} s"
            );
        }
    }
}
