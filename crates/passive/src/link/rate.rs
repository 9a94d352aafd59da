//! The rate of the target link, estimated from passed or acknowledged data.

use crate::Nanos;
use crate::flow::Flow;
use crate::link::target::{Bin, Passages, Series};
use crate::loss::Place;
use crate::quantile::quantile;
use crate::sound::at_least;

/// Rate of the link, which is not below the throughput.
pub(crate) struct Rated {
    pub rate_bps: Option<f64>,
    pub given: bool,
    pub heading: usize,
    /// True if only packets that had passed the link were seen.
    pub seen_behind: bool,
}

impl Rated {
    pub fn measure(
        series: &Series,
        passages: &Passages,
        heading: usize,
        tap: &Position,
        throughput_bps: Option<f64>,
        link_rate_bps: Option<u64>,
        notes: &mut Vec<String>,
    ) -> Self {
        let given = link_rate_bps.map(|rate| rate as f64);
        let (source, rate_bps) = match (given, passages.busy_rate()) {
            (Some(rate), _) => (Source::Given, Some(rate)),
            (None, Some(rate)) => (Source::Queue, Some(rate)),
            (None, None) => match tap.place {
                Place::Downstream => acknowledged(series, heading, tap.frame_ratio),
                _ => (
                    Source::Assumed("the highest throughput over 0.1 s"),
                    most_in_a_tenth(series, heading),
                ),
            },
        };
        // A rate that the user gave is kept as it is, although a throughput has an error of measurement.
        let possible = at_least(rate_bps, throughput_bps);
        let believed = possible.map(|rate| given.unwrap_or(rate));
        notes.extend(source.note(rate_bps, believed, throughput_bps));
        Self {
            rate_bps: believed,
            given: source == Source::Given && believed.is_some(),
            heading,
            seen_behind: tap.place == Place::Upstream,
        }
    }
}

/// Returns the rates in bits per second of all stretches of this length in nanoseconds, or of one
/// bin if that is longer.
fn rates(series: &Series, stretch: Nanos, bytes: impl Fn(&Bin) -> u64) -> Vec<f64> {
    let bins = bins_of(series, stretch);
    let time = bins as f64 * series.width as f64;
    let sums = series
        .bins
        .windows(bins)
        .map(|bins| bins.iter().map(&bytes).sum::<u64>());
    sums.map(|sum| sum as f64 * 8e9 / time).collect()
}

fn bins_of(series: &Series, stretch: Nanos) -> usize {
    usize::try_from((stretch / series.width).max(1)).unwrap_or(1)
}

fn most_in_a_tenth(series: &Series, heading: usize) -> Option<f64> {
    let rates = rates(series, 100_000_000, |bin| bin.bytes[heading]);
    rates
        .into_iter()
        .max_by(f64::total_cmp)
        .filter(|most| *most > 0.0)
}

/// Returns the rate of acknowledged data, with its source.
fn acknowledged(series: &Series, heading: usize, ratio: f64) -> (Source, Option<f64>) {
    let (words, payload) = match busy_rate(series, heading) {
        Some(rate) => (
            "the rate of acknowledged data while data waited",
            Some(rate),
        ),
        None => (
            "the 90th percentile of the rate of acknowledged data over 0.2 s",
            ninetieth_acknowledged(series, heading),
        ),
    };
    (Source::Assumed(words), payload.map(|rate| rate * ratio))
}

/// Source of the rate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The user gave it.
    Given,
    /// A queue between two tapping points emptied with it.
    Queue,
    /// No queue was seen; the words describe what the rate is assumed to be.
    Assumed(&'static str),
}

impl Source {
    /// Returns the note on an assumed rate, or on a rate that the throughput contradicts.
    fn note(
        self,
        rate: Option<f64>,
        believed: Option<f64>,
        throughput: Option<f64>,
    ) -> Option<String> {
        let unseen = "the link's rate is not given and no queue was seen from two tapping points";
        match (self, rate, believed) {
            (Self::Assumed(words), _, Some(_)) => {
                Some(format!("{unseen}, so the rate is assumed to be {words}"))
            }
            (Self::Assumed(_), None, _) => Some(format!("{unseen}, so the rate is unknown")),
            (_, Some(rate), None) => {
                let source = match self {
                    Self::Given => "given",
                    _ => "estimated",
                };
                let throughput = throughput.unwrap_or_default();
                Some(format!(
                    "the {source} rate, {rate:.0} b/s, is below the throughput, {throughput:.0} b/s, \
                     so the link's rate is unknown"
                ))
            }
            _ => None,
        }
    }
}

/// Returns the rate while data waited, measured over stretches of 0.2 s of such time. The estimate
/// is the upper quartile, because a queue at another link looks the same at this point and has a
/// lower rate. None if data waited for less than 0.2 s.
fn busy_rate(series: &Series, heading: usize) -> Option<f64> {
    let busy = series.bins.iter().filter(|bin| bin.busy[heading]);
    let delivered: Vec<u64> = busy.map(|bin| bin.delivered[heading]).collect();
    let bins = bins_of(series, 200_000_000);
    let time = bins as f64 * series.width as f64;
    let sums = delivered
        .chunks_exact(bins)
        .map(|bins| bins.iter().sum::<u64>());
    let mut rates: Vec<f64> = sums.map(|sum| sum as f64 * 8e9 / time).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let rate = quantile(&rates, 0.75)?;
    (rate > 0.0).then_some(rate)
}

/// Returns the 90th percentile of the acknowledged rate, for captures in which data never waited so
/// long. The maximum would be too large, because ACKs may be compressed into bursts.
fn ninetieth_acknowledged(series: &Series, heading: usize) -> Option<f64> {
    let mut rates = rates(series, 200_000_000, |bin| bin.delivered[heading]);
    rates.sort_unstable_by(f64::total_cmp);
    let rate = quantile(&rates, 0.9)?;
    (rate > 0.0).then_some(rate)
}

/// Position of the tapping points relative to the target link.
pub(crate) struct Position {
    pub place: Place,
    /// Bytes of frames per byte of payload.
    pub frame_ratio: f64,
}

/// Returns the bytes of frames per byte of payload over all flows.
pub(crate) fn frame_ratio(flows: &[Flow]) -> f64 {
    let (mut payload, mut frames) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| flow.forward) {
        let packets = flow.counts.packets as f64;
        payload += packets * f64::from(flow.mss);
        frames += packets * (flow.packet_bytes() + flow.framing_bytes());
    }
    if payload > 0.0 { frames / payload } else { 1.0 }
}
