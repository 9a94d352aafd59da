//! A paused run gives the results of a run that is not paused, in both engines.

use goodqueue_learn::{Action, Every, FlowEpisode, Monitor, QueueEpisode, Steering};
use goodqueue_scenario::Scenario;
use goodqueue_tcp::CongestionControlConfig;
use goodqueue_tcp::cc::{AckSample, CongestionControl, CongestionEvent, CustomControl, Needs};
use goodqueue_types::{Rate, Span};

const SCENARIO: &str = r#"
schema_version = 1
duration = "10s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "20Mbps", delay = "15ms", queue = { limit = "1bdp" } }
[[flow]]
name = "learner"
workload = { kind = "bulk" }
[[flow]]
name = "other"
start = "2s"
workload = { kind = "bulk" }
tcp = { congestion_control = "cubic" }
"#;

fn scenario() -> Scenario {
    Scenario::parse(SCENARIO.as_bytes(), "episodes.toml", &[]).unwrap()
}

/// Decides as a function of the report alone, so that equal runs get equal actions. Returns what
/// happened at each decision.
fn play(
    scenario: &Scenario,
    every: Every,
    steering: &Steering,
    decide: impl Fn(f64, f64) -> Action,
) -> Vec<(u64, u64, u64, u64)> {
    let mut episode = FlowEpisode::new(scenario, "learner", every, steering).unwrap();
    assert_eq!(episode.flows(), 1);
    let mut seen = Vec::new();
    loop {
        episode.advance();
        let Some((flow, report, window, _)) = episode.report() else {
            assert!(episode.has_ended());
            return seen;
        };
        assert_eq!(flow, 0);
        seen.push((report.to.0, report.delivered, report.lost, window.to_bits()));
        let rtt = report.mean_rtt_s().unwrap_or(0.03);
        episode.act(flow, decide(window, rtt));
    }
}

#[test]
fn an_episode_is_deterministic_and_follows_its_actions() {
    let scenario = scenario();
    let every = Every::Time(Span::from_millis(30));
    let fixed = |window: f64| {
        move |_: f64, _: f64| Action {
            window: Some(window),
            rate: None,
        }
    };
    let small = play(&scenario, every, &Steering::Alone, fixed(14_600.0));
    assert_eq!(
        small,
        play(&scenario, every, &Steering::Alone, fixed(14_600.0))
    );
    // A report comes with the first ACK after 30 ms, and ACKs are at most a round trip of 66 ms apart:
    // 10 s hold 104 to 333.
    assert!((104..=333).contains(&small.len()), "{}", small.len());
    // Ten segments per round trip of 30 ms to 66 ms, in full segments.
    let delivered: u64 = small.iter().map(|seen| seen.1).sum();
    let rate = 8.0 * delivered as f64 / 10.0;
    assert!((1.7e6..3.9e6).contains(&rate), "{rate}");
}

/// A pace of 8 Mb/s, and a window that does not limit it, delivers 8 Mb/s of frames: payload is
/// 1460 of 1500 bytes.
#[test]
fn a_pacing_rate_is_kept() {
    let text = SCENARIO.split("[[flow]]\nname = \"other\"").next().unwrap();
    let scenario = Scenario::parse(text.as_bytes(), "alone.toml", &[]).unwrap();
    let paced = |_: f64, _: f64| Action {
        window: Some(1e9),
        rate: Some(Rate(8_000_000)),
    };
    let seen = play(&scenario, Every::RoundTrips(1.0), &Steering::Alone, paced);
    let late = &seen[seen.len() / 2..];
    let seconds = (late.last().unwrap().0 - late[0].0) as f64 / 1e12;
    let bytes: u64 = late[1..].iter().map(|seen| seen.1).sum();
    let rate = 8.0 * bytes as f64 / seconds;
    assert!((7.5e6..8.1e6).contains(&rate), "{rate}");
}

/// Actions that change nothing leave the run of the control below as it is.
#[test]
fn an_episode_without_changes_is_the_run_of_its_control() {
    let scenario = scenario();
    let over = Steering::Over(CongestionControlConfig::Reno);
    let every = Every::Time(Span::from_millis(100));
    let seen = play(&scenario, every, &over, |_, _| Action::default());
    let reno = goodqueue_sim::run(&scenario.network());
    let delivered: u64 = seen.iter().map(|seen| seen.1).sum();
    let goodput = reno.flows[0].goodput_bps * 10.0 / 8.0;
    // The last interval has no report: at most 100 ms of 10 s are missing, and up to a window is
    // delivered but not yet acknowledged.
    let share = delivered as f64 / goodput;
    assert!((0.97..1.01).contains(&share), "{share}");
}

/// A queue that drops nothing by chance is a drop-tail queue: the bytes that leave are those of the
/// plain run. With a probability the share of drops is near it.
#[test]
fn a_steered_queue_drops_by_its_probability() {
    let scenario = scenario();
    let step = Span::from_millis(20);
    let total = |probability: f64| {
        let mut episode = QueueEpisode::new(&scenario, "bottleneck", step).unwrap();
        let (mut arrived, mut dropped, mut sent) = (0, 0, 0);
        let mut steps = 0;
        while !episode.has_ended() {
            let report = episode.step(probability);
            arrived += report.arrived;
            dropped += report.dropped;
            sent += report.sent;
            steps += 1;
        }
        assert_eq!(steps, 500);
        (arrived, dropped, sent)
    };
    let (arrived, dropped, sent) = total(0.0);
    assert_eq!(dropped, 0);
    let plain = goodqueue_sim::run(&scenario.network());
    let bytes = plain.links[0].utilization * 20e6 * 10.0 / 8.0;
    assert!(
        (sent as f64 * 1500.0 / bytes - 1.0).abs() < 0.01,
        "{sent} {bytes}"
    );
    assert!(arrived >= sent);
    let (arrived, dropped, _) = total(0.02);
    let share = dropped as f64 / arrived as f64;
    let error = (0.02 * 0.98 / arrived as f64).sqrt();
    assert!((share - 0.02).abs() < 4.0 * error, "{share}");
}

