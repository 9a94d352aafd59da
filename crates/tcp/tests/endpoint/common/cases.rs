//! Random connections over random networks, with every profile, recovery and congestion control.

use goodqueue_tcp::{
    AccEcnReports, AckRule, CongestionControlConfig, EcnMode, Profile, Recovery, SlowStart,
    TcpConfig,
};
use goodqueue_types::parameters::vary;
use goodqueue_types::{RandomStream, Rate, Segment, Span};
use proptest::prelude::*;

use super::{Hop, Network};

#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct Case {
    pub profile: Profile,
    pub recovery: Recovery,
    pub control: CongestionControlConfig,
    pub slow_start: SlowStart,
    pub pacing: bool,
    /// True if the sender keeps records even if the profile does not.
    pub records: bool,
    pub seed: u64,
    /// Probabilities that a segment is lost, that it is delivered twice, and that it is late.
    pub loss: f64,
    pub duplication: f64,
    pub reordering: f64,
    pub bytes: [u64; 2],
    pub mss: u32,
    pub receive_window: u64,
    pub nagle: bool,
    pub ack_every: u32,
    pub queue: usize,
    pub ecn: EcnMode,
    /// Probability that an ECN-capable packet is marked.
    pub marking: f64,
    pub ack_rule: AckRule,
    pub dsack: bool,
    /// Initial share of the receive buffer under right-sizing, if that is on.
    pub moderation: Option<u64>,
    /// Rate at which the window opens in segments per second, if it is limited.
    pub pace: Option<u64>,
    /// Time until which host 1 leaves data in its buffer, in milliseconds.
    pub pause: u64,
}

/// Returns every control with random parameters.
pub fn controls() -> impl Strategy<Value = CongestionControlConfig> {
    let words = proptest::sample::select(CongestionControlConfig::NAMES);
    (words, any::<u64>()).prop_map(|(word, seed)| {
        let mut control = CongestionControlConfig::defaults(word);
        vary(
            &mut control,
            &mut RandomStream::new(seed, "control", 0),
            |_| true,
        );
        control
    })
}

fn slow_starts() -> impl Strategy<Value = SlowStart> {
    proptest::sample::select(vec![
        SlowStart::Auto,
        SlowStart::Classic,
        SlowStart::HyStart,
        SlowStart::HyStartPaced,
        SlowStart::HyStartPlusPlus,
    ])
}

pub fn cases() -> impl Strategy<Value = Case> {
    let profile = prop_oneof![
        Just(Profile::Rfc),
        Just(Profile::Inet2011),
        Just(Profile::Ns2),
        Just(Profile::Linux),
        Just(Profile::Linux)
    ];
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack)
    ];
    let faults = (0.0..0.3f64, 0.0..0.2f64, 0.0..0.3f64);
    let sizes = (
        (0..60_000u64),
        (0..60_000u64),
        (1..1500u32),
        (1..100_000u64),
    );
    let rest = (
        any::<bool>(),
        1..4u32,
        1..40usize,
        prop_oneof![Just(0), 1..20_000u64],
        prop_oneof![
            Just(EcnMode::Off),
            Just(EcnMode::Rfc3168),
            Just(EcnMode::Dctcp),
            Just(EcnMode::AccEcn)
        ],
        0.0..1.0f64,
    );
    let receiving = (
        prop_oneof![Just(AckRule::EveryNth), Just(AckRule::Linux)],
        any::<bool>(),
        prop_oneof![Just(None), (1..20u64).prop_map(Some)],
        prop_oneof![2 => Just(None), 1 => (20..2000u64).prop_map(Some)],
    );
    let control = (controls(), slow_starts(), any::<bool>(), any::<bool>());
    (
        profile,
        (recovery, control),
        any::<u64>(),
        faults,
        sizes,
        rest,
        receiving,
    )
        .prop_map(
            |(profile, (recovery, control), seed, faults, sizes, rest, receiving)| Case {
                profile,
                recovery,
                control: control.0,
                slow_start: control.1,
                pacing: control.2,
                records: control.3,
                seed,
                loss: faults.0,
                duplication: faults.1,
                reordering: faults.2,
                bytes: [sizes.0, sizes.1].map(|bytes| bytes.min(u64::from(sizes.2) * 300)),
                mss: sizes.2,
                // With windows much smaller than a segment, each byte would take a round trip.
                receive_window: sizes.3.max(u64::from(sizes.2) / 4),
                nagle: rest.0,
                ack_every: rest.1,
                queue: rest.2,
                pause: rest.3,
                ack_rule: receiving.0,
                dsack: receiving.1,
                moderation: receiving.2,
                pace: receiving.3,
                ecn: rest.4,
                marking: rest.5,
            },
        )
}

pub fn network(case: &Case) -> Network {
    let mut config = TcpConfig::profile(case.profile);
    config.recovery = case.recovery;
    config.congestion_control = case.control.clone();
    config.slow_start = case.slow_start;
    config.pacing |= case.pacing;
    config.records |= case.records;
    config.mss = case.mss;
    config.receive_window = case.receive_window;
    config.nagle = case.nagle;
    config.ack_every = case.ack_every;
    config.ecn = case.ecn;
    let reports = [
        AccEcnReports::Off,
        AccEcnReports::Minimum,
        AccEcnReports::Full,
    ];
    config.accecn_option = reports[(case.seed % 3) as usize];
    config.ack_rule = case.ack_rule;
    config.dsack = case.dsack;
    config.receive_window_moderation = case.moderation.map(|share| {
        (case.receive_window / share)
            .max(u64::from(case.mss) / 4)
            .max(1)
    });
    config.receive_window_pace = case
        .pace
        .map(|segments| Rate(8 * segments * u64::from(case.mss)));
    let hop = || vec![Hop::new(5_000_000, Span::from_millis(10), 0).with_limit(case.queue)];
    let mut network = Network::new(&config, hop(), hop());
    let mut random = RandomStream::new(case.seed, "faults", 0);
    let (marking, mut marks) = (case.marking, RandomStream::new(case.seed, "marks", 0));
    network.mark = Box::new(move |_| marks.unit() < marking);
    let (loss, duplication, reordering) = (case.loss, case.duplication, case.reordering);
    network.fate = Box::new(move |_, _, _: &Segment| {
        if random.unit() < loss {
            return vec![];
        }
        let late = if random.unit() < reordering {
            random.span_below(Span::from_millis(30))
        } else {
            Span::ZERO
        };
        if random.unit() < duplication {
            vec![late, random.span_below(Span::from_millis(100))]
        } else {
            vec![late]
        }
    });
    network
}

/// Returns a network without faults, from which earlier failing cases differ.
pub fn plain() -> Case {
    Case {
        profile: Profile::Rfc,
        recovery: Recovery::Tahoe,
        control: CongestionControlConfig::Reno,
        slow_start: SlowStart::Auto,
        pacing: false,
        records: false,
        seed: 0,
        loss: 0.0,
        duplication: 0.0,
        reordering: 0.0,
        bytes: [0, 0],
        mss: 1000,
        receive_window: 100_000,
        nagle: false,
        ack_every: 1,
        queue: 1,
        ecn: EcnMode::Off,
        marking: 0.0,
        ack_rule: AckRule::EveryNth,
        dsack: false,
        moderation: None,
        pace: None,
        pause: 0,
    }
}
