//! The profile alone decides how losses are repaired. A congestion control that asks for more
//! measurements gets them, and the same packets leave at the same times.

use std::sync::{Arc, Mutex};

use crate::common::cases::{Case, cases, network};
use crate::common::{Sent, simple};
use goodqueue_tcp::cc::{
    AckSample, CongestionControl, CongestionEvent, LostSegment, MarkSample, Needs, built_in,
};
use goodqueue_tcp::{ENDLESS, LossDetection, Profile, TcpConfig, TcpEndpoint};
use goodqueue_types::{Rate, Span, Time};
use proptest::prelude::*;

/// A control that behaves as the one inside and asks for every measurement.
#[derive(Debug)]
struct Asking(Box<dyn CongestionControl + Send>);

impl CongestionControl for Asking {
    fn on_ack(&mut self, sample: &AckSample) {
        self.0.on_ack(sample);
    }
    fn on_congestion_event(&mut self, event: &CongestionEvent) {
        self.0.on_congestion_event(event);
    }
    fn on_retransmission_timeout(&mut self, event: Option<&CongestionEvent>) {
        self.0.on_retransmission_timeout(event);
    }
    fn window(&self) -> f64 {
        self.0.window()
    }
    fn set_window(&mut self, bytes: f64) {
        self.0.set_window(bytes);
    }
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh()
    }
    fn set_ssthresh(&mut self, bytes: u64) {
        self.0.set_ssthresh(bytes);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.0.pacing_rate()
    }
    fn least_burst(&self) -> u32 {
        self.0.least_burst()
    }
    fn burst(&self) -> Option<u32> {
        self.0.burst()
    }
    fn on_feedback(&mut self, counts_marks: bool) {
        self.0.on_feedback(counts_marks);
    }
    fn observe(&mut self, sample: &AckSample) {
        self.0.observe(sample);
    }
    fn on_marks(&mut self, sample: &MarkSample) {
        self.0.on_marks(sample);
    }
    fn on_lost(&mut self, segment: &LostSegment) {
        self.0.on_lost(segment);
    }
    fn on_recovery_exit(&mut self, now: Time) {
        self.0.on_recovery_exit(now);
    }
    fn on_undo(&mut self, now: Time) {
        self.0.on_undo(now);
    }
    fn on_send(&mut self, now: Time, idle: bool) {
        self.0.on_send(now, idle);
    }
    fn sets_window_in_recovery(&self) -> bool {
        self.0.sets_window_in_recovery()
    }
    fn needs(&self) -> Needs {
        Needs::Rates
    }
    fn lowers_window(&self) -> bool {
        self.0.lowers_window()
    }
}

impl Asking {
    fn endpoint(config: &TcpConfig) -> TcpEndpoint {
        let control = Box::new(Self(built_in(config)));
        TcpEndpoint::with_congestion_control(Arc::new(config.clone()), control)
    }
}

/// Runs a connection and returns every segment of both ends with its time.
fn log(case: &Case, asks: bool) -> Vec<Sent> {
    let mut network = network(case);
    if asks {
        let config = network.hosts[0].config().clone();
        network.hosts = [Asking::endpoint(&config), Asking::endpoint(&config)];
        network.hosts[1].listen();
    }
    network.hosts[1].set_reading(Time::ZERO, case.pause == 0);
    network.hosts[0].connect(Time::ZERO);
    for host in [0, 1] {
        network.hosts[host].write(case.bytes[host]);
        network.hosts[host].close();
    }
    network.run_until(Time::ZERO + Span::from_millis(case.pause));
    let now = network.now;
    network.hosts[1].set_reading(now, true);
    network.run_until(Time::ZERO + Span::from_secs(2_000_000));
    network.log
}

