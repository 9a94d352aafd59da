//! Traffic of a link beside its long flows.

use crate::link::Link;

/// Share of the other traffic that a slower link before this one limits.
const REMOTE_SHARE: f64 = 0.4;

/// Share of the other traffic that the windows of its flows limit. Short transfers have the rest.
const WINDOW_SHARE: f64 = 0.4;

/// Largest number of flows that a slower link limits.
const MAX_REMOTE: f64 = 20.0;

/// Largest number of flows that their windows limit.
const MAX_WINDOW_LIMITED: f64 = 10.0;

/// Smallest window in packets of a flow beside the long ones.
const MIN_WINDOW: f64 = 4.0;

/// Traffic that has the rest of a link's capacity, after Dhamdhere, Jiang and Dovrolis (INFOCOM 2005):
/// 40 % are flows that a slower link limits, 40 % flows that their windows limit, and 20 % short
/// transfers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherTraffic {
    /// Number of flows that a slower link limits.
    pub remote_flows: u64,
    /// Rate in bits per second of the traffic that a slower link limits.
    pub remote_rate_bps: f64,
    /// Number of flows that their windows limit.
    pub limited_flows: u64,
    /// Rate in bits per second of the traffic that windows limit.
    pub limited_rate_bps: f64,
    /// Rate in bits per second of short transfers. It includes rates below the window of one flow.
    pub short_rate_bps: f64,
}

impl OtherTraffic {
    /// Returns the other traffic of a link.
    pub fn from_link(link: &Link) -> Self {
        let rest = (1.0 - link.local_share) * link.rate_bps;
        let (remote_rate_bps, limited_rate_bps) = (REMOTE_SHARE * rest, WINDOW_SHARE * rest);
        let flows = |rate_bps: f64, most: f64| {
            let window = rate_bps * link.mean_rtt_s() / (8.0 * link.frame_bytes() as f64);
            (window / MIN_WINDOW).min(most) as u64
        };
        let remote_flows = flows(remote_rate_bps, MAX_REMOTE);
        let limited_flows = flows(limited_rate_bps, MAX_WINDOW_LIMITED);
        let carried = |flows: u64, rate_bps: f64| if flows > 0 { rate_bps } else { 0.0 };
        Self {
            remote_flows,
            remote_rate_bps,
            limited_flows,
            limited_rate_bps,
            short_rate_bps: rest
                - carried(remote_flows, remote_rate_bps)
                - carried(limited_flows, limited_rate_bps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_below_the_window_of_one_flow_are_short_transfers() {
        let mut link = Link::new(50e6, vec![0.06], 20);
        assert_eq!(
            OtherTraffic::from_link(&link).short_rate_bps.to_bits(),
            0.0_f64.to_bits()
        );
        link.local_share = 0.9;
        // 2 Mb/s x 60 ms are ten packets: two windows of four.
        let other = OtherTraffic::from_link(&link);
        assert_eq!((other.remote_flows, other.limited_flows), (2, 2));
        assert!((other.short_rate_bps - 1e6).abs() < 1.0);
        link.local_share = 0.99;
        let other = OtherTraffic::from_link(&link);
        assert_eq!((other.remote_flows, other.limited_flows), (0, 0));
        assert!((other.short_rate_bps - 0.5e6).abs() < 1.0);
    }
}
