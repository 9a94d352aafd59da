//! Two clocks that drift apart, from pings before and after the other phases.

use super::Estimate;
use crate::{Path, Ping, Recording};

/// One ping in this number is compared: those with the shortest round-trip times.
const ONE_IN: usize = 10;

/// Difference of two clocks at a time of the client's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    at: i64,
    /// Reading of the server's clock minus that of the client's, in nanoseconds.
    offset: i64,
    /// Range of the readings among which it is the median.
    doubt: i64,
}

/// Drift of the server's clock against the client's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    begin: Reading,
    /// Gain of the server's clock: its rate over that of the client's, minus one.
    rate: f64,
    doubt: f64,
}

/// Returns the difference of the clocks that the shortest pings show. Half of a ping's RTT passed before
/// it was turned, up to a constant that is the same for all pings that did not wait.
fn reading(pings: &[Ping]) -> Option<Reading> {
    let mut sorted = pings.to_vec();
    sorted.sort_by_key(|ping| ping.received - ping.sent);
    sorted.truncate(pings.len().div_ceil(ONE_IN));
    let middle = |ping: &Ping| ping.sent + (ping.received - ping.sent) / 2;
    let offsets = sorted.iter().map(|ping| ping.turned - middle(ping));
    let mut offsets: Vec<_> = offsets.collect();
    offsets.sort_unstable();
    Some(Reading {
        at: middle(sorted.first()?),
        offset: offsets[offsets.len() / 2],
        doubt: (offsets[offsets.len() - 1] - offsets[0]) / 2,
    })
}

impl Drift {
    /// Returns the drift between two series of pings, or none if one of them is empty.
    pub fn new(before: &[Ping], after: &[Ping]) -> Option<Self> {
        let (begin, end) = (reading(before)?, reading(after)?);
        let span = (end.at - begin.at) as f64;
        (span > 0.0).then(|| Self {
            begin,
            rate: (end.offset - begin.offset) as f64 / span,
            doubt: (begin.doubt + end.doubt) as f64 / span,
        })
    }

    /// Returns the drift in parts per million.
    pub fn ppm(&self) -> Estimate {
        Estimate::around(self.rate * 1e6, self.doubt * 1e6)
    }

    /// Returns a recording of packets in this direction as if the clocks did not drift. A drift that is not
    /// distinct from zero changes nothing.
    pub fn remove(&self, recording: &Recording, path: Path) -> Recording {
        let mut recording = recording.clone();
        if self.rate.abs() > self.doubt {
            for record in &mut recording.records {
                match path {
                    Path::Up => record.received = self.steady(record.received),
                    Path::Down => record.sent = self.steady(record.sent),
                }
            }
        }
        recording
    }

    /// Returns the reading of a server's clock that keeps the difference of the first pings.
    fn steady(&self, time: i64) -> i64 {
        let since = (time - self.begin.offset - self.begin.at) as f64;
        time - (since * self.rate / (1.0 + self.rate)).round() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Record, Stream};

    /// Returns 50 pings from a time on, 20 ms apart, with an RTT of 30 ms. The server's clock is ahead by
    /// 5 s and gains 100 ppm. Every third ping waits on its way there.
    fn pings(from: i64) -> Vec<Ping> {
        let ping = |number: i64| {
            let sent = from + number * 20_000_000;
            let wait = if number % 3 == 0 { 7_000_000 } else { 0 };
            Ping {
                sent,
                turned: server(sent + 15_000_000 + wait),
                received: sent + 30_000_000 + wait,
            }
        };
        (0..50).map(ping).collect()
    }

    fn server(time: i64) -> i64 {
        time + 5_000_000_000 + time / 10_000
    }

    #[test]
    fn the_drift_is_that_of_the_pings_that_did_not_wait() {
        let drift = Drift::new(&pings(0), &pings(60_000_000_000)).unwrap();
        let ppm = drift.ppm();
        assert!((ppm.value - 100.0).abs() < 1.0, "{ppm:?}");
        assert!(ppm.low <= 100.0 && 100.0 <= ppm.high, "{ppm:?}");
    }

    #[test]
    fn a_recording_without_the_drift_has_the_same_delay_at_all_times() {
        let drift = Drift::new(&pings(0), &pings(60_000_000_000)).unwrap();
        let at = |time: i64, path| Record {
            stream: Stream::Main,
            sequence: 0,
            sent: if path == Path::Up { time } else { server(time) },
            received: if path == Path::Up {
                server(time + 40_000_000)
            } else {
                time + 40_000_000
            },
            bytes: 1400,
            ecn: 0,
        };
        for path in [Path::Up, Path::Down] {
            let records = vec![at(0, path), at(50_000_000_000, path)];
            let apart = (records[1].delay() - records[0].delay()).abs();
            assert!(apart > 4_900_000, "{apart}");
            let recording = Recording {
                records,
                ..Recording::default()
            };
            let found = drift.remove(&recording, path).records;
            let apart = (found[1].delay() - found[0].delay()).abs();
            assert!(apart < 100_000, "{apart}");
        }
    }

    #[test]
    fn a_drift_that_may_be_none_changes_nothing() {
        let mut late = pings(60_000_000_000);
        for (number, ping) in late.iter_mut().enumerate() {
            ping.turned += if number % 2 == 0 {
                20_000_000
            } else {
                -20_000_000
            };
        }
        let drift = Drift::new(&pings(0), &late).unwrap();
        let ppm = drift.ppm();
        assert!(ppm.low < 0.0 && 0.0 < ppm.high, "{ppm:?}");
        let recording = Recording {
            records: vec![Record {
                stream: Stream::Main,
                sequence: 0,
                sent: 0,
                received: 70_000_000_000,
                bytes: 1400,
                ecn: 0,
            }],
            ..Recording::default()
        };
        assert_eq!(drift.remove(&recording, Path::Up), recording);
    }
}
