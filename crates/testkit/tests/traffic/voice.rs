//! Calls over a network: their delay, loss and rating, compared with those of the network.

use goodqueue_queue::Limit;
use goodqueue_sim::{
    FlowOutcome, IndependentLoss, LossConfig, Metric, SourceConfig, VoiceConfig, WorkloadConfig,
    run,
};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};

fn call(loss: f64, concealment: bool, seconds: u64) -> FlowOutcome {
    let dumbbell = Dumbbell {
        seed: 1,
        rate: Rate(1_000_000),
        access_rate: Rate(100_000_000),
        limit: Limit::Packets(100),
        round_trip: Span::from_millis(100),
        warmup: Time::ZERO + Span::from_secs(1),
        end: Time::ZERO + Span::from_secs(seconds),
    };
    let voice = WorkloadConfig::Source(SourceConfig::Voice(VoiceConfig {
        concealment,
        ..VoiceConfig::default()
    }));
    let mut network = dumbbell.network(vec![(Time::ZERO, voice)]);
    network.links[0].loss = (loss > 0.0).then_some(LossConfig::Independent(IndependentLoss {
        probability: loss,
        ..IndependentLoss::default()
    }));
    run(&network).flows.remove(0)
}

/// Returns a metric as a number: a count, a number, or a mean.
fn figure(flow: &FlowOutcome, name: &str) -> f64 {
    let mut metrics = flow.app.metrics.iter();
    let metric = metrics.find(|(other, _)| *other == name);
    match metric.expect("such a figure").1 {
        Metric::Count(count) => count as f64,
        Metric::Number(number) => number.expect("a sample"),
        Metric::Seconds(values) | Metric::Ratio(values) => values.mean.expect("a sample"),
    }
}

/// The delay of the network is 51.632 ms: half the base RTT, 1.6 ms at 1 Mb/s, and twice 16 us at
/// 100 Mb/s. 20 ms of speech and 60 ms in the playout buffer come on top of it.
#[test]
fn an_idle_path_takes_its_delay_and_nothing_else() {
    let flow = call(0.0, true, 11);
    for (name, value) in [
        ("voice_packets", 500.0),
        ("voice_late", 0.0),
        ("voice_loss", 0.0),
        ("mouth_to_ear_s", 0.131_632),
    ] {
        assert!((figure(&flow, name) - value).abs() < 1e-9, "{name}");
    }
    let delay = flow.one_way().delay_s;
    for delay in [delay.mean, delay.p99, delay.max, flow.one_way().min_s] {
        assert!((delay.expect("packets") - 0.051_632).abs() < 1e-9);
    }
    assert_eq!(
        (flow.one_way().p999_pdv_s, flow.one_way().ipdv_s.max),
        (Some(0.0), Some(0.0))
    );
    // The goodput is 64 kb/s of speech and 12 bytes of RTP header, 50 times a second.
    assert!((flow.goodput_bps - 68_800.0).abs() < 1e-6);
    // These are the terms of G.107 with T = Ta = 131.6 ms and Tr = 2T, computed by hand: Idte 2.51,
    // Idle 0.80, Idd 0.02.
    let rating = figure(&flow, "r_factor");
    assert!(
        (rating - (93.36 - 2.51 - 0.80 - 0.02)).abs() < 0.05,
        "{rating}"
    );
}

#[test]
fn random_loss_impairs_a_call_as_the_e_model_says() {
    let best = figure(&call(0.0, true, 11), "r_factor");
    for (concealment, robustness) in [(true, 25.1), (false, 4.3)] {
        for loss in [0.01, 0.05] {
            let flow = call(loss, concealment, 401);
            let share = figure(&flow, "voice_loss");
            let deviation = f64::sqrt(loss * (1.0 - loss) / 20_000.0);
            assert!((share - loss).abs() < 4.0 * deviation, "{loss}: {share}");
            let percent = 100.0 * loss;
            let cost = 95.0 * percent / (percent + robustness);
            // Without loss, the slope of the impairment is steepest: 95 / Bpl per percent of loss.
            let error = 4.0 * 100.0 * deviation * 95.0 / robustness;
            let rating = figure(&flow, "r_factor");
            assert!((best - cost - rating).abs() < error, "{loss}: {rating}");
        }
    }
}