fn assert_same_packets(case: &Case) {
    let (plain, asking) = (log(case, false), log(case, true));
    for (index, (plain, asking)) in plain.iter().zip(&asking).enumerate() {
        assert_eq!(plain, asking, "packet {index}");
    }
    assert_eq!(plain.len(), asking.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn measurements_do_not_change_the_packets_sent(case in cases()) {
        assert_same_packets(&case);
    }
}

/// A control with a fixed window that keeps every sample.
#[derive(Debug)]
struct Frozen {
    window: f64,
    sets_window_in_recovery: bool,
    samples: Arc<Mutex<Vec<AckSample>>>,
    losses: Arc<Mutex<Vec<LostSegment>>>,
}

impl CongestionControl for Frozen {
    fn on_ack(&mut self, sample: &AckSample) {
        self.samples.lock().unwrap().push(*sample);
    }
    fn on_congestion_event(&mut self, _event: &CongestionEvent) {}
    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {}
    fn window(&self) -> f64 {
        self.window
    }
    fn set_window(&mut self, _bytes: f64) {}
    fn ssthresh(&self) -> u64 {
        1000
    }
    fn set_ssthresh(&mut self, _bytes: u64) {}
    fn on_lost(&mut self, segment: &LostSegment) {
        self.losses.lock().unwrap().push(*segment);
    }
    fn observe(&mut self, sample: &AckSample) {
        self.samples.lock().unwrap().push(*sample);
    }
    fn sets_window_in_recovery(&self) -> bool {
        self.sets_window_in_recovery
    }
    fn needs(&self) -> Needs {
        Needs::Rates
    }
}

/// Data sent: time, sequence number, and true if they were sent before.
type DataSent = Vec<(u64, u64, bool)>;

/// Returns the samples of the first 600 ms of a transfer with a window of 20 segments that loses the
/// packets of host 0 with these indices, and the data sent. The control may set the window in
/// recovery.
fn samples(config: &TcpConfig, lost: &'static [u64]) -> (Vec<AckSample>, Vec<(u64, u64, bool)>) {
    let (samples, _, sent) = samples_of(config, true, lost);
    (samples, sent)
}

/// Returns [`samples`] of a control that sets the window in recovery, or does not, and the lost
/// segments that it heard of.
fn samples_of(
    config: &TcpConfig,
    sets_window_in_recovery: bool,
    lost: &'static [u64],
) -> (Vec<AckSample>, Vec<LostSegment>, DataSent) {
    let mut network = simple(config, 5_000_000, Span::from_millis(20), 100);
    let samples = Arc::new(Mutex::new(Vec::new()));
    let losses = Arc::new(Mutex::new(Vec::new()));
    let control = Box::new(Frozen {
        window: 20.0 * f64::from(config.mss),
        sets_window_in_recovery,
        samples: samples.clone(),
        losses: losses.clone(),
    });
    network.hosts[0] = TcpEndpoint::with_congestion_control(Arc::new(config.clone()), control);
    network.lose(lost);
    network.hosts[0].connect(Time::ZERO);
    network.hosts[0].write(ENDLESS);
    network.run_until(Time::ZERO + Span::from_millis(600));
    let samples = samples.lock().unwrap().clone();
    let losses = losses.lock().unwrap().clone();
    (samples, losses, network.data_sent())
}

/// Recovery by sequence numbers and recovery by records give the same samples of the same
/// conversation, field by field: without loss, with one lost segment, and with two in a window.
#[test]
fn samples_mean_the_same_with_and_without_records() {
    for lost in [&[][..], &[60], &[60, 61], &[60, 61, 120, 180]] {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.timestamps = Some(Span::from_millis(1));
        let (plain, sent) = samples(&config, lost);
        config.loss_detection = LossDetection::Rack;
        let (recorded, sent_by_records) = samples(&config, lost);
        assert_eq!(sent, sent_by_records, "{lost:?}");
        assert_eq!(plain.len(), recorded.len(), "{lost:?}");
        assert!(plain.len() > 100);
        for (index, (plain, recorded)) in plain.iter().zip(&recorded).enumerate() {
            // The timing rule of the retransmission timer belongs to the recovery.
            let plain = AckSample {
                rtt: recorded.rtt,
                ..*plain
            };
            assert_eq!(plain, *recorded, "{lost:?}: ACK {index}");
        }
    }
}

/// Each ACK of outstanding data reaches the control, even if the window may not grow. The rule of
/// growth (by bytes or by ACKs) does not change which ones do.
#[test]
fn every_ack_reaches_the_control() {
    for lost in [&[][..], &[60], &[60, 61, 120, 180]] {
        let mut config = TcpConfig::profile(Profile::Linux);
        config.byte_counting = true;
        let (by_bytes, _, sent) = samples_of(&config, false, lost);
        config.byte_counting = false;
        let (by_acks, _, sent_by_acks) = samples_of(&config, false, lost);
        assert!(by_bytes.len() > 100);
        assert_eq!(sent, sent_by_acks, "{lost:?}");
        let times = |samples: &[AckSample]| -> Vec<Time> {
            samples.iter().map(|sample| sample.now).collect()
        };
        assert_eq!(times(&by_bytes), times(&by_acks), "{lost:?}");
    }
}

/// The control hears of each lost segment once, even if an ACK shows the loss after the control has
/// got the sample of that ACK. A single reordered segment shows a loss here, so the delayed ACK of
/// the segment before the hole may do so.
#[test]
fn the_samples_have_every_lost_segment_once() {
    for lost in [&[][..], &[60], &[61], &[60, 61, 120, 181]] {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.duplicate_ack_threshold = 1;
        for recovers in [true, false] {
            let (found, _, _) = samples_of(&config, recovers, lost);
            let sum: u64 = found.iter().map(|sample| sample.measured().lost).sum();
            let segments = sum / u64::from(config.mss);
            assert_eq!(segments, lost.len() as u64, "{lost:?}, {recovers}");
        }
    }
}

/// The control hears of each lost segment by itself: of its sequence numbers, of the segments that
/// were in flight when it left, and of the losses since then, which include it. Data start with packet
/// 2 and sequence number 1. Two segments leave with each ACK, the first as the 19th in flight, the
/// second as the 20th. Packets 60 and 61 are in flight together. Packet 121 leaves after their two
/// retransmissions, with new data, when their loss is known.
#[test]
fn each_lost_segment_comes_with_the_flight_in_which_it_left() {
    for detection in [LossDetection::DuplicateAcks, LossDetection::Rack] {
        let mut config = TcpConfig::profile(Profile::Rfc);
        config.loss_detection = detection;
        let (_, found, _) = samples_of(&config, true, &[60, 61, 121]);
        let mss = u64::from(config.mss);
        let expected =
            [(58, 19, 1), (59, 20, 2), (117, 20, 1)].map(|(index, flight, lost)| LostSegment {
                seq: 1 + index * mss,
                end: 1 + (index + 1) * mss,
                bytes: mss,
                in_flight_at_send: flight * mss,
                lost: lost * mss,
                is_app_limited: false,
                ..found[0]
            });
        let found: Vec<_> = found
            .iter()
            .map(|loss| LostSegment {
                now: found[0].now,
                total_delivered: found[0].total_delivered,
                ..*loss
            })
            .collect();
        assert_eq!(found, expected, "{detection:?}");
    }
}
