//! Advice of the studies that goodqueue reproduces, as claims with their conditions.

use crate::format::general;
use crate::link::Link;
use crate::rules::{Advice, Bound, Kind, Rule, Trial};

/// Range of frames on the uplink.
const FRAMES: (u64, u64) = (3, 6);

/// Range of bytes on slow links.
const BYTES: (u64, u64) = (5_000, 10_000);

/// Upper end of the range of packets on slow links.
const MAX_PACKETS: f64 = 10.0;

/// 3 to 6 frames; the upper end is given.
fn advise_uplink(link: &Link) -> Advice {
    let (first, last) = FRAMES;
    let fast = (link.rate_bps > 1e6).then(|| "claimed for an uplink of 1 Mb/s".to_owned());
    let several = (link.flows > 1).then(|| "claimed for one bulk flow".to_owned());
    let long = (link.bdp_packets() > last as f64).then(|| {
        format!(
            "the path holds {} packets, more than the whole range",
            general(link.bdp_packets(), 3)
        )
    });
    Advice {
        packets: Some(last as f64),
        broken: [fast, several, long].into_iter().flatten().collect(),
        notes: vec![format!("{first} to {last} frames of 583 B")],
    }
}

/// Returns the conditions of the two ns-2 studies that this link does not meet.
fn slow_links(link: &Link) -> Vec<String> {
    let fast = (link.rate_bps > 0.5e6).then(|| "claimed for links of 0.05 to 0.5 Mb/s".to_owned());
    let many = (link.flows > 3)
        .then(|| "claimed for up to three TCP flows beside a CBR source".to_owned());
    fast.into_iter().chain(many).collect()
}

/// 5 to 10 kB; the upper end is given.
fn advise_kilobytes(link: &Link) -> Advice {
    let packets = |bytes: u64| bytes as f64 / link.packet_bytes as f64;
    let (first, last) = (packets(BYTES.0), packets(BYTES.1));
    Advice {
        packets: Some(last),
        broken: slow_links(link),
        notes: vec![format!(
            "5 kB to 10 kB, {} to {} packets",
            general(first, 3),
            general(last, 3)
        )],
    }
}

/// 5 to 10 packets; the upper end is given.
fn advise_packets(link: &Link) -> Advice {
    Advice {
        packets: Some(MAX_PACKETS),
        broken: slow_links(link),
        notes: vec!["5 to 10 packets of 592 B".to_owned()],
    }
}

/// Source of both claims on slow links.
macro_rules! ns2_studies {
    ($more:literal) => {
        concat!(
            "the 2020 ns-2 study of drop tail and the 2021 ns-2 study of RED, both on lossy low-rate ",
            "bottlenecks",
            $more
        )
    };
}

/// The claim on an uplink.
pub const RULE_UPLINK: Rule = Rule {
    name: "claim_3_6_packets",
    title: "3 to 6 packets",
    equation: "B = 3 to 6",
    source: "Gijsbers and Akkoorath, Performance simulation of buffer bloat in routers, 2011 \
             (OMNeT++/INET): the throughput-latency optimum of table 5",
    assumptions: &["one bulk flow on an uplink of 1 Mb/s with short round trips"],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: advise_uplink,
};

/// The claim on slow links, in bytes.
pub const RULE_KILOBYTES: Rule = Rule {
    name: "claim_5_10_kB",
    title: "5 to 10 kB",
    equation: "B = 5 kB to 10 kB",
    source: ns2_studies!(""),
    assumptions: &["drop tail or RED at 0.05 to 0.5 Mb/s with 1 to 5 % random loss"],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: advise_kilobytes,
};

/// The claim on slow links, in packets.
pub const RULE_PACKETS: Rule = Rule {
    name: "claim_5_10_packets",
    title: "5 to 10 packets",
    equation: "B = 5 to 10",
    source: ns2_studies!("; their buffers of 5 to 10 were simulated as packets"),
    assumptions: &["drop tail or RED at 0.05 to 0.5 Mb/s with 1 to 5 % random loss"],
    kind: Kind::Claim,
    bound: Bound::AtLeast,
    trial: Trial::Classic,
    advise: advise_packets,
};
