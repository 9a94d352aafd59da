//! The benchmark cases: four dumbbells of long flows, and a series with a growing number of flows.

use goodqueue_scenario::Scenario;

/// A scenario to time, and the parameters of its counterpart in ns-2.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// Text of the scenario file.
    pub scenario: &'static str,
    /// Keys and values that override those of the file.
    pub overrides: Vec<(String, String)>,
    /// The same network for the other simulators; none if they do not run this case.
    pub dumbbell: Option<Dumbbell>,
    /// Simulated time, in seconds.
    pub duration_s: u32,
    /// Name of a case that differs only in one component, with which the cost of this case is
    /// compared.
    pub beside: Option<&'static str>,
}

/// Parameters of a dumbbell of long flows, in the words of `tools/ns2/dumbbell.tcl` and
/// `tools/htsim/dumbbell.cc`.
#[derive(Clone, Copy, Debug)]
pub struct Dumbbell {
    /// Number of flows.
    pub flows: u32,
    /// Rate of the bottleneck, in kb/s.
    pub rate_kbps: u32,
    /// Number of packets at the bottleneck, the one in transmission included.
    pub buffer: u32,
    /// Smallest base round-trip time, in milliseconds.
    pub rtt_min_ms: u32,
    /// Largest base round-trip time, in milliseconds.
    pub rtt_max_ms: u32,
    /// Number of base round-trip times, evenly spaced.
    pub classes: u32,
}

impl Dumbbell {
    /// Rate of the bottleneck, in bits per second.
    pub fn rate_bps(&self) -> f64 {
        f64::from(self.rate_kbps) * 1e3
    }

    /// Base round-trip time of a class, in milliseconds.
    pub fn rtt_ms(&self, class: u32) -> f64 {
        let range = f64::from(self.rtt_max_ms - self.rtt_min_ms);
        let steps = f64::from((self.classes - 1).max(1));
        f64::from(self.rtt_min_ms) + range * f64::from(class) / steps
    }

    /// Arguments of both programs, without the duration.
    pub fn arguments(&self) -> [String; 6] {
        [
            format!("flows={}", self.flows),
            format!("rate={}", self.rate_bps() / 1e6),
            format!("buffer={}", self.buffer),
            format!("rtt_min={}", self.rtt_min_ms),
            format!("rtt_max={}", self.rtt_max_ms),
            format!("classes={}", self.classes),
        ]
    }
}

/// Returns all cases in the order in which they run.
pub fn all() -> Vec<Case> {
    let many = Dumbbell {
        flows: 100,
        rate_kbps: 50_000,
        buffer: 688,
        rtt_min_ms: 20,
        rtt_max_ms: 534,
        classes: 18,
    };
    let one_class = |rtt_ms, flows, rate_kbps, buffer| Dumbbell {
        flows,
        rate_kbps,
        buffer,
        rtt_min_ms: rtt_ms,
        rtt_max_ms: rtt_ms,
        classes: 1,
    };
    let fixed = |name: &str, scenario, dumbbell, duration_s| Case {
        name: name.to_owned(),
        scenario,
        overrides: Vec::new(),
        dumbbell: Some(dumbbell),
        duration_s,
        beside: None,
    };
    let s1 = include_str!("../../../scenarios/s1.toml");
    let s2 = include_str!("../../../scenarios/s2.toml");
    let s3 = include_str!("../../../scenarios/s3.toml");
    let s4 = include_str!("../../../scenarios/s4.toml");
    let more = Dumbbell {
        flows: 400,
        buffer: 3200,
        ..many
    };
    let mut cases = vec![
        fixed("s1", s1, many, 200),
        fixed("s2", s2, more, 200),
        fixed("s3", s3, one_class(40, 1, 10_000, 33), 1000),
        fixed("s4", s4, one_class(20, 10, 1_000_000, 1667), 20),
    ];
    cases.insert(1, linux(&cases[0]));
    cases.push(red(&cases[0]));
    cases.extend([10, 100, 400, 1000, 4000].map(growth));
    cases.push(many_flows());
    cases
}

/// Returns a case with a thousand long flows and a hundred thousand short connections. ns-2 does
/// not run it.
fn many_flows() -> Case {
    Case {
        name: "many-flows".to_owned(),
        scenario: include_str!("../../../scenarios/many-flows.toml"),
        overrides: Vec::new(),
        dumbbell: None,
        duration_s: 40,
        beside: None,
    }
}

/// Returns the first case with the `linux` profile: CUBIC, timestamps, delayed ACKs, and a record
/// of every transmission. Packets have the same payload as before. ns-2 does not run it.
fn linux(s1: &Case) -> Case {
    let tcp = ("tcp".to_owned(), "{ profile = \"linux\" }".to_owned());
    Case {
        name: "s1-linux".to_owned(),
        overrides: vec![tcp],
        dumbbell: None,
        beside: Some("s1"),
        ..s1.clone()
    }
}

/// Returns the first case with RED at the bottleneck, which shows the cost of a queue discipline
/// that does work for every packet.
fn red(s1: &Case) -> Case {
    Case {
        name: "s5".to_owned(),
        scenario: include_str!("../../../scenarios/s5.toml"),
        dumbbell: None,
        beside: Some("s1"),
        ..s1.clone()
    }
}

