//! Responsiveness under working conditions: round trips per minute of small requests, on loaded
//! connections and beside them (draft-ietf-ippm-responsiveness-09).

use super::measure::{AppOutcome, Metric};
use super::numbered::Numbered;
use super::{Desk, Reply, TransferWay};
use crate::{Distribution, IdealPath};
use goodqueue_tcp::ENDLESS;
use goodqueue_types::parameters::{INTERVAL, Kind, flag, integer, one_of, words};
use goodqueue_types::{Bytes, Direction, Histogram, Rate, Span, Time, parameters};
use std::collections::VecDeque;

parameters! {
    /// Parameters of a measurement of responsiveness.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ResponsivenessConfig("responsiveness") {
        /// Connections that load the path without end. The draft opens one more every 5 s and ends after
        /// eight such intervals at the earliest.
        connections: u32 = 8 => integer(1, 256).example("1");
        /// Way of the load: `down` from the server to the client, `up` from the client.
        direction: TransferWay = TransferWay::Down => words::<TransferWay>().example("up");
        /// Time from one pair of probes to the next. `draft`: 20 ms, or the time in which the slowest link sends
        /// 20 times 6000 bytes if that is longer, so that probes take 5 % of its rate.
        interval: Option<Span> = None => one_of(&[INTERVAL, Kind::Choice(&["draft"])]).example("100ms");
        /// True if probes on connections of their own have a TLS handshake of one round trip, as in TLS 1.3.
        tls: bool = true => flag().example("false");
    }
}

impl ResponsivenessConfig {
    /// Returns the time from one pair of probes to the next on a path with this rate.
    pub fn interval_at(&self, rate: Rate) -> Span {
        let room = || rate.transmission_time(Bytes(PAIR_BYTES * PAIRS_IN_CAPACITY));
        self.interval.unwrap_or_else(|| MIN_INTERVAL.max(room()))
    }

    /// Returns the shortest time from one pair of probes to the next, on any path.
    pub fn shortest_interval(&self) -> Span {
        self.interval.unwrap_or(MIN_INTERVAL)
    }
}

/// Shortest time between pairs of probes: 100 probes per second (MPS of the draft).
const MIN_INTERVAL: Span = Span::from_millis(20);
/// Bytes of a pair of probes: 5000 on a connection of its own, and 1000 on a loaded one.
const PAIR_BYTES: u64 = 6_000;
/// Pairs that the capacity has room for, for each that is sent: 5 % (PTC of the draft).
const PAIRS_IN_CAPACITY: u64 = 20;

/// Bytes of a GET request for an object of one byte.
const GET: u64 = 200;
/// Bytes of its answer with its headers.
const ANSWER: u64 = 300;
/// Bytes of the client's part of a TLS handshake, padded as by browsers.
const CLIENT_HELLO: u64 = 517;
/// Bytes of the server's part, with certificates.
const SERVER_HELLO: u64 = 3_500;

/// Step of a probe on a connection of its own.
#[derive(Clone, Copy, Debug)]
enum Step {
    Handshake,
    Tls,
    Http,
}

/// A probe on a connection of its own (*foreign* probe).
#[derive(Clone, Copy, Debug)]
struct Foreign {
    step: Step,
    /// Time at which the step began.
    began: Time,
    written: u64,
    /// Position in the server's stream at which the answer of the step ends.
    ends_at: u64,
}

/// Probes on a loaded connection (*self* probes) that have no answer yet: the time of each request,
/// and the position in the server's stream at which its answer ends, if it is known.
#[derive(Clone, Debug, Default)]
struct Load {
    written: u64,
    ends_at: u64,
    waiting: VecDeque<(Time, Option<u64>)>,
}

/// The client of a measurement of responsiveness.
#[derive(Debug)]
pub struct Responsiveness {
    config: ResponsivenessConfig,
    interval: Span,
    next: Time,
    measured_from: Time,
    /// Loaded connections, by their number.
    loads: Vec<Load>,
    foreign: Numbered<Foreign>,
    /// True if the next probe has a connection of its own.
    next_is_foreign: bool,
    /// Durations in nanoseconds, by the places below.
    samples: [Vec<u64>; 4],
}

/// Places of the durations: `tcp_f`, `tls_f`, `http_f` and `http_l` of the draft.
const TCP: usize = 0;
const TLS: usize = 1;
const HTTP: usize = 2;
const LOADED: usize = 3;

impl Responsiveness {
    /// Creates a client that opens its connections at `start` and measures from `measured_from` on.
    pub fn new(
        config: ResponsivenessConfig,
        start: Time,
        measured_from: Time,
        path: IdealPath,
    ) -> Self {
        let way = match config.direction {
            TransferWay::Up => Direction::Forward,
            TransferWay::Down => Direction::Reverse,
        };
        Self {
            interval: config.interval_at(path.rate(way)),
            next: start,
            measured_from,
            loads: Vec::new(),
            foreign: Numbered::default(),
            next_is_foreign: true,
            samples: Default::default(),
            config,
        }
    }

