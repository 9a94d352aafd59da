//! Loss of flows that fill a link and its buffer, by formula.

use crate::control::Control;
use crate::format::percent;
use crate::link::Link;
use crate::throughput::cubic_loss_rate;

/// sqrt(3/4), the factor of the square-root law R = 0.87 M / (T sqrt p) with an ACK for two segments
/// (equation (2) of Dhamdhere, Jiang and Dovrolis, INFOCOM 2005).
pub const DELAYED_ACK: f64 = 0.87;

/// Loss rate above which equation (18) of Dhamdhere et al. does not apply (2 % to 5 %), because
/// timeouts dominate.
const MAX_LOSS: f64 = 0.05;

/// Returns the loss of N flows that fill link and buffer, at most 1: the largest of the controls of a
/// mix.
///
/// For Reno with delayed ACKs it is equation (18) of Dhamdhere et al., p = (0.87 N / (`C_e T_e` +
/// B))^2. For CUBIC it is the larger of two estimates: that of the Reno-friendly region, and that of
/// the growth of windows before a loss is noticed. The second increases with the round-trip time, and
/// so with the buffer.
pub fn loss_rate(link: &Link, packets: f64) -> f64 {
    let window = (link.local_bdp_packets() + packets) / link.flows as f64;
    let lost = link.shares().into_iter().map(|(control, _)| match control {
        Control::Cubic => cubic_loss_rate(window, link.mean_rtt_s() + link.seconds(packets)),
        _ => (DELAYED_ACK / window) * (DELAYED_ACK / window),
    });
    lost.fold(0.0, f64::max).min(1.0)
}

/// Returns a phrase on the loss of N flows by formula; it has no figure if there is none.
pub fn loss_words(link: &Link, packets: f64) -> String {
    let lost = loss_rate(link, packets);
    if link.congestion_control != Control::Cubic && lost > MAX_LOSS {
        return format!(
            "more than {:.0} %, beyond the range of equation (18),",
            100.0 * MAX_LOSS
        );
    }
    format!("about {}", percent(lost, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C T is 425 packets for 40 flows, and the buffer holds 1,745.
    #[test]
    fn the_loss_of_reno_is_equation_18() {
        let mut link = Link::new(17e6, vec![0.1], 40);
        link.congestion_control = Control::Reno;
        let expected = 0.87 * 40.0 / (1_745.0 + 425.0 / 3.0);
        assert!((loss_rate(&link, 1_745.0) / (expected * expected) - 1.0).abs() < 1e-9);
        link.controls = vec![(Control::Reno, 0.5), (Control::Cubic, 0.5)];
        let mixed = loss_rate(&link, 1_745.0);
        link.controls = Vec::new();
        link.congestion_control = Control::Cubic;
        assert!((loss_rate(&link, 1_745.0) - mixed).abs() < 1e-15);
    }
}
