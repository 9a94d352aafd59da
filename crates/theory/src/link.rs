//! Description of the link to be sized, in the terms of the theory.

use crate::control::{Control, control_words};

/// Usual number of even steps in a range of round-trip times: the number of sources of Dhamdhere, Jiang and
/// Dovrolis (INFOCOM 2005).
pub const RTT_STEPS: usize = 18;

/// Value of alpha of Dhamdhere et al. (17) that is assumed if it was not measured.
const USUAL_SYNCHRONIZATION: f64 = 0.55;

/// TCP profile of the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Hosts as Linux sets them up.
    Linux,
    /// Hosts as the RFCs recommend them.
    Rfc,
}

/// A link, its long flows, and its bounds. A packet is an IP packet of `packet_bytes`.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Capacity C in bits per second.
    pub rate_bps: f64,
    /// Base round-trip times in seconds, each for the same number of flows. Empty only without flows.
    pub rtts_s: Vec<f64>,
    /// Number of long flows that this link limits (locally bottlenecked).
    pub flows: u64,
    /// Size of a full packet M in bytes.
    pub packet_bytes: u64,
    /// Link-layer bytes around each packet, which use the link's time and the buffer's space too.
    pub framing_bytes: u64,
    /// Share of the capacity that the long flows have.
    pub local_share: f64,
    /// Congestion control of the flows; the one with the largest share if there are several.
    pub congestion_control: Control,
    /// Congestion controls with their shares of the long flows, if there are several.
    pub controls: Vec<(Control, f64)>,
    /// TCP profile of the hosts; None if a scenario sets it.
    pub profile: Option<Profile>,
    /// Smallest share of the time in which the link must be busy.
    pub min_utilization: f64,
    /// Largest share of packets lost, if bounded.
    pub max_loss_rate: Option<f64>,
    /// Largest queueing delay in seconds, if bounded.
    pub max_delay_s: Option<f64>,
    /// Receiver's window in packets, if it is known to limit flows.
    pub max_window_packets: Option<f64>,
    /// Sum of the capacities that feed the link in bits per second, if known.
    pub input_rate_bps: Option<f64>,
    /// Rate of one flow's access link in bits per second, if known.
    pub access_rate_bps: Option<f64>,
    /// True if senders space their packets over the round trip.
    pub paced: bool,
    /// Loss-burst length over the number of flows, alpha of Dhamdhere et al. (17).
    pub synchronization: f64,
    /// True if windows grow by the bytes acknowledged (RFC 3465, Linux), false if they grow by one
    /// step per ACK.
    pub byte_counting: bool,
    /// Effective round-trip time in seconds, if it was measured; else the harmonic mean counts.
    pub effective_rtt_s: Option<f64>,
    /// Segments per ACK of a receiver: 2 with delayed ACKs.
    pub ack_every: u64,
    /// Buffer of the device today in packets, if known.
    pub configured_packets: Option<u64>,
}

impl Link {
    /// Returns a link with CUBIC flows of Linux and the usual bound on utilisation.
    pub fn new(rate_bps: f64, rtts_s: Vec<f64>, flows: u64) -> Self {
        Self {
            rate_bps,
            rtts_s,
            flows,
            packet_bytes: 1_500,
            framing_bytes: 0,
            local_share: 1.0,
            congestion_control: Control::Cubic,
            controls: Vec::new(),
            profile: Some(Profile::Linux),
            min_utilization: 0.98,
            max_loss_rate: None,
            max_delay_s: None,
            max_window_packets: None,
            input_rate_bps: None,
            access_rate_bps: None,
            paced: false,
            synchronization: USUAL_SYNCHRONIZATION,
            byte_counting: true,
            effective_rtt_s: None,
            ack_every: 2,
            configured_packets: None,
        }
    }

    /// Bytes of a full packet on the link: the packet and its framing.
    pub fn frame_bytes(&self) -> u64 {
        self.packet_bytes + self.framing_bytes
    }

    /// Transmission time of a full packet in seconds.
    pub fn packet_time_s(&self) -> f64 {
        8.0 * self.frame_bytes() as f64 / self.rate_bps
    }

    /// Transmission time of a number of packets in seconds.
    pub fn seconds(&self, packets: f64) -> f64 {
        packets * self.packet_time_s()
    }

    /// Mean base round-trip time in seconds, the T of a bandwidth-delay product; 0 if there is none.
    pub fn mean_rtt_s(&self) -> f64 {
        sum(self.rtts_s.iter().copied()) / (self.rtts_s.len().max(1) as f64)
    }

    /// Effective round-trip time `T_e` in seconds of Dhamdhere et al. (12): the harmonic mean, unless
    /// it was measured. Flows with a short round trip have the larger share of the capacity, in
    /// proportion to 1/T. NaN without any round-trip time.
    pub fn harmonic_rtt_s(&self) -> f64 {
        self.effective_rtt_s.unwrap_or_else(|| {
            self.rtts_s.len() as f64 / sum(self.rtts_s.iter().map(|rtt| 1.0 / rtt))
        })
    }

    /// Longest base round-trip time in seconds.
    pub fn longest_rtt_s(&self) -> f64 {
        self.rtts_s.iter().copied().fold(0.0, f64::max)
    }