    pub fn bytes(&self) -> usize {
        let samples = self.samples.iter().map(Vec::capacity).sum::<usize>();
        let waiting = self.loads.iter().map(|load| load.waiting.capacity());
        samples * size_of::<u64>()
            + waiting.sum::<usize>() * size_of::<(Time, Option<u64>)>()
            + self.foreign.bytes()
    }

    pub fn wakes_at(&self) -> Time {
        self.next
    }

    /// Opens the loaded connections, or sends the next probe. Probes of both kinds take turns.
    pub fn wake(&mut self, desk: &mut Desk<'_>) {
        if self.loads.is_empty() {
            self.open_loads(desk);
        } else if self.next_is_foreign {
            let probe = Foreign {
                step: Step::Handshake,
                began: desk.now,
                written: 0,
                ends_at: 0,
            };
            self.foreign.insert(desk.open(), probe);
            self.next_is_foreign = false;
        } else {
            self.ask_on_a_load(desk);
            self.next_is_foreign = true;
        }
        self.next = desk.now.saturating_add(Span((self.interval.0 / 2).max(1)));
    }

    fn open_loads(&mut self, desk: &mut Desk<'_>) {
        for _ in 0..self.config.connections {
            let id = desk.open();
            let mut load = Load::default();
            match self.config.direction {
                TransferWay::Up => desk.connections.write(id, ENDLESS),
                TransferWay::Down => load.written = desk.ask(id, GET, 0, answer(ENDLESS)),
            }
            self.loads.push(load);
        }
    }

    /// Sends a request on one of the loaded connections, drawn at random. On an upload its bytes are
    /// those that are sent next.
    fn ask_on_a_load(&mut self, desk: &mut Desk<'_>) {
        let drawn = desk.random.unit() * self.loads.len() as f64;
        let id = (drawn as usize).min(self.loads.len() - 1);
        let is_open = |id| {
            let connection = desk.connections.get(id);
            connection.is_some_and(goodqueue_tcp::TcpEndpoint::is_established)
        };
        if !is_open(id as u32) {
            return;
        }
        let load = &mut self.loads[id];
        load.written = desk.ask(id as u32, GET, load.written, answer(ANSWER));
        let ends_at = (self.config.direction == TransferWay::Up).then(|| {
            load.ends_at += ANSWER;
            load.ends_at
        });
        load.waiting.push_back((desk.now, ends_at));
    }

    pub fn progress(&mut self, id: u32, desk: &mut Desk<'_>) {
        if (id as usize) < self.loads.len() {
            self.hear_on_a_load(id, desk);
        } else if let Some(probe) = self.foreign.get(id).copied() {
            self.go_on(id, probe, desk);
        }
    }

    /// Ends the probes whose answers have come on a loaded connection.
    fn hear_on_a_load(&mut self, id: u32, desk: &Desk<'_>) {
        let delivered = desk.delivered(id);
        let load = &mut self.loads[id as usize];
        while let Some((asked, ends_at)) = load.waiting.front_mut() {
            if ends_at.is_none() {
                *ends_at = desk.script.take_answer(id);
            }
            if ends_at.is_none_or(|end| end > delivered) {
                return;
            }
            let asked = *asked;
            load.waiting.pop_front();
            record(
                &mut self.samples[LOADED],
                asked,
                desk.now,
                self.measured_from,
            );
        }
    }

    /// Ends the present step of a probe on a connection of its own, if it is over, and begins the
    /// next.
    fn go_on(&mut self, id: u32, mut probe: Foreign, desk: &mut Desk<'_>) {
        let is_over = match probe.step {
            Step::Handshake => {
                let connection = desk.connections.get(id);
                connection.is_some_and(goodqueue_tcp::TcpEndpoint::is_established)
            }
            Step::Tls | Step::Http => desk.delivered(id) >= probe.ends_at,
        };
        if !is_over {
            return;
        }
        let (place, next) = match probe.step {
            Step::Handshake if self.config.tls => {
                (TCP, Some((Step::Tls, CLIENT_HELLO, SERVER_HELLO)))
            }
            Step::Handshake => (TCP, Some((Step::Http, GET, ANSWER))),
            Step::Tls => (TLS, Some((Step::Http, GET, ANSWER))),
            Step::Http => (HTTP, None),
        };
        record(
            &mut self.samples[place],
            probe.began,
            desk.now,
            self.measured_from,
        );
        let Some((step, request, reply)) = next else {
            self.foreign.remove(id);
            desk.close(id);
            return;
        };
        (probe.step, probe.began) = (step, desk.now);
        probe.written = desk.ask(id, request, probe.written, answer(reply));
        probe.ends_at += reply;
        self.foreign.insert(id, probe);
    }

