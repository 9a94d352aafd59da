//! The cases: four dumbbells of long flows, and a series that grows with the number of flows.

use goodqueue_scenario::Scenario;

/// A scenario to time, and the parameters of its ns-2 counterpart.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// The scenario file's text.
    pub scenario: &'static str,
    /// Keys and values set on top of the file.
    pub overrides: Vec<(String, String)>,
    /// Arguments of `tools/ns2/dumbbell.tcl`; the duration comes last. Without any, ns-2 is left out.
    pub ns2: Vec<String>,
    /// Simulated seconds.
    pub duration_s: u32,
    /// The case that differs in its TCP only, whose cost is the measure of this one's.
    pub beside: Option<&'static str>,
}

/// All cases, in the order in which they run.
pub fn all() -> Vec<Case> {
    let fixed = |name: &str, scenario, ns2: &str, duration_s| Case {
        name: name.to_owned(),
        scenario,
        overrides: Vec::new(),
        ns2: ns2.split(' ').map(str::to_owned).collect(),
        duration_s,
        beside: None,
    };
    let mut cases = vec![
        fixed(
            "s1",
            include_str!("../../../scenarios/s1.toml"),
            "flows=100 rate=50 buffer=688",
            200,
        ),
        fixed(
            "s2",
            include_str!("../../../scenarios/s2.toml"),
            "flows=400 rate=50 buffer=3200",
            200,
        ),
        fixed(
            "s3",
            include_str!("../../../scenarios/s3.toml"),
            "flows=1 rate=10 rtt_min=40 classes=1 buffer=33",
            1000,
        ),
        fixed(
            "s4",
            include_str!("../../../scenarios/s4.toml"),
            "flows=10 rate=1000 rtt_min=20 classes=1 buffer=1667",
            20,
        ),
    ];
    cases.insert(1, linux(&cases[0]));
    cases.push(red(&cases[0]));
    cases.extend([10, 100, 400, 1000, 4000].map(growth));
    cases.push(many_flows());
    cases
}

/// A thousand long flows and a hundred thousand short connections. Nothing for ns-2 to do.
fn many_flows() -> Case {
    Case {
        name: "many-flows".to_owned(),
        scenario: include_str!("../../../scenarios/many-flows.toml"),
        overrides: Vec::new(),
        ns2: Vec::new(),
        duration_s: 40,
        beside: None,
    }
}

/// The first case under the `linux` profile and nothing else: CUBIC, timestamps, delayed ACKs, a
/// record of every transmission. Packets are as large as before. Nothing for ns-2 to do.
fn linux(s1: &Case) -> Case {
    let tcp = ("tcp".to_owned(), "{ profile = \"linux\" }".to_owned());
    Case {
        name: "s1-linux".to_owned(),
        overrides: vec![tcp],
        ns2: Vec::new(),
        beside: Some("s1"),
        ..s1.clone()
    }
}

/// The first case behind RED: what a queue discipline costs, which has an event for every packet.
fn red(s1: &Case) -> Case {
    Case {
        name: "s5".to_owned(),
        scenario: include_str!("../../../scenarios/s5.toml"),
        ns2: Vec::new(),
        beside: Some("s1"),
        ..s1.clone()
    }
}

/// So many flows on half a megabit per second each, with 100 ms of buffer.
fn growth(flows: u32) -> Case {
    let rate_kbps = 500 * flows;
    // 100 ms in full packets, and the one in transmission, which ns-2 counts too.
    let buffer = rate_kbps * 100 / 12_000 + 1;
    let set = |key: &str, value: String| (key.to_owned(), value);
    Case {
        name: format!("grow-{flows}"),
        scenario: include_str!("../../../scenarios/growth.toml"),
        overrides: vec![
            set("flow.bulk.count", flows.to_string()),
            set("topology.bottleneck.rate", format!("{rate_kbps}kbps")),
        ],
        ns2: vec![
            format!("flows={flows}"),
            format!("rate={}", f64::from(rate_kbps) / 1000.0),
            format!("buffer={buffer}"),
        ],
        duration_s: 50,
        beside: None,
    }
}

/// The case of this name: one of [`all`], or `crowd-N` or `crowd-N-linux` for any number of flows N.
pub fn named(name: &str) -> Option<Case> {
    if let Some(crowd) = name.strip_prefix("crowd-") {
        let (flows, linux) = match crowd.strip_suffix("-linux") {
            Some(flows) => (flows, true),
            None => (crowd, false),
        };
        return flows.parse().ok().map(|flows| self::crowd(flows, linux));
    }
    all().into_iter().find(|case| case.name == name)
}

