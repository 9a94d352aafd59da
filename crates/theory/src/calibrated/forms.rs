//! Published forms of idle share, loss and delay, which the fitted table corrects.

use crate::control::Control;
use crate::link::Link;
use crate::rules::window::sqrt_n::bound_argument;
use crate::throughput::cubic_loss_rate;

/// Value added to an idle share before its logarithm is taken, so that shares far below it are not
/// distinguished.
pub const IDLE_FLOOR: f64 = 5e-4;

/// Value added to a loss before its logarithm is taken, so that losses far below it are not
/// distinguished.
pub const LOSS_FLOOR: f64 = 3e-5;

/// Packets that arrive at once: pairs with delayed ACKs.
const UNPACED_BURST: f64 = 2.0;

/// Packets that arrive at once with pacing: less than one.
const PACED_BURST: f64 = 0.5;

/// Exponent above which an exponential counts as infinite.
const LARGEST_EXPONENT: f64 = 50.0;

/// Idle share of one flow without a buffer.
const IDLE_WITHOUT_BUFFER: f64 = 0.25;

/// Returns the logarithms of the forms with each buffer in packets: idle share, loss, and delay over
/// the time of a full buffer.
pub fn forms(link: &Link, packets: &[f64]) -> Vec<[f64; 3]> {
    let one = |packets: f64| {
        let loss = loss_form(link, packets);
        [
            libm::log(idle_form(link, packets, loss)),
            libm::log(loss),
            0.0,
        ]
    };
    packets.iter().map(|packets| one(*packets)).collect()
}

/// Returns the seconds to send each full buffer and the packet in transmission.
pub fn full_delay_s(link: &Link, packets: &[f64]) -> Vec<f64> {
    let time = link.packet_time_s();
    packets
        .iter()
        .map(|packets| (packets + 1.0) * time)
        .collect()
}

/// Returns the idle share of the link, from saw-teeth of N windows out of step and from bursts.
///
/// The first part is a quarter of the complement of Appenzeller's bound on the utilisation of 2004,
/// erf((3 sqrt 3 / 2 sqrt 2) B sqrt(N) / (C T + B)): one flow without a buffer leaves a
/// quarter idle. The second part is a queue that bursts of b packets move up and down and that the
/// loss p pushes up: p / (exp(2 p B / b) - 1), a Brownian motion between two barriers (Harrison 1985).
/// Without loss it is b/2B.
fn idle_form(link: &Link, packets: f64, loss: f64) -> f64 {
    let swing = IDLE_WITHOUT_BUFFER * libm::erfc(bound_argument(link, packets));
    let burst = if link.paced {
        PACED_BURST
    } else {
        UNPACED_BURST
    };
    let steps = 2.0 * (packets + 1.0) / burst;
    let bursts = loss / libm::expm1((loss * steps).min(LARGEST_EXPONENT));
    (swing + bursts).min(1.0) + IDLE_FLOOR
}

/// Returns the loss rate: the square-root law, or CUBIC's estimates; bounded for small windows.
///
/// (18) of Dhamdhere, Jiang and Dovrolis is p = 0.75 / W^2, twice that if windows grow by bytes. For
/// CUBIC it is the larger of the two estimates of [`crate::throughput`].
fn loss_form(link: &Link, packets: f64) -> f64 {
    let window = (link.local_bdp_packets() + packets) / link.flows as f64;
    let lost = if link.congestion_control == Control::Cubic {
        cubic_loss_rate(window, link.mean_rtt_s() + link.seconds(packets))
    } else {
        (if link.byte_counting { 1.5 } else { 0.75 }) / (window * window)
    };
    lost / (1.0 + 2.0 * lost) + LOSS_FLOOR
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of half a packet leave a queue of 100,001 packets idle for 0.5 / 2B of the time.
    #[test]
    fn many_flows_without_loss_leave_a_long_queue_idle_for_bursts_alone() {
        let mut link = Link::new(1e9, vec![0.1], 1_000);
        link.paced = true;
        let idle = idle_form(&link, 1e5, 1e-12) - IDLE_FLOOR;
        assert!((idle * 2.0 * 100_001.0 / 0.5 - 1.0).abs() < 1e-3);
    }

    /// A window of 100 packets that grows by half a packet per round trip: 0.75 / 10^4.
    #[test]
    fn the_loss_of_reno_is_the_square_root_law() {
        let mut link = Link::new(12_000.0 * 500.0, vec![0.1], 1);
        link.congestion_control = Control::Reno;
        link.byte_counting = false;
        let lost = loss_form(&link, 50.0) - LOSS_FLOOR;
        assert!((lost / 0.75e-4 - 1.0).abs() < 1e-3);
    }
}
