//! BSCL: buffer sizing for congested links, by utilisation, loss and delay at once.
//!
//! Equation numbers are those of Dhamdhere, Jiang and Dovrolis, INFOCOM 2005. Its loss and delay
//! formulas count packets, its utilisation formula bytes; here all count packets.

use crate::control::Control;
use crate::format::{general, percent};
use crate::link::Link;
use crate::rules::loss_rate::DELAYED_ACK;
use crate::rules::{Advice, Bound, Kind, Rule, Trial, checks};

/// Number of flows below which losses are not in bursts, and a halved flow is too large a share: B =
/// `C_e T_e`.
pub const MIN_FLOWS: u64 = 5;

/// Loss rate from which on the square-root formula, which ignores timeouts, does not hold (2 to 5 %).
const LARGEST_LOSS: f64 = 0.05;

/// Utilisation that the paper requires of (14) to (16) and has simulated. They keep the link busy
/// after a burst that hits the mean number of flows; a burst that hits more leaves it idle for a while.
const CLAIMED_UTILIZATION: f64 = 0.98;

/// Local share below which the paper's own simulations deviate: figures 5 to 7.
const MIN_LOCAL_SHARE: f64 = 0.8;

/// Parts of the answer, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bscl {
    /// `B_rho`, equation (16), or `C_e T_e` below five flows (11); not clamped.
    pub for_utilization: f64,
    /// `B_p`, equation (22); None without a bound on loss.
    pub for_loss: Option<f64>,
    /// The larger (23), at least one packet.
    pub packets: f64,
    /// C d (24), the largest buffer that the delay bound allows; None without a bound on delay.
    pub most_for_delay: Option<f64>,
}

impl Bscl {
    /// Returns true if the delay bound allows the buffer that utilisation and loss need (25).
    pub fn is_feasible(&self) -> bool {
        self.most_for_delay.is_none_or(|most| self.packets <= most)
    }
}

/// Returns the buffer of a congested link for a mean loss-burst length L in packets, by default alpha N
/// (17).
pub fn bscl(link: &Link, burst_packets: Option<f64>) -> Bscl {
    let for_utilization = if link.flows < MIN_FLOWS {
        globally_synchronized(link)
    } else {
        let burst = burst_packets.unwrap_or(link.synchronization * link.flows as f64);
        partially_synchronized(link, burst)
    };
    let for_loss = link.max_loss_rate.map(|loss| for_loss(link, loss));
    Bscl {
        for_utilization,
        for_loss,
        packets: for_utilization.max(for_loss.unwrap_or(0.0)).max(1.0),
        most_for_delay: link.max_delay_s.map(|delay| delay / link.packet_time_s()),
    }
}

/// Returns `C_e T_e` packets (11), for which every flow loses in every burst.
pub fn globally_synchronized(link: &Link) -> f64 {
    link.local_bdp_packets()
}

/// Returns q, the share of flows that a burst of this number of packets hits (13).
fn share_hit(flows: u64, burst_packets: f64) -> f64 {
    1.0 - libm::pow(1.0 - 1.0 / flows as f64, burst_packets)
}

/// Returns `B_rho` = (q `C_e T_e` - 2 N (1 - q)) / (2 - q) packets (16), negative for many flows.
pub fn partially_synchronized(link: &Link, burst_packets: f64) -> f64 {
    let q = share_hit(link.flows, burst_packets);
    (q * link.local_bdp_packets() - 2.0 * link.flows as f64 * (1.0 - q)) / (2.0 - q)
}

/// Returns `K_p` = 0.87 / sqrt(p) packets: the window at which a flow loses this share of its packets.
fn packets_per_flow(loss_rate: f64) -> f64 {
    DELAYED_ACK / loss_rate.sqrt()
}

/// Returns `B_p = K_p N - C_e T_e` (20)-(22) in packets: the N windows less what the path holds.
pub fn for_loss(link: &Link, loss_rate: f64) -> f64 {
    packets_per_flow(loss_rate) * link.flows as f64 - link.local_bdp_packets()
}

/// Returns the largest number of flows that keep the loss with this buffer, by (18).
fn most_flows(link: &Link, loss_rate: f64, buffer_packets: f64) -> f64 {
    (link.local_bdp_packets() + buffer_packets) / packets_per_flow(loss_rate)
}

/// B = max(`B_rho`, `B_p`), at least one packet.
fn advise(link: &Link) -> Advice {
    let answer = bscl(link, None);
    Advice {
        packets: Some(answer.packets),
        broken: checks::saw_tooth(link, answer.packets)
            .chain(utilization_checks(link, answer.packets))
            .chain(model_checks(link))
            .collect(),
        notes: notes(link, &answer),
    }
}