/// Returns a case with `flows` flows, 500 kb/s of bottleneck rate for each, and 100 ms of buffer.
fn growth(flows: u32) -> Case {
    let rate_kbps = 500 * flows;
    // The buffer has room for 100 ms of full packets and the packet in transmission, which ns-2
    // counts too.
    let buffer = (u64::from(rate_kbps) * 100 / 12_000 + 1) as u32;
    let set = |key: &str, value: String| (key.to_owned(), value);
    Case {
        name: format!("grow-{flows}"),
        scenario: include_str!("../../../scenarios/growth.toml"),
        overrides: vec![
            set("flow.bulk.count", flows.to_string()),
            set("topology.bottleneck.rate", format!("{rate_kbps}kbps")),
        ],
        dumbbell: Some(Dumbbell {
            flows,
            rate_kbps,
            buffer,
            rtt_min_ms: 20,
            rtt_max_ms: 534,
            classes: 18,
        }),
        duration_s: 50,
        beside: None,
    }
}

/// Returns the case with this name: one of [`all`], or `crowd-N` or `crowd-N-linux` for any number
/// of flows N.
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

/// Returns a case with `flows` flows and 500 kb/s of bottleneck rate for each, under the `rfc` or
/// the `linux` profile. It lasts five seconds, and all flows are active after the first second: it
/// measures the memory that an active flow takes.
fn crowd(flows: u32, linux: bool) -> Case {
    let mut case = growth(flows);
    let profile = if linux { "linux" } else { "rfc" };
    case.name = format!("crowd-{flows}{}", if linux { "-linux" } else { "" });
    case.dumbbell = None;
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

/// Returns a case with `flows` flows that lasts long enough for all of them to start.
pub fn idle(flows: u32) -> Case {
    let mut case = growth(flows);
    case.overrides
        .push(("duration".to_owned(), "1000s".to_owned()));
    case
}

impl Case {
    /// Parses the scenario of the case as `goodqueue run` parses the file.
    pub fn scenario(&self) -> Scenario {
        Scenario::parse(self.scenario.as_bytes(), &self.name, &self.overrides)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_queue::{Configuration, Limit};
    use goodqueue_sim::{run, run_while};
    use goodqueue_tcp::{Profile, TcpConfig};
    use goodqueue_types::{Span, Time};

    /// Goodqueue and the other simulators run the same scenario.
    #[test]
    fn scenarios_and_parameters_of_peers_agree() {
        for case in all() {
            let Some(dumbbell) = case.dumbbell else {
                continue;
            };
            let name = &case.name;
            let network = case.scenario().network();
            let end = Time::ZERO + Span::from_secs(u64::from(case.duration_s));
            assert_eq!(network.end, end, "{name}");
            assert_eq!(network.flows.len(), dumbbell.flows as usize, "{name}");
            let bottleneck = &network.links[0];
            let rate = bottleneck.rate.0;
            assert_eq!(rate, u64::from(dumbbell.rate_kbps) * 1000, "{name}");
            let waiting = match bottleneck.queue.limit() {
                Limit::Packets(packets) => packets,
                Limit::Bytes(bytes) => bytes / 1500,
                Limit::Unlimited => panic!("{name}: no limit"),
            };
            assert_eq!(waiting + 1, u64::from(dumbbell.buffer), "{name}");
            let scenario = case.scenario;
            let [least, most] =
                [0, dumbbell.classes - 1].map(|class| format!("{}ms", dumbbell.rtt_ms(class)));
            assert!(scenario.contains(&format!("\"{least}\"")), "{name}");
            assert!(scenario.contains(&format!("\"{most}\"")), "{name}");
        }
    }

    /// The `linux` case has the same link, packets and flows as the case that it is compared with.
    #[test]
    fn the_linux_case_differs_in_tcp_alone() {
        let cases = all();
        let [s1, linux] = [&cases[0], &cases[1]].map(|case| case.scenario().network());
        assert_eq!(cases[1].beside, Some(cases[0].name.as_str()));
        assert_eq!(format!("{:?}", s1.links), format!("{:?}", linux.links));
        assert_eq!(s1.flows.len(), linux.flows.len());
        assert_eq!(s1.end, linux.end);
        let frame = |tcp: &TcpConfig| tcp.mss + u32::from(tcp.header);
        let [ours, theirs] = [&s1, &linux].map(|network| {
            let bulk = network.flows[0].workload.as_bulk();
            bulk.expect("the flows are bulk flows").0.clone()
        });
        // The timestamps option adds twelve bytes to every packet.
        assert_eq!(frame(&ours), frame(&theirs) + 12);
        assert_eq!(*theirs, TcpConfig::profile(Profile::Linux));
    }

    /// The timed function has the same result as the interruptible function that `goodqueue run`
    /// uses.
    #[test]
    fn results_are_those_of_a_run() {
        let mut case = growth(20);
        case.overrides
            .push(("duration".to_owned(), "10s".to_owned()));
        let network = case.scenario().network();
        assert_eq!(Some(run(&network)), run_while(&network, |_| true));
    }
}
