//! Limits of a search.

use crate::link::Link;
use crate::rules::loss::bscl::bscl;

/// Ratio of neighbouring limits above 1.
pub const GRID_STEP: f64 = 0.05;

/// Stride of the coarse grid in grid points: a factor of 1.48.
pub const COARSE: usize = 8;

/// Largest buffer that is considered, in bandwidth-delay products.
const MAX_BDPS: f64 = 8.0;

/// Largest buffer that is considered, in answers of BSCL.
const MAX_BSCL: f64 = 2.0;

/// Largest buffer that is considered, in buffers that the bound on delay allows.
const MAX_DELAYS: f64 = 1.5;

/// Smallest end of a search in packets.
const MIN_END: f64 = 8.0;

/// Returns limits from 1 to at least `last`, a packet or 5 % apart; the last is a coarse one.
pub fn grid(last: u64) -> Vec<u64> {
    let mut limits = vec![1];
    let mut highest = 1;
    while highest < last || limits.len() % COARSE != 1 {
        highest = (highest + 1).max((highest as f64 * (1.0 + GRID_STEP)).round_ties_even() as u64);
        limits.push(highest);
    }
    limits
}

/// Returns the limits of a search in packets, up to the largest possible answer.
pub fn limits(link: &Link) -> Vec<u64> {
    let mut last = (MAX_BDPS * link.bdp_packets())
        .max(MAX_BSCL * bscl(link, None).packets)
        .max(MIN_END);
    if let Some(delay) = link.max_delay_s {
        last = last.max(MAX_DELAYS * delay / link.packet_time_s());
    }
    grid(last.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_a_packet_or_five_percent_apart_and_end_on_the_coarse_grid() {
        assert_eq!(grid(8), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let limits = grid(1_000);
        assert!(limits.last().is_some_and(|last| *last >= 1_000));
        assert_eq!(limits.len() % COARSE, 1);
        for pair in limits.windows(2) {
            let step = pair[1] - pair[0];
            assert!(step == 1 || (step as f64 / pair[0] as f64 - GRID_STEP).abs() < 0.03);
        }
    }
}