    /// Returns the measurements.
    pub fn outcome(&self) -> AppOutcome {
        let means = self.samples.each_ref().map(|samples| trimmed_mean(samples));
        let beside: Option<Vec<f64>> = if self.config.tls {
            means[..LOADED].iter().copied().collect()
        } else {
            [means[TCP], means[HTTP]].into_iter().collect()
        };
        let foreign = beside.map(|means| 60.0 * means.len() as f64 / means.iter().sum::<f64>());
        let loaded = means[LOADED].map(|mean| 60.0 / mean);
        let both = foreign
            .zip(loaded)
            .map(|(foreign, loaded)| foreign.midpoint(loaded));
        let count = |place: usize| Metric::Count(self.samples[place].len() as u64);
        let times = |place: usize| {
            let mut histogram = Histogram::default();
            for sample in &self.samples[place] {
                histogram.record(*sample, 1);
            }
            Metric::Seconds(Distribution::from_histogram(&histogram, 1e9))
        };
        AppOutcome {
            metrics: vec![
                ("responsiveness_rpm", Metric::Number(both)),
                ("foreign_responsiveness_rpm", Metric::Number(foreign)),
                ("loaded_responsiveness_rpm", Metric::Number(loaded)),
                ("foreign_probes", count(HTTP)),
                ("self_probes", count(LOADED)),
                ("foreign_tcp_time_s", times(TCP)),
                ("foreign_tls_time_s", times(TLS)),
                ("foreign_http_time_s", times(HTTP)),
                ("self_probe_time_s", times(LOADED)),
            ],
        }
    }
}

/// Returns an answer of this size that begins at once.
fn answer(bytes: u64) -> Reply {
    Reply {
        bytes,
        after: Span::ZERO,
        closes: false,
    }
}

fn record(samples: &mut Vec<u64>, began: Time, now: Time, measured_from: Time) {
    if now >= measured_from {
        samples.push((now - began).0.div_ceil(1_000));
    }
}

/// Returns the mean in seconds of the 95 % shortest of these nanoseconds (TMP of the draft), or none
/// without any.
fn trimmed_mean(nanoseconds: &[u64]) -> Option<f64> {
    let mut sorted = nanoseconds.to_vec();
    sorted.sort_unstable();
    let kept = (sorted.len() * 95 / 100).max(sorted.len().min(1));
    let sum: u64 = sorted[..kept].iter().sum();
    (kept > 0).then(|| sum as f64 / kept as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the responsiveness of ten probes with these durations in milliseconds.
    fn measured(tls: bool, [tcp_f, tls_f, http_f, http_l]: [u64; 4]) -> [Option<u64>; 3] {
        let config = ResponsivenessConfig {
            tls,
            ..ResponsivenessConfig::default()
        };
        let path = IdealPath::nowhere();
        let mut client = Responsiveness::new(config, Time::ZERO, Time::ZERO, path);
        client.samples = [tcp_f, tls_f, http_f, http_l].map(|ms| vec![ms * 1_000_000; 10]);
        let outcome = client.outcome();
        [0, 1, 2].map(|place| match outcome.metrics[place].1 {
            Metric::Number(number) => number.map(|number| number.round() as u64),
            ref other => panic!("{other:?}"),
        })
    }

    /// The cases of the tests of Cloudflare's implementation (networkquality-rs), whose source says
    /// how the draft's formula gives these.
    #[test]
    fn rates_beside_and_on_the_load_have_the_same_weight() {
        let rpm = |tls, ms| measured(tls, ms).map(Option::unwrap_or_default);
        assert_eq!(rpm(true, [30, 30, 30, 30]), [2_000; 3]);
        assert_eq!(rpm(true, [60, 60, 60, 20]), [2_000, 1_000, 3_000]);
        // Without TLS the duration of its handshake is not defined and does not count.
        assert_eq!(rpm(false, [20, 999, 40, 60]), [1_500, 2_000, 1_000]);
    }

    #[test]
    fn nothing_measured_is_no_figure() {
        let path = IdealPath::nowhere();
        let config = ResponsivenessConfig::default();
        let outcome = Responsiveness::new(config, Time::ZERO, Time::ZERO, path).outcome();
        assert_eq!(outcome.metrics[0].1, Metric::Number(None));
    }

    /// The draft keeps the shortest 95 %, and its implementations (goresponsiveness,
    /// networkquality-rs) round their number down.
    #[test]
    fn the_slowest_twentieth_does_not_count() {
        let samples: Vec<u64> = (0..40).map(|n| if n < 38 { 7 } else { 1_000 }).collect();
        assert_eq!(trimmed_mean(&samples), Some(7e-9));
        assert_eq!(trimmed_mean(&[5, 4, 3, 2, 1]), Some(2.5e-9));
        assert_eq!(trimmed_mean(&[9]), Some(9e-9));
        assert_eq!(trimmed_mean(&[]), None);
    }

    /// 20 ms is 50 pairs a second. 6000 bytes are 5 % of what 10 Mb/s carry in 96 ms.
    #[test]
    fn probes_take_a_twentieth_of_the_rate() {
        let config = ResponsivenessConfig::default();
        let interval = |rate| config.interval_at(Rate(rate));
        assert_eq!(interval(10_000_000), Span::from_millis(96));
        assert_eq!(interval(1_000_000_000), Span::from_millis(20));
        let own = ResponsivenessConfig {
            interval: Some(Span::from_millis(1)),
            ..config.clone()
        };
        assert_eq!(own.interval_at(Rate(1_000)), Span::from_millis(1));
    }
}