    /// Shortest base round-trip time in seconds.
    pub fn shortest_rtt_s(&self) -> f64 {
        self.rtts_s.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// True if flows have different round-trip times.
    pub fn has_different_rtts(&self) -> bool {
        self.longest_rtt_s() > self.shortest_rtt_s()
    }

    /// True if a Reno window grows by one packet per round trip, false if by half a packet. It grows
    /// by one packet if the bytes acknowledged count (RFC 3465), or if each segment is acknowledged.
    pub fn grows_fast(&self) -> bool {
        self.byte_counting || self.ack_every == 1
    }

    /// Product of rate and mean base round-trip time, in packets.
    pub fn bdp_packets(&self) -> f64 {
        self.mean_rtt_s() / self.packet_time_s()
    }

    /// Effective capacity `C_e` in bits per second: the rate of the locally bottlenecked flows.
    pub fn local_rate_bps(&self) -> f64 {
        self.local_share * self.rate_bps
    }

    /// Product of `C_e` and `T_e`, in packets.
    pub fn local_bdp_packets(&self) -> f64 {
        self.local_rate_bps() * self.harmonic_rtt_s() / (8.0 * self.frame_bytes() as f64)
    }

    /// Packets in flight per flow when the link is full and its queue empty.
    pub fn window_packets(&self) -> f64 {
        let bits = 8.0 * self.frame_bytes() as f64 * self.flows as f64;
        self.local_rate_bps() * self.mean_rtt_s() / bits
    }

    /// All congestion controls with their shares of the long flows, one or several.
    pub fn shares(&self) -> Vec<(Control, f64)> {
        if self.controls.is_empty() {
            vec![(self.congestion_control, 1.0)]
        } else {
            self.controls.clone()
        }
    }

    /// True if the long flows have several congestion controls.
    pub fn is_mixed(&self) -> bool {
        !self.controls.is_empty()
    }

    /// Share of its window that a sender keeps after a loss; None without a fixed share. It is the
    /// smallest share of a mix.
    pub fn decrease(&self) -> Option<f64> {
        let kept = self
            .shares()
            .into_iter()
            .map(|(control, _)| control.decrease());
        kept.reduce(|least, one| Some(least?.min(one?))).flatten()
    }

    /// Congestion controls in the form in which they can be typed, such as `cubic:70%,bbr3:30%`.
    pub fn control_words(&self) -> String {
        control_words(&self.shares())
    }

    /// True if all long flows space their packets over the round trip.
    pub fn paces(&self) -> bool {
        self.paced || self.shares().iter().all(|(control, _)| control.paces())
    }

    /// True if some long flows need a queue that marks packets.
    pub fn needs_marks(&self) -> bool {
        self.shares()
            .iter()
            .any(|(control, _)| control.needs_marks())
    }

    /// Returns the first control whose window is no saw-tooth; None if there is none.
    pub fn no_saw_tooth(&self) -> Option<Control> {
        let mut controls = self.shares().into_iter().map(|(control, _)| control);
        controls.find(|control| control.decrease().is_none())
    }
}

/// Returns evenly spaced round-trip times in seconds with both ends; one if both ends are the same.
pub fn rtt_range(first_s: f64, last_s: f64, steps: usize) -> Vec<f64> {
    if first_s.to_bits() == last_s.to_bits() {
        return vec![first_s];
    }
    let step = |step: usize| first_s + (last_s - first_s) * step as f64 / (steps - 1) as f64;
    (0..steps).map(step).collect()
}

/// Returns a sum with the error of its additions added at the end (Neumaier 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut missed) = (0.0_f64, 0.0);
    for value in values {
        let next = total + value;
        missed += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    total + missed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, error: f64) {
        assert!(
            (found - expected).abs() <= error,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn the_common_example_has_the_printed_bandwidth_delay_product() {
        let link = Link::new(100e6, vec![0.08], 1);
        near(link.bdp_packets(), 666.7, 0.05);
        near(link.seconds(666.67), 0.080, 1e-5);
    }

    /// Round trips of T/N to T in N steps have a harmonic mean of about T / (ln N + 1): T/7.9 for
    /// 1,000.
    #[test]
    fn the_effective_round_trip_is_the_harmonic_mean() {
        let steps = (1..=1_000).map(|step| f64::from(step) / 1e3).collect();
        near(
            Link::new(1e8, steps, 1).harmonic_rtt_s(),
            1.0 / 7.9,
            0.06 / 7.9,
        );
        near(
            Link::new(1e8, vec![0.02, 0.06], 1).harmonic_rtt_s(),
            0.03,
            1e-12,
        );
    }

    #[test]
    fn a_range_of_round_trips_has_eighteen_even_steps_with_both_ends() {
        let steps = rtt_range(0.020, 0.534, RTT_STEPS);
        assert_eq!(steps.len(), 18);
        near(steps[0], 0.020, 0.0);
        near(steps[17], 0.534, 0.0);
        assert_eq!(rtt_range(0.02, 0.02, RTT_STEPS), [0.02]);
    }

    #[test]
    fn a_mix_is_written_as_it_can_be_typed_and_keeps_the_least_share() {
        let mut link = Link::new(1e8, vec![0.05], 10);
        link.controls = vec![(Control::Cubic, 0.55), (Control::Reno, 0.45)];
        assert_eq!(link.control_words(), "cubic:55%,reno:45%");
        assert_eq!(link.decrease(), Some(0.5));
        link.controls[1].0 = Control::Prague;
        assert_eq!(link.decrease(), None);
        assert_eq!(link.no_saw_tooth(), Some(Control::Prague));
        assert!(link.needs_marks() && !link.paces());
    }
}
