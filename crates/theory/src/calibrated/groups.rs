//! Dimensionless groups of a link with a buffer.

use crate::control::Control;
use crate::link::{Link, Profile};
use crate::other_traffic::OtherTraffic;
use crate::throughput::cubic_epoch_s;

/// Number of groups.
pub const COUNT: usize = 18;

/// Number of groups that are logarithms; they come first.
pub const LOGARITHMS: usize = 12;

/// Names of the groups, which messages show: logarithms first, then shares; the last four are 0 or 1.
pub const GROUPS: [&str; COUNT] = [
    "packets per flow on the path",
    "flows",
    "buffer over bandwidth-delay product",
    "packets per flow with the queue full",
    "buffer in packets",
    "buffer per flow",
    "round trip with the queue full over CUBIC's K",
    "base round trip over 200 ms",
    "round trip with the queue full over 200 ms",
    "longest over shortest round trip",
    "packets per loss epoch",
    "flows beside the long ones, and one",
    "share of the long flows",
    "share of short transfers",
    "paced",
    "Linux profile",
    "CUBIC",
    "windows grow by bytes",
];

/// Linux's smallest retransmission timeout in seconds, which matters if windows are too small for fast
/// retransmit.
const MIN_TIMEOUT_S: f64 = 0.2;

/// Smallest window in packets between two losses.
const MIN_WINDOW: f64 = 2.0;

/// Returns the groups of a link with each buffer in packets.
pub fn groups(link: &Link, packets: &[f64]) -> Vec<[f64; COUNT]> {
    let flows = link.flows as f64;
    let (bdp, mean_rtt_s, packet_time_s) = (
        link.local_bdp_packets(),
        link.mean_rtt_s(),
        link.packet_time_s(),
    );
    let path = bdp / flows;
    let is_cubic = link.congestion_control == Control::Cubic;
    let other = OtherTraffic::from_link(link);
    let beside = (other.remote_flows + other.limited_flows) as f64;
    let spread = libm::log(link.longest_rtt_s() / link.shortest_rtt_s());
    let flag = |is_set: bool| if is_set { 1.0 } else { 0.0 };
    let one = |packets: f64| {
        let window = path + packets / flows;
        let rtt = mean_rtt_s + packets * packet_time_s;
        [
            libm::log(path),
            libm::log(flows),
            libm::log(packets / bdp),
            libm::log(window),
            libm::log(packets),
            libm::log(packets / flows),
            if is_cubic {
                libm::log(rtt / cubic_epoch_s(window))
            } else {
                0.0
            },
            libm::log(mean_rtt_s / MIN_TIMEOUT_S),
            libm::log(rtt / MIN_TIMEOUT_S),
            spread,
            libm::log(epoch_s(link, window, rtt) / packet_time_s),
            libm::log1p(beside),
            link.local_share,
            other.short_rate_bps / link.rate_bps,
            flag(link.paced),
            flag(link.profile == Some(Profile::Linux)),
            flag(is_cubic),
            flag(link.byte_counting),
        ]
    };
    packets.iter().map(|packets| one(*packets)).collect()
}

/// Returns the seconds between two losses of one flow, from its window in packets and its round-trip
/// time in seconds with the queue full.
fn epoch_s(link: &Link, window: f64, rtt: f64) -> f64 {
    let window = window.max(MIN_WINDOW);
    let growth = if link.byte_counting { 1.0 } else { 2.0 };
    let mut epoch = window / 2.0 * growth * rtt;
    if link.congestion_control == Control::Cubic {
        epoch = epoch.min(cubic_epoch_s(window));
    }
    epoch.max(rtt)
}
