//! Recovery without records of segments is a fast path. It sends the same packets at the same times
//! as recovery with records, wherever the RFCs leave no difference. MODEL.md lists the differences.

use std::sync::Arc;

use crate::common::{Hop, Network, Sent};
use goodqueue_tcp::cc::{AckSample, CongestionControl, CongestionEvent};
use goodqueue_tcp::{AckRule, DecreaseBasis, Recovery, RecoveryExit, TcpConfig, TcpEndpoint};
use goodqueue_types::{RandomStream, Segment, SegmentFlags, Span, Time};
use proptest::prelude::*;

/// Least window after a loss, in segments, so that enough duplicate ACKs follow every loss.
const MIN_WINDOW: u64 = 16;

/// A control that halves its window at each loss and never grows, so that recovery alone decides
/// what leaves. The accounting of growth belongs to the control's contract (`one_recovery.rs`).
#[derive(Debug)]
struct Halving {
    window: f64,
    ssthresh: u64,
    mss: u64,
}

impl Halving {
    /// Sets ssthresh to whole segments, because records count segments.
    fn halve(&mut self, event: &CongestionEvent) {
        let segments = (event.basis / 2.0) as u64 / self.mss;
        self.ssthresh = segments.max(MIN_WINDOW) * self.mss;
    }
}

impl CongestionControl for Halving {
    fn on_ack(&mut self, _sample: &AckSample) {}
    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.halve(event);
        self.window = self.ssthresh as f64;
    }
    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        if let Some(event) = event {
            self.halve(event);
        }
        self.window = self.mss as f64;
    }
    fn window(&self) -> f64 {
        self.window
    }
    fn set_window(&mut self, bytes: f64) {
        self.window = bytes;
    }
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
    fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes;
    }
}

/// A transfer over a path with losses. `lost` has the runs of segments whose first transmission is
/// lost, as ranges of their numbers.
#[derive(Clone, Debug)]
struct Case {
    config: TcpConfig,
    window: u64,
    segments: u64,
    bits_per_second: u64,
    delay: Span,
    lost: Vec<(u64, u64)>,
    ack_loss: f64,
    seed: u64,
}

/// Switches under which both must agree: losses are detected by duplicate ACKs or SACKed data, and
/// the window after recovery is ssthresh.
fn configs() -> impl Strategy<Value = TcpConfig> {
    let recovery = prop_oneof![Just(Recovery::Sack), Just(Recovery::NewReno)];
    let rules = prop_oneof![Just(AckRule::EveryNth), Just(AckRule::Linux)];
    let bases = prop_oneof![
        Just(DecreaseBasis::FlightSize),
        Just(DecreaseBasis::CongestionWindow)
    ];
    let flags = any::<[bool; 5]>();
    (
        recovery,
        rules,
        bases,
        flags,
        100..2000u32,
        1..4u32,
        2..7u32,
    )
        .prop_map(
            |(recovery, rule, basis, flags, mss, ack_every, threshold)| {
                let mut config = TcpConfig {
                    recovery,
                    mss,
                    ack_every,
                    ack_rule: rule,
                    duplicate_ack_threshold: threshold,
                    receive_window: 1 << 28,
                    dsack: flags[0],
                    nagle: flags[1],
                    byte_counting: flags[2],
                    limited_transmit: flags[3],
                    timestamps: flags[4].then_some(Span::from_millis(1)),
                    ..TcpConfig::default()
                };
                config.details.decrease_basis = basis;
                config.details.recovery_exit = RecoveryExit::Ssthresh;
                config
            },
        )
}

