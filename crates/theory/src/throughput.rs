//! Times and losses of TCP windows in closed form.

/// Share of its window that CUBIC gives up on a loss (RFC 9438, section 4.6).
const CUBIC_DECREASE: f64 = 0.3;

/// Growth constant C of CUBIC in packets per cubic second (RFC 9438, section 5).
const CUBIC_GROWTH: f64 = 0.4;

/// Number of round trips between two losses of CUBIC in addition to K: until the loss is noticed, in
/// recovery, and until the window has followed the cubic curve.
const ROUND_TRIPS_BESIDE_K: f64 = 3.0;

/// Round-trip time in units of K above which windows grow no more per round trip, as simulations show.
const LONGEST_SHARE_OF_K: f64 = 0.8;

/// Returns the seconds between two losses of a flow with linear growth, from its window in packets
/// before a loss, its round-trip time in seconds, the share of the window that it gives up on a loss,
/// and the number of round trips in which the window grows by one packet.
pub fn linear_epoch_s(window_packets: f64, rtt_s: f64, given_up: f64, ack_every: u64) -> f64 {
    given_up * window_packets * ack_every as f64 * rtt_s
}

/// Returns the seconds that CUBIC needs to reach the window of its last loss in packets:
/// K = cbrt(W (1 - 0.7) / 0.4) (RFC 9438, equation 2).
pub fn cubic_epoch_s(window_packets: f64) -> f64 {
    libm::cbrt(window_packets * CUBIC_DECREASE / CUBIC_GROWTH)
}

/// Returns the loss rate at which Reno has this window in packets: W = sqrt(3 / 2p).
///
/// CUBIC in its Reno-friendly region has the average window of Reno (RFC 9438, section 4.3, with
/// alpha = 3 (1 - beta) / (1 + beta)).
pub fn reno_friendly_loss_rate(window_packets: f64) -> f64 {
    3.0 / (2.0 * window_packets * window_packets)
}

/// Returns the loss rate of CUBIC flows at a full drop-tail queue, from their growth per round trip.
///
/// W is the number of packets in flight per flow and R the round-trip time in seconds, both with the
/// queue full. This is our own estimate, compared with Linux 6.18 (docs/validation.md). In a
/// round trip a window grows by a share d of itself: during K it grows by 0.3 W (1 + d) / K. So
/// d = 0.3 x (1 + d) with x = R / K. When the queue overflows, each flow loses 1 + d W packets per
/// event, and it sends W (K / R + 3) packets from one event to the next. The estimate lies within 45 %
/// of simulations for windows of 10 to 200 packets and round trips of 0.05 K to K. In d, x counts as
/// 0.8 at most.
pub fn cubic_overflow_loss_rate(window_packets: f64, rtt_s: f64) -> f64 {
    let k = cubic_epoch_s(window_packets);
    let grown = CUBIC_DECREASE * (rtt_s / k).min(LONGEST_SHARE_OF_K);
    let lost = 1.0 + grown / (1.0 - grown) * window_packets;
    lost / (window_packets * (k / rtt_s + ROUND_TRIPS_BESIDE_K))
}

/// Returns the larger of the two estimates of the loss rate of CUBIC flows: that of the Reno-friendly
/// region, and that of the growth of windows before a loss is noticed.
pub fn cubic_loss_rate(window_packets: f64, rtt_s: f64) -> f64 {
    reno_friendly_loss_rate(window_packets).max(cubic_overflow_loss_rate(window_packets, rtt_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 100 packets: K = cbrt(75) = 4.217 s.
    #[test]
    fn epochs_have_the_values_computed_by_hand() {
        assert!((cubic_epoch_s(100.0) - 4.217).abs() < 5e-4);
        assert!((linear_epoch_s(100.0, 0.1, 0.5, 2) - 10.0).abs() < 1e-12);
    }

    /// RFC 9438, table 2, round trips of 10 ms: windows of 12, 38 and 120 at 10^-2, 10^-3 and 10^-4.
    #[test]
    fn cubic_with_short_round_trips_has_the_windows_of_the_reno_friendly_region() {
        for (window, loss) in [(12.0, 1e-2), (38.0, 1e-3), (120.0, 1e-4)] {
            assert!((cubic_loss_rate(window, 0.01) / loss - 1.0).abs() < 0.1);
        }
    }
}
