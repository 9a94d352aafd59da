//! Figures that cannot contradict the capture, and a check of all figures of a report.
//!
//! The functions make the figures: a share is within [0, 1], nothing is divided by a time of zero, and
//! a rate clearly below the observed throughput is none. [`Report::contradictions`] states the same as a list
//! of conditions, which tests of damaged captures require.

use crate::Nanos;
use crate::flow::Flow;
use crate::report::Report;

/// Tolerance for sums of rounded numbers, relative.
const ROUNDING: f64 = 1e-9;

/// Largest excess of a throughput over the rate of a full link, relative: the first packet counts, but
/// not the time of its transmission, and so do packets that still wait at the end.
const MEASUREMENT: f64 = 0.01;

/// Returns a part over its whole, at most 1. None without a whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}

/// Returns bits per second. None if the time is zero.
pub(crate) fn bits_per_second(bytes: f64, time: Nanos) -> Option<f64> {
    (time > 0).then(|| bytes.max(0.0) * 8e9 / time as f64)
}

/// Returns a rate of a link, raised to the throughput if it is below by an error of measurement, or
/// none if the throughput contradicts it.
pub(crate) fn at_least(rate: Option<f64>, throughput: Option<f64>) -> Option<f64> {
    let least = throughput.unwrap_or(0.0);
    rate.filter(|rate| rate.is_finite() && *rate > 0.0 && *rate >= least * (1.0 - MEASUREMENT))
        .map(|rate| rate.max(least))
}

/// Conditions that do not hold, in words.
#[derive(Default)]
struct Broken(Vec<String>);

impl Broken {
    fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    fn share(&mut self, what: &str, value: Option<f64>) {
        let holds = value.is_none_or(|value| (0.0..=1.0 + ROUNDING).contains(&value));
        self.unless(holds, || format!("{what} is {value:?}"));
    }

    fn amount(&mut self, what: &str, value: Option<f64>) {
        let holds = value.is_none_or(|value| value.is_finite() && value >= 0.0);
        self.unless(holds, || format!("{what} is {value:?}"));
    }
}

impl Report {
    /// Returns the figures that contradict each other or the capture, in words. There are none for
    /// any capture, however it is damaged.
    pub fn contradictions(&self) -> Vec<String> {
        let mut broken = Broken::default();
        self.check_link(&mut broken);
        for flow in &self.flows {
            self.check_flow(flow, &mut broken);
        }
        for stretch in &self.series {
            broken.share("utilisation of a bin", stretch.utilization);
            broken.amount("throughput of a bin", Some(stretch.throughput_bps));
            broken.amount("mean delay of a bin", stretch.delay_mean_s);
            broken.amount("longest delay of a bin", stretch.delay_max_s);
        }
        for burst in &self.bursts {
            broken.share("synchronisation", burst.synchronization);
            let counts = burst.packets > 0 && burst.duration >= 0;
            broken.unless(counts, || format!("{burst:?}"));
        }
        self.check_parameters(&mut broken);
        broken.0
    }

    fn check_link(&self, broken: &mut Broken) {
        let link = &self.link;
        broken.share("utilisation", link.utilization);
        broken.share("loss rate", link.loss_rate);
        broken.amount("rate", link.rate_bps);
        broken.amount("throughput", link.throughput_bps);
        broken.amount("goodput", link.goodput_bps);
        let error = if link.rate_given {
            MEASUREMENT
        } else {
            ROUNDING
        };
        let least = link.throughput_bps.unwrap_or(0.0) * (1.0 - 2.0 * error);
        let at_least = link.rate_bps.is_none_or(|rate| rate >= least);
        broken.unless(at_least, || format!("rate below throughput: {link:?}"));
        let useful = link.goodput_bps.zip(link.throughput_bps);
        let useful = useful.is_none_or(|(good, all)| good <= all * (1.0 + ROUNDING));
        broken.unless(useful, || format!("goodput above throughput: {link:?}"));
        let lost = self.by_log || link.lost_packets <= link.packets;
        broken.unless(lost, || format!("more lost than packets: {link:?}"));
        let timed = self.duration > 0 || link.throughput_bps.is_none();
        broken.unless(timed, || format!("throughput of no time: {link:?}"));
        let buffer = link.buffer.is_none_or(|buffer| {
            buffer.packets >= 1.0 && buffer.low <= buffer.seconds && buffer.seconds <= buffer.high
        });
        broken.unless(buffer, || format!("buffer: {link:?}"));
        if let Some(delays @ [min, p50, p99, max, mean]) = link.queueing_delay_s {
            let ordered = 0.0 <= min && min <= p50 && p50 <= p99 && p99 <= max && mean <= max;
            let long = self.duration as f64 * 1e-9;
            broken.unless(ordered && 0.0 <= mean && max <= long, || {
                format!("delays {delays:?} in {long} s")
            });
        }
    }

