//! The base RTT, and what pings show of other traffic.

use super::Estimate;
use crate::Ping;

/// Returns the base RTT in seconds, or none without pings.
///
/// `transmission_s` is the time that a ping's own transmission takes at the two bottlenecks. The
/// smallest RTT is an upper bound. The lower end of the interval is that of Robson and Whitlock
/// (Biometrika 51, 1964), x1 − 19 (x2 − x1) for the two smallest values.
pub fn base_rtt(pings: &[Ping], transmission_s: f64) -> Option<Estimate> {
    let mut times: Vec<_> = pings.iter().map(round_trip_s).collect();
    times.sort_by(f64::total_cmp);
    let least = *times.first()?;
    let second = *times.get(1)?;
    let value = (least - transmission_s).max(0.0);
    Some(Estimate {
        value,
        low: (value - 19.0 * (second - least)).max(0.0),
        high: least,
    })
}

fn round_trip_s(ping: &Ping) -> f64 {
    (ping.received - ping.sent) as f64 * 1e-9
}

/// Returns the share of pings that waited behind other packets in one direction, from 0 to 1. With
/// light cross traffic it is the utilisation of the bottleneck.
pub fn cross_share(delays: &[i64], least_wait_s: f64) -> Option<f64> {
    let least = delays.iter().min()?;
    let waited = delays
        .iter()
        .filter(|delay| (*delay - least) as f64 * 1e-9 > least_wait_s);
    Some(waited.count() as f64 / delays.len() as f64)
}
