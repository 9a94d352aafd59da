//! Intervals of replicates cover the mean of long runs.

mod common;

use common::{extent, link, packets, run};
use goodqueue_fluid::FluidControl;

/// Replicates of one interval.
const EACH: usize = 8;
/// Factor of the 95 % interval of eight replicates (Student's t, 7 degrees of freedom).
const STUDENT: f64 = 2.365;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns true if the 95 % interval of the replicates contains the value.
fn covers(replicates: &[f64], value: f64) -> bool {
    let mean = mean(replicates);
    let squares: f64 = replicates.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (EACH * (EACH - 1)) as f64).sqrt();
    (mean - value).abs() <= STUDENT * error
}

/// A hundred Reno flows with equal round-trip times lose in step, every 1.8 s. A replicate measures
/// 10 s: not a whole number of cycles. If all replicates began at the same phase, only one interval
/// of 20 would cover the mean. The bound of 17 allows for chance: fewer than 17 of 20 intervals at
/// 95 % cover with a probability of 1.6 %.
#[test]
fn intervals_of_flows_in_step_cover_the_mean() {
    let mut link = link(500_000_000, 100, FluidControl::RENO, &[100]);
    link.queue = packets(400.0);
    let busy = |seed, warmup_s, duration_s| {
        let outcome = run(&link, &extent(seed, warmup_s, duration_s));
        outcome.utilization
    };
    let long = mean(&[busy(901, 30, 1_200), busy(902, 30, 1_200)]);
    let replicates: Vec<f64> = (0..20 * EACH as u64)
        .map(|seed| busy(seed, 5, 15))
        .collect();
    let covering = replicates.chunks(EACH).filter(|part| covers(part, long));
    let covering = covering.count();
    assert!(covering >= 17, "{covering} of 20 cover {long}");
    let all = mean(&replicates);
    assert!((all - long).abs() < 0.002, "{all} {long}");
}