/// Returns the broken conditions of (16), for five flows or more and partially synchronised losses.
fn utilization_checks(link: &Link, packets: f64) -> impl Iterator<Item = String> + use<> {
    let many = link.flows >= MIN_FLOWS;
    let busier = (many && link.min_utilization > CLAIMED_UTILIZATION).then(|| {
        format!(
            "the requested utilisation is {} %, but the rule covers loss bursts of mean length, and \
             is claimed for {} %",
            general(100.0 * link.min_utilization, 4),
            general(100.0 * CLAIMED_UTILIZATION, 4)
        )
    });
    let bursts = many.then(|| checks::bursts(link, packets)).flatten();
    busier.into_iter().chain(bursts)
}

/// Returns the broken conditions on the traffic and its loss.
fn model_checks(link: &Link) -> impl Iterator<Item = String> + use<> {
    let control = link.congestion_control;
    let remote = (link.local_share < MIN_LOCAL_SHARE).then(|| {
        format!(
            "this link limits only {} of the traffic, and the rule needs at least 80 %",
            percent(link.local_share, 0)
        )
    });
    let lossy = link
        .max_loss_rate
        .is_some_and(|most| most > LARGEST_LOSS)
        .then(|| "above a loss of 5 % timeouts dominate, which the formula ignores".to_owned());
    let fast = (link.grows_fast() && matches!(control, Control::Reno | Control::Abe)).then(|| {
        "windows grow by one packet per round trip, twice as fast as its 0.87 assumes, so about twice \
         as many packets are lost"
            .to_owned()
    });
    let other = matches!(control, Control::Cubic | Control::Scalable).then(|| {
        format!(
            "{} does not follow the square-root law of Reno",
            control.name()
        )
    });
    [remote, lossy, fast, other].into_iter().flatten()
}

/// Returns what decides, both parts of the answer, and what the bounds allow.
fn notes(link: &Link, answer: &Bscl) -> Vec<String> {
    let mut notes = vec![decides(link, answer), parts(link, answer)];
    if let Some(loss) = link.max_loss_rate {
        let room = answer.most_for_delay.unwrap_or(answer.packets);
        let allowed = answer
            .most_for_delay
            .map_or("", |_| ", which the delay allows,");
        notes.push(format!(
            "{} packets{allowed} keep the loss with up to {} flows (18)",
            general(room, 4),
            most_flows(link, loss, room) as u64
        ));
    }
    if let Some(most) = answer.most_for_delay.filter(|_| !answer.is_feasible()) {
        notes.push(format!(
            "not feasible (25): the delay allows {} packets; it would have to be at least {} ms",
            general(most, 4),
            general(link.seconds(answer.packets) * 1e3, 4)
        ));
    }
    notes
}

fn decides(link: &Link, answer: &Bscl) -> String {
    if let Some(for_loss) = answer
        .for_loss
        .filter(|loss| *loss >= answer.for_utilization)
    {
        let words = if for_loss >= 1.0 {
            "loss decides"
        } else {
            "one packet keeps all bounds"
        };
        return words.to_owned();
    }
    if answer.for_utilization < 1.0 {
        return "one packet keeps all bounds, because the saw-teeth of so many flows leave no gap"
            .to_owned();
    }
    let by = if link.flows < MIN_FLOWS {
        "globally"
    } else {
        "partially"
    };
    format!("utilisation decides, losses {by} synchronised")
}

/// Returns `B_rho` and `B_p` in packets.
fn parts(link: &Link, answer: &Bscl) -> String {
    let equation = if link.flows < MIN_FLOWS {
        "(11)"
    } else {
        "(16)"
    };
    let utilization = needed(answer.for_utilization);
    let loss = answer.for_loss.map_or(String::new(), |loss| {
        format!(", B_p = {} for loss (22)", needed(loss))
    });
    format!("B_rho = {utilization} for utilisation {equation}{loss}")
}

/// Returns the value of a formula in words; it asks for no buffer if it is negative.
fn needed(packets: f64) -> String {
    let none = if packets > 0.0 {
        ""
    } else {
        " (no buffer is needed)"
    };
    format!("{} packets{none}", general(packets, 4))
}

