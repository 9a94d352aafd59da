//! The rate of the target link, by what passed it or was acknowledged.

use crate::Nanos;
use crate::flow::Flow;
use crate::loss::Place;
use crate::quantile::quantile;
use crate::report::Known;
use crate::target::{Bin, Passages, Series};

/// The rate of the link, and which of the series' bytes are the measured direction's.
pub(crate) struct Rated {
    pub rate_bps: Option<f64>,
    pub given: bool,
    pub heading: usize,
    pub bytes: u64,
    /// The bytes are those before the link.
    pub seen_before: bool,
    /// Only what passed the link was seen.
    pub seen_behind: bool,
}

impl Rated {
    pub fn of(
        series: &Series,
        passages: &Passages,
        heading: usize,
        tap: &Position,
        known: &Known,
        notes: &mut Vec<String>,
    ) -> Self {
        let bytes = series.bins.iter().map(|bin| bin.bytes[heading]).sum();
        let given = known.link_rate_bps.map(|rate| rate as f64);
        let rate_bps = given.or_else(|| passages.busy_rate()).or_else(|| {
            let (words, rate) = match tap.place {
                Place::Downstream => acknowledged(series, heading, tap.frame_ratio),
                _ => (
                    "the most that passed in 0.1 s",
                    most_in_a_tenth(series, heading),
                ),
            };
            notes.push(format!(
                "the link's rate is taken to be {words}; it was not given, and no queue was seen \
                 from two tapping points"
            ));
            rate
        });
        Self {
            rate_bps,
            given: given.is_some(),
            heading,
            bytes,
            seen_before: tap.place == Place::Downstream,
            seen_behind: tap.place == Place::Upstream,
        }
    }
}

/// Bits per second in all stretches of so many nanoseconds, or of one bin if that is longer.
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

/// The rate of acknowledgements, and in words what it is of.
fn acknowledged(series: &Series, heading: usize, ratio: f64) -> (&'static str, Option<f64>) {
    let (words, payload) = match busy_rate(series, heading) {
        Some(rate) => (
            "what was acknowledged of the time in which data waited",
            Some(rate),
        ),
        None => (
            "what was acknowledged in the busiest tenth of stretches of 0.2 s",
            ninetieth_acknowledged(series, heading),
        ),
    };
    (words, payload.map(|rate| rate * ratio))
}

/// What passed while data waited, by stretches of that time put together: the upper quartile, as a queue
/// elsewhere looks the same from here and lets less pass. None without a fifth of a second.
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

/// Where data never waited so long: the busiest tenth of all time, and the least of it, as bursts of
/// acknowledgements are compressed on their way.
fn ninetieth_acknowledged(series: &Series, heading: usize) -> Option<f64> {
    let mut rates = rates(series, 200_000_000, |bin| bin.delivered[heading]);
    rates.sort_unstable_by(f64::total_cmp);
    let rate = quantile(&rates, 0.9)?;
    (rate > 0.0).then_some(rate)
}

/// What one tapping point, or two, are to the target link.
pub(crate) struct Position {
    pub place: Place,
    /// Bytes of frames for a byte of payload.
    pub frame_ratio: f64,
}

/// The same over all flows.
pub(crate) fn frame_ratio(flows: &[Flow]) -> f64 {
    let (mut payload, mut frames) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| flow.forward) {
        let packets = flow.counts.packets as f64;
        payload += packets * f64::from(flow.mss);
        frames += packets * (flow.packet_bytes() + flow.framing_bytes());
    }
    if payload > 0.0 { frames / payload } else { 1.0 }
}