/// So many flows on half a megabit per second each for five seconds, all active after the first,
/// under the `rfc` or the `linux` profile: what an active flow takes in memory.
fn crowd(flows: u32, linux: bool) -> Case {
    let mut case = growth(flows);
    let profile = if linux { "linux" } else { "rfc" };
    case.name = format!("crowd-{flows}{}", if linux { "-linux" } else { "" });
    case.ns2.clear();
    case.duration_s = 5;
    let own = [
        ("duration", "5s".to_owned()),
        ("warmup", "1s".to_owned()),
        ("flow.bulk.start_interval", "0s".to_owned()),
        ("flow.bulk.start_jitter", "1s".to_owned()),
        ("tcp", format!("{{ profile = \"{profile}\" }}")),
    ];
    let own = own.map(|(key, value)| (key.to_owned(), value));
    case.overrides.extend(own);
    case
}

/// So many flows, and time for all of them to start.
pub fn idle(flows: u32) -> Case {
    let mut case = growth(flows);
    case.overrides
        .push(("duration".to_owned(), "1000s".to_owned()));
    case
}

impl Case {
    /// The run, as `goodqueue run` builds it from the file.
    pub fn scenario(&self) -> Scenario {
        Scenario::parse(self.scenario.as_bytes(), &self.name, &self.overrides)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_queue::{Configuration, Limit};
    use goodqueue_sim::{WorkloadConfig, run, run_while};
    use goodqueue_tcp::{Profile, TcpConfig};
    use goodqueue_types::{Span, Time};

    fn ns2(case: &Case, key: &str) -> Option<f64> {
        let value = case
            .ns2
            .iter()
            .find_map(|argument| argument.strip_prefix(key));
        value.map(|value| value.parse().expect("a number"))
    }

    /// Both simulators run the same thing.
    #[test]
    fn scenarios_and_parameters_of_ns2_agree() {
        for case in all().iter().filter(|case| !case.ns2.is_empty()) {
            let network = case.scenario().network();
            assert_eq!(
                network.end,
                Time::ZERO + Span::from_secs(u64::from(case.duration_s))
            );
            let flows = ns2(case, "flows=").expect("always given");
            assert!(
                (network.flows.len() as f64 - flows).abs() < 0.5,
                "{}",
                case.name
            );
            let bottleneck = &network.links[0];
            let rate = ns2(case, "rate=").expect("always given") * 1e6;
            assert!(
                (bottleneck.rate.0 as f64 - rate).abs() < 1.0,
                "{}",
                case.name
            );
            let waiting = match bottleneck.queue.limit() {
                Limit::Packets(packets) => packets,
                Limit::Bytes(bytes) => bytes / 1500,
                Limit::Unlimited => panic!("{}: no limit", case.name),
            };
            let buffer = ns2(case, "buffer=").expect("always given");
            assert!((waiting as f64 + 1.0 - buffer).abs() < 0.5, "{}", case.name);
        }
    }

    /// The `linux` profile's cost is compared over the same link, packets and flows.
    #[test]
    fn the_linux_case_differs_in_tcp_alone() {
        let cases = all();
        let [s1, linux] = [&cases[0], &cases[1]].map(|case| case.scenario().network());
        assert_eq!(cases[1].beside, Some(cases[0].name.as_str()));
        assert_eq!(format!("{:?}", s1.links), format!("{:?}", linux.links));
        assert_eq!(s1.flows.len(), linux.flows.len());
        assert_eq!(s1.end, linux.end);
        let frame = |tcp: &TcpConfig| tcp.mss + u32::from(tcp.header);
        let [ours, theirs] = [&s1, &linux].map(|network| match &network.flows[0].workload {
            WorkloadConfig::Bulk { tcp, .. } => tcp.clone(),
            _ => panic!("bulk flows"),
        });
        // Twelve bytes of every packet are the timestamps option.
        assert_eq!(frame(&ours), frame(&theirs) + 12);
        assert_eq!(*theirs, TcpConfig::profile(Profile::Linux));
    }

    /// What is timed gives what `goodqueue run` gives, which can be stopped on the way.
    #[test]
    fn results_are_those_of_a_run() {
        let mut case = growth(20);
        case.overrides
            .push(("duration".to_owned(), "10s".to_owned()));
        let network = case.scenario().network();
        assert_eq!(Some(run(&network)), run_while(&network, |_| true));
    }
}