    fn check_flow(&self, flow: &Flow, broken: &mut Broken) {
        let counts = &flow.counts;
        let lost: u64 = counts.lost.iter().sum();
        let payload = counts.ip_bytes.saturating_sub(counts.header_bytes);
        let within = lost <= counts.packets
            && counts.retransmissions <= counts.packets
            && counts.reordered <= counts.packets
            && counts.captured <= counts.packets
            && counts.bytes <= payload;
        broken.unless(within, || format!("{}: {counts:?}", flow.name()));
        let cut = payload / u64::from(flow.mss.max(1)) + counts.captured;
        broken.unless(counts.packets <= cut.max(lost), || {
            format!("{}: more packets than segments: {counts:?}", flow.name())
        });
        let shares = &flow.shares;
        for value in [shares.receiver, shares.application, shares.congestion] {
            broken.share("share of a flow's time", Some(value));
        }
        let extent = 0 <= flow.duration && flow.duration <= self.duration;
        broken.unless(extent, || format!("duration {}", flow.duration));
        broken.amount("goodput of a flow", flow.goodput_bps());
        let rtt = &flow.rtt;
        let base = rtt.base.unwrap_or(1);
        let whole = |time: Nanos| 0 < base && base <= time && time <= self.duration;
        let times = [
            rtt.base,
            rtt.handshake,
            rtt.slow_start,
            rtt.timestamps,
            rtt.pairs,
        ];
        let samples = flow.samples.iter().map(|sample| sample.1);
        let all = times.into_iter().flatten().chain(samples).all(whole);
        let least = base as f64 * 1e-9 * (1.0 - ROUNDING);
        let mean = rtt.mean_s.is_none_or(|mean| mean > 0.0 && mean >= least);
        broken.unless(all && mean, || {
            format!("{}: round trips {rtt:?}, {:?}", flow.name(), flow.samples)
        });
    }

    fn check_parameters(&self, broken: &mut Broken) {
        let found = &self.parameters;
        for estimate in [
            found.flows,
            found.round_trip_s,
            found.capacity_bps,
            found.burst,
            found.alpha,
            found.packet_bytes,
        ]
        .into_iter()
        .flatten()
        {
            let ordered = 0.0 <= estimate.low
                && estimate.low <= estimate.value
                && estimate.value <= estimate.high
                && estimate.high.is_finite();
            broken.unless(ordered, || format!("parameter {estimate:?}"));
        }
        let held = self.flows.iter().filter(|flow| flow.is_held_back()).count() as f64;
        let flows = found
            .flows
            .is_none_or(|flows| flows.value <= held * (1.0 + ROUNDING));
        broken.unless(flows, || format!("{:?} of {held} flows", found.flows));
        let rates = found.capacity_bps.zip(self.link.throughput_bps);
        let rates = rates.is_none_or(|(flows, all)| flows.value <= all * (1.0 + ROUNDING));
        broken.unless(rates, || {
            format!("{:?} of {:?}", found.capacity_bps, self.link.throughput_bps)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn a_full_link_keeps_a_rate_just_below_its_throughput() {
        assert_eq!(at_least(Some(4e6), Some(3.9e6)), Some(4e6));
        assert_eq!(at_least(Some(4e6), Some(4.004e6)), Some(4.004e6));
        assert_eq!(at_least(Some(4e6), Some(4.1e6)), None);
        assert_eq!(at_least(Some(0.0), None), None);
        assert_eq!(at_least(None, Some(1.0)), None);
    }
}