/// The rule.
pub const RULE: Rule = Rule {
    name: "bscl",
    title: "BSCL",
    equation: "B = max((q C_e T_e - 2N(1-q)) / (2-q), 0.87 N / sqrt(p) - C_e T_e)",
    source: "Dhamdhere, Jiang and Dovrolis, Buffer sizing for congested Internet links, INFOCOM 2005",
    assumptions: &[
        "at least 80 % of the traffic are long Reno flows that this link limits",
        "delayed ACKs and SACK, loss below 2 % to 5 %, few timeouts",
        "drop tail; at least five flows (below, C_e T_e)",
    ],
    kind: Kind::Rule,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 Mb/s of which 90 % are local, and `T_e` = 60 ms: `C_e T_e` is 225 packets.
    fn congested(flows: u64) -> Link {
        Link {
            local_share: 0.9,
            max_loss_rate: Some(0.01),
            ..Link::new(50e6, vec![0.06], flows)
        }
    }

    fn near(found: f64, expected: f64, error: f64) {
        assert!(
            (found - expected).abs() <= error,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn buffers_are_those_of_the_worked_example() {
        for (flows, packets) in [(5, 63.4), (20, 47.3), (30, 39.5), (50, 210.0), (100, 645.0)] {
            near(bscl(&congested(flows), None).packets, packets, 0.06);
        }
    }

    #[test]
    fn each_equation_has_the_value_computed_by_hand() {
        near(packets_per_flow(0.01), 8.7, 1e-9);
        near(packets_per_flow(0.02), 6.15, 0.005);
        near(share_hit(5, 2.75), 0.459, 6e-4);
        near(share_hit(30, 16.5), 0.428, 6e-4);
        near(share_hit(1, 0.55), 1.0, 0.0);
        near(for_loss(&congested(5), 0.01), -181.5, 0.01);
        near(for_loss(&congested(30), 0.01), 36.0, 0.01);
        near(partially_synchronized(&congested(100), 55.0), -12.0, 0.5);
        // q tends to 1 - exp(-alpha), and B_rho + 2N(1-q)/(2-q) to a share of C_e T_e.
        for (alpha, share) in [
            (0.55, 0.268),
            (0.4, 0.197),
            (0.6, 0.291),
            (0.7, 0.336),
            (1.0, 0.462),
        ] {
            let q = share_hit(10_000_000, alpha * 1e7);
            near(q / (2.0 - q), share, 6e-4);
        }
        // The inverse of (18): 25.9 flows keep 1 % without a buffer, 50 with 210 packets.
        near(most_flows(&congested(1), 0.01, 0.0), 25.86, 0.01);
        near(most_flows(&congested(1), 0.01, 210.0), 50.0, 0.01);
    }

    /// Row 20 of table 1 would need round trips of 15.7 ms, but the shortest of the topology are 20 ms.
    #[test]
    fn table_1_does_not_follow_from_the_printed_formula() {
        let needed = (packets_per_flow(0.01) * 20.0 - 115.0) * 12_000.0 / 45e6;
        near(needed, 0.0157, 2e-4);
    }

    #[test]
    fn the_buffer_falls_to_where_loss_takes_over_and_rises_from_there() {
        for (effective_rtt, fewest) in [(0.034, 17), (0.060, 30)] {
            let size = |flows: u64| {
                let mut link = congested(flows);
                link.rtts_s = vec![effective_rtt];
                bscl(&link, None).packets
            };
            let least = (5..=400).min_by(|one, other| size(*one).total_cmp(&size(*other)));
            assert_eq!(least, Some(fewest));
            near(size(400) - size(399), 8.7, 1e-6);
        }
    }

    #[test]
    fn few_flows_need_the_full_product_and_every_link_at_least_one_packet() {
        near(bscl(&congested(4), None).packets, 225.0, 1e-9);
        let mut many = congested(100);
        many.max_loss_rate = None;
        assert!(bscl(&many, None).for_utilization < 0.0);
        near(bscl(&many, None).packets, 1.0, 0.0);
    }

    #[test]
    fn the_answer_states_if_the_bound_on_delay_allows_the_buffer() {
        let mut link = congested(50);
        link.max_delay_s = Some(0.0504);
        near(bscl(&link, None).most_for_delay.unwrap(), 210.0, 1e-9);
        assert!(bscl(&link, None).is_feasible());
        link.max_delay_s = Some(0.050);
        assert!(!bscl(&link, None).is_feasible());
        assert!(advise(&link).notes.iter().any(|note| note.contains("50.4")));
    }

    /// (22): 8.7 x 50 - 225 = 210 packets. (18): they keep 1 % with (225 + 210) / 8.7 = 50 flows.
    #[test]
    fn the_notes_state_what_decides_and_both_parts() {
        let notes = advise(&congested(50)).notes;
        assert_eq!(notes[0], "loss decides");
        assert!(notes[1].contains("B_p = 210 packets for loss (22)"));
        assert!(notes[1].contains("for utilisation (16)"));
        assert_eq!(
            notes[2],
            "210 packets keep the loss with up to 50 flows (18)"
        );
        let mut few = congested(4);
        few.max_loss_rate = None;
        assert_eq!(
            advise(&few).notes[1],
            "B_rho = 225 packets for utilisation (11)"
        );
    }
}