/// The rule that the learner of the next test follows: a window of 60 ms at 20 Mb/s, less as the
/// round-trip time grows.
fn rule(_window: f64, rtt: f64) -> Action {
    Action {
        window: Some((150_000.0 * 0.035 / rtt).max(3_000.0)),
        rate: None,
    }
}

/// The same rule inside the run: it decides at the first ACK after an interval, and the decision
/// holds from the next ACK, loss event or timeout.
#[derive(Debug)]
struct Inside {
    monitor: Monitor,
    window: f64,
    next: Option<f64>,
    ssthresh: u64,
    mss: f64,
}

impl Inside {
    fn take(&mut self) {
        self.window = self.next.take().unwrap_or(self.window);
    }

    fn note(&mut self, sample: &AckSample) {
        self.take();
        if let Some(report) = self.monitor.note(sample) {
            self.next = rule(self.window, report.mean_rtt_s().unwrap_or(0.03)).window;
        }
    }
}

impl CongestionControl for Inside {
    fn on_ack(&mut self, sample: &AckSample) {
        self.note(sample);
    }
    fn observe(&mut self, sample: &AckSample) {
        self.note(sample);
    }
    fn on_congestion_event(&mut self, _event: &CongestionEvent) {
        self.take();
        self.monitor.note_loss_event();
        self.ssthresh = (self.window as u64).max(2 * self.mss as u64);
    }
    fn on_retransmission_timeout(&mut self, _event: Option<&CongestionEvent>) {
        self.take();
        self.monitor.note_timeout();
        self.window = self.mss;
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
    fn sets_window_in_recovery(&self) -> bool {
        true
    }
    fn needs(&self) -> Needs {
        Needs::Segments
    }
}

/// Returns the control that decides inside the run.
fn inside(every: Every) -> CustomControl {
    CustomControl::new("inside", move |config| {
        Box::new(Inside {
            monitor: Monitor::new(every),
            window: config.initial_window.bytes(config.mss) as f64,
            next: None,
            ssthresh: config.initial_ssthresh_bytes(),
            mss: f64::from(config.mss),
        })
    })
}

/// A decision sees the same window when the run pauses for it and when it is made inside the run, and
/// the reference engine, which never works ahead, gives the same outcome.
#[test]
fn both_engines_agree_about_when_a_decision_holds() {
    let scenario = scenario();
    let every = Every::Time(Span::from_millis(30));
    let control = inside(every);
    let mut network = scenario
        .with_control("learner", &control)
        .unwrap()
        .network();
    (network.record.series, network.record.packets) = (true, true);
    let fast = goodqueue_sim::run(&network);
    let reference = goodqueue_testkit::run_reference(&network);
    goodqueue_testkit::compare(&fast, &reference).unwrap();
    assert!(fast.totals.dropped > 0);

    let seen = play(&scenario, every, &Steering::Alone, rule);
    // The windows of the run, in order of time, contain those at the decisions of the episode.
    let windows = &fast.series.windows;
    assert!(seen.len() > 100);
    for (time, _, _, window) in &seen {
        let before = windows
            .iter()
            .rev()
            .find(|row| row.0 == 0 && row.1.0 <= *time);
        let found = before.map(|row| row.2);
        assert_eq!(found, Some(f64::from_bits(*window) as u64), "at {time} ps");
    }
}

/// Two flows with different round-trip times, which decide at different times.
const SHARED: &str = r#"
schema_version = 1
duration = "10s"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps" }
bottleneck = { rate = "20Mbps", delay = "5ms", queue = { limit = "1bdp" } }
[[flow]]
name = "learner"
count = 2
rtt = ["20ms", "70ms"]
workload = { kind = "bulk" }
"#;

/// The decisions of several flows, each of which follows from the flow's own report alone, are those
/// of controls inside the run, which both engines run alike. Each flow decides at its own times.
#[test]
fn several_flows_decide_at_their_own_times_as_in_both_engines() {
    let scenario = Scenario::parse(SHARED.as_bytes(), "shared.toml", &[]).unwrap();
    let every = Every::RoundTrips(1.0);
    let control = inside(every);
    let decided = scenario.with_control("learner", &control).unwrap();
    let mut network = decided.network();
    (network.record.series, network.record.packets) = (true, true);
    let fast = goodqueue_sim::run(&network);
    let reference = goodqueue_testkit::run_reference(&network);
    goodqueue_testkit::compare(&fast, &reference).unwrap();

    let mut episode = FlowEpisode::new(&scenario, "learner", every, &Steering::Alone).unwrap();
    assert_eq!(episode.flows(), 2);
    let mut decisions = [0, 0];
    loop {
        episode.advance();
        let Some((flow, report, window, _)) = episode.report() else {
            break;
        };
        let before = reference
            .series
            .windows
            .iter()
            .rev()
            .find(|row| row.0 as usize == flow && row.1 <= report.to);
        assert_eq!(before.map(|row| row.2), Some(window as u64), "{report:?}");
        decisions[flow] += 1;
        episode.act(flow, rule(window, report.mean_rtt_s().unwrap_or(0.03)));
    }
    assert!(episode.has_ended());
    // Both queue for the same time, so the flow with the shorter path decides more often.
    assert!(
        decisions[1] > 50 && decisions[0] > decisions[1],
        "{decisions:?}"
    );
}
