//! Short TCP flows on a path with random packet losses, compared with the model of Cardwell, Savage
//! and Anderson (Modeling TCP Latency, INFOCOM 2000).

use goodqueue_queue::Limit;
use goodqueue_sim::{
    Distribution, FlowOutcome, IndependentLoss, Law, LossConfig, Metric, Network, SessionConfig,
    TransfersConfig, WorkloadConfig, run,
};
use goodqueue_tcp::{InitialWindow, Profile, Recovery, TcpConfig};
use goodqueue_testkit::closed_form::LossyPath;
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

const RTT_S: f64 = 0.1;
const MSS: f64 = 1_460.0;

/// Adds losses in both directions that affect all packets.
fn lossy(mut network: Network, path: &LossyPath) -> Network {
    for (link, probability) in network.links.iter_mut().zip([path.loss, path.reverse_loss]) {
        link.loss = Some(LossConfig::Independent(IndependentLoss {
            probability,
            ..IndependentLoss::default()
        }));
    }
    network
}

/// Runs `transfers` transfers of `segments` segments, with enough time between them that they do
/// not meet in a queue.
fn transfers(path: &LossyPath, segments: f64, transfers: u64, seed: u64) -> FlowOutcome {
    let tcp = TcpConfig {
        recovery: Recovery::Reno,
        limited_transmit: false,
        mss: MSS as u32,
        initial_window: InitialWindow::Segments(path.initial_window as u32),
        ack_every: path.ack_every as u32,
        // The model's window grows by a segment per acknowledgement (RFC 5681).
        byte_counting: false,
        ..TcpConfig::profile(Profile::Rfc)
    };
    let seconds = transfers / 20 + 100;
    let dumbbell = Dumbbell {
        seed,
        rate: Rate(10_000_000_000),
        access_rate: Rate(10_000_000_000),
        limit: Limit::Unlimited,
        round_trip: Span::from_secs_f64(RTT_S),
        warmup: Time::ZERO,
        end: Time::ZERO + Span::from_secs(seconds),
    };
    let session = SessionConfig::Transfers(TransfersConfig {
        size: Law::Fixed(segments * MSS),
        interval: Span::from_millis(50),
        most: Some(transfers),
        ..TransfersConfig::default()
    });
    let workload = WorkloadConfig::Session {
        tcp: Arc::new(tcp),
        session: Arc::new(session),
    };
    let network = dumbbell.network(vec![(Time::ZERO, workload)]);
    let flow = run(&lossy(network, path)).flows.remove(0);
    assert!(
        figure(&flow, "transfers") >= transfers as f64,
        "all have ended"
    );
    flow
}

fn figure(flow: &FlowOutcome, name: &str) -> f64 {
    match metric(flow, name) {
        Metric::Count(count) => count as f64,
        Metric::Seconds(Distribution { mean, .. }) | Metric::Ratio(Distribution { mean, .. }) => {
            mean.expect("samples")
        }
        Metric::Number(number) => number.expect("a number"),
    }
}

fn metric(flow: &FlowOutcome, name: &str) -> Metric {
    let found = flow.app.metrics.iter().find(|(other, _)| *other == name);
    found.expect("such a metric").1
}

/// Returns a path with these probabilities of loss in the direction of the data and in the opposite
/// direction.
fn path(loss: f64, reverse_loss: f64) -> LossyPath {
    LossyPath {
        loss,
        reverse_loss,
        rtt: RTT_S,
        // RFC 6298 section 2: the initial and the minimum timeout.
        syn_timeout: 1.0,
        timeout: 1.0,
        initial_window: 3.0,
        largest_window: 1e6,
        ack_every: 1.0,
    }
}

#[test]
fn handshakes_take_as_long_as_their_losses_say() {
    for (seed, (loss, reverse_loss)) in
        (1..).zip([(0.01, 0.01), (0.05, 0.05), (0.05, 0.0), (0.0, 0.05)])
    {
        let path = path(loss, reverse_loss);
        let flow = transfers(&path, 1.0, 10_000, seed);
        let connections = figure(&flow, "connections");
        assert!(connections >= 10_000.0);
        let (mean, model) = (figure(&flow, "handshake_time_s"), path.handshake());
        let error = path.handshake_deviation() / connections.sqrt();
        println!("{loss} {reverse_loss}: {mean}, expected {model} +- {error}");
        assert!((mean - model).abs() < 3.0 * error);
    }
}

/// The sizes are whole rounds of slow start, between which the model interpolates, and few rounds.
/// The model has no loss of acknowledgements, but only a timeout repairs the loss of the last ones.
/// Losses of 5 % are therefore only in the direction of the data; losses of 1 % may be in both.
#[test]
fn short_transfers_take_as_long_as_the_model_says() {
    for (loss, reverse_loss) in [(0.01, 0.0), (0.05, 0.0), (0.01, 0.01)] {
        for (initial_window, sizes) in [(1.0, [3.0, 7.0, 15.0]), (3.0, [3.0, 9.0, 21.0])] {
            let path = LossyPath {
                initial_window,
                ..path(loss, reverse_loss)
            };
            for segments in sizes {
                let flow = transfers(&path, segments, 4_000, 1);
                let mean = figure(&flow, "transfer_time_s");
                let model = path.handshake() + path.transfer(segments);
                println!(
                    "{loss} {reverse_loss}, {segments} from {initial_window}: {mean}, expected \
                     {model} ({:+.3})",
                    mean / model - 1.0
                );
                assert!((mean / model - 1.0).abs() < 0.15);
            }
        }
    }
}

/// The tests above would detect half or double the loss rate.
#[test]
fn the_tests_above_distinguish_two_loss_rates() {
    let once = path(0.05, 0.0);
    for loss in [0.025, 0.1] {
        let other = path(loss, 0.0);
        let error = 3.0 * once.handshake_deviation() / 100.0;
        assert!((other.handshake() - once.handshake()).abs() > 2.0 * error);
        assert!((other.transfer(9.0) / once.transfer(9.0) - 1.0).abs() > 0.3);
    }
}