/// Losses lie three windows apart, so that each recovery has ended before the next loss. The path is
/// shorter than the window. Its round trips are short enough for the timeout to be its minimum,
/// however they are sampled.
fn cases() -> impl Strategy<Value = Case> {
    let path = (
        12..60u64,
        3..40u64,
        20_000_000..100_000_000u64,
        prop_oneof![Just(0.0), 0.0..0.2f64],
    );
    let losses = (
        any::<prop::sample::Index>(),
        prop::collection::vec((1..7u64, any::<prop::sample::Index>()), 0..4),
    );
    (configs(), path, losses, any::<u64>()).prop_map(|(mut config, path, losses, seed)| {
        let (pipe, queue, bits_per_second, mut ack_loss) = path;
        let window = 2 * pipe + queue;
        let mut next = losses.0.index(2 * window as usize) as u64;
        let mut lost = Vec::new();
        for (len, gap) in losses.1 {
            lost.push((next, next + len));
            // NewReno repairs one segment of a run in each round trip.
            let rounds = match config.recovery {
                Recovery::NewReno => len + 3,
                _ => 4,
            };
            next += rounds * window + gap.index(window as usize) as u64;
        }
        if config.recovery == Recovery::NewReno {
            // Without SACK the sender counts arrivals by duplicate ACKs. A lost one would lower
            // the count, so no ACK is lost here.
            ack_loss = 0.0;
        }
        let acks_each = config.ack_every == 1 && config.ack_rule == AckRule::EveryNth;
        if ack_loss > 0.0 || !acks_each {
            // An ACK that moves the window and reports SACKed data lets two segments leave. Without
            // records both count as limited transmit.
            config.details.decrease_basis = DecreaseBasis::CongestionWindow;
        }
        let frame = u64::from(config.mss) + 100;
        Case {
            window,
            segments: next + 4 * window,
            bits_per_second,
            delay: Span::from_micros(pipe * frame * 8_000_000 / bits_per_second),
            lost,
            ack_loss,
            seed,
            config,
        }
    })
}

/// Runs the transfer and returns every segment of both ends with its time.
fn log(case: &Case, records: bool) -> Vec<Sent> {
    let mut config = case.config.clone();
    config.records = records;
    let hop = || vec![Hop::new(case.bits_per_second, case.delay, 0)];
    let mut network = Network::new(&config, hop(), hop());
    let mss = u64::from(config.mss);
    let control = Box::new(Halving {
        window: (case.window * mss) as f64,
        ssthresh: u64::MAX,
        mss,
    });
    network.hosts[0] = TcpEndpoint::with_congestion_control(Arc::new(config), control);
    let (lost, ack_loss, mut highest) = (case.lost.clone(), case.ack_loss, 0);
    let mut random = RandomStream::new(case.seed, "acks", 0);
    network.fate = Box::new(move |from, _, segment: &Segment| {
        let is_new = from == 0 && segment.payload > 0 && segment.seq >= highest;
        let number = segment.seq.saturating_sub(1) / mss;
        if is_new {
            highest = segment.end_seq();
        }
        let data_lost = is_new && lost.iter().any(|run| (run.0..run.1).contains(&number));
        let is_ack = from == 1 && !segment.flags.contains(SegmentFlags::SYN);
        if data_lost || (is_ack && random.unit() < ack_loss) {
            return vec![];
        }
        vec![Span::ZERO]
    });
    network.hosts[0].connect(Time::ZERO);
    network.hosts[0].write(case.segments * mss);
    network.hosts[0].close();
    network.hosts[1].close();
    network.run_until(Time::ZERO + Span::from_secs(10_000));
    network.log
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_recoveries_send_the_same_packets(case in cases()) {
        let (plain, recorded) = (log(&case, false), log(&case, true));
        for (index, (plain, recorded)) in plain.iter().zip(&recorded).enumerate() {
            prop_assert_eq!(plain, recorded, "packet {}", index);
        }
        prop_assert_eq!(plain.len(), recorded.len());
    }
}

/// The losses of the cases are repaired by fast retransmits, so the comparison is not empty.
#[test]
fn lost_segments_are_sent_again_at_once() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let case = Case {
            config: TcpConfig {
                recovery,
                mss: 1000,
                ..TcpConfig::default()
            },
            window: 40,
            segments: 400,
            bits_per_second: 50_000_000,
            delay: Span::from_millis(3),
            lost: vec![(100, 101)],
            ack_loss: 0.0,
            seed: 0,
        };
        for records in [false, true] {
            let sent = log(&case, records);
            let data: Vec<&Sent> = sent.iter().filter(|sent| sent.from == 0).collect();
            let of_lost: Vec<Time> = data
                .iter()
                .filter(|sent| sent.segment.seq == 100_001)
                .map(|sent| sent.time)
                .collect();
            assert_eq!(of_lost.len(), 2, "{recovery:?}, records: {records}");
            // The loss is known a round trip later, with the third duplicate ACK.
            assert!(of_lost[1] - of_lost[0] < Span::from_millis(20));
        }
    }
}
