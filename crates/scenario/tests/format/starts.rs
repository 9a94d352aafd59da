//! Start times of flows, and flows that begin between two losses.

use crate::{DUMBBELL, parse};
use goodqueue_scenario::Scenario;
use goodqueue_types::{Span, Time};

#[test]
fn starts_are_staggered_and_jittered_by_the_seed_alone() {
    let starts = |seed| -> Vec<Time> {
        let network = parse(DUMBBELL).with_seed(seed).network();
        network.flows.iter().map(|flow| flow.start).collect()
    };
    let first = starts(7);
    assert_eq!(first[..2], [Time::ZERO; 2]);
    for (i, start) in first[2..].iter().enumerate() {
        let late = start.as_secs_f64() - 1.0 - 2.0 * i as f64;
        assert!((0.0..0.5).contains(&late), "{late}");
    }
    assert_eq!(first, starts(7));
    assert_ne!(first, starts(8));
    // Only flows that say nothing of jitter take a default.
    let jittered = parse(DUMBBELL)
        .with_default_jitter(Span::from_secs(1))
        .network();
    assert!(
        jittered.flows[..2]
            .iter()
            .all(|flow| flow.start > Time::ZERO)
    );
    assert!((2..5).all(|i| jittered.flows[i].start == first[i]));
}

/// The starts of a group with these keys in a run of 60 s, in milliseconds; the file with all
/// defaults written out must give the same.
fn starts_of(keys: &str, seed: u64) -> Vec<f64> {
    let text = format!(
        "schema_version = 1\nduration = \"60s\"\nseed = {seed}\n[topology]\nshape = \"dumbbell\"\n\
         [topology.bottleneck]\nrate = \"1Mbps\"\ndelay = \"10ms\"\nqueue = {{ limit = \"100p\" }}\n\
         [[flow]]\n{keys}\n"
    );
    let scenario = parse(&text);
    let starts = |scenario: &Scenario| -> Vec<f64> {
        let flows = scenario.network().flows;
        let start = |flow: &goodqueue_sim::FlowConfig| flow.start.as_secs_f64() * 1e3;
        flows.iter().map(start).collect()
    };
    assert_eq!(starts(&parse(&scenario.resolved_toml())), starts(&scenario));
    starts(&scenario)
}

#[test]
fn starts_of_a_group_without_start_keys_are_spread() {
    let bulk = "workload = { kind = \"bulk\" }";
    for (keys, from, width) in [
        (format!("count = 200\n{bulk}"), 0.0, 100.0),
        // The spread is a tenth of the 0.5 s that are left of the run.
        (
            format!("count = 200\nstart = \"59.5s\"\n{bulk}"),
            59_500.0,
            50.0,
        ),
        (
            "count = 200\nworkload = { kind = \"ping\" }".to_owned(),
            0.0,
            1_000.0,
        ),
        (
            "count = 200\nworkload = { kind = \"voice\" }".to_owned(),
            0.0,
            20.0,
        ),
        (
            "count = 200\nworkload = { kind = \"game\", interval = \"50ms\" }".to_owned(),
            0.0,
            50.0,
        ),
        // 100 bytes at 2 kb/s.
        (
            "count = 200\nworkload = { kind = \"cbr\", rate = \"2kbps\", packet = \"100B\" }"
                .to_owned(),
            0.0,
            400.0,
        ),
    ] {
        for seed in 1..=3 {
            let mut starts = starts_of(&keys, seed);
            starts.sort_by(f64::total_cmp);
            let distances = starts
                .iter()
                .zip(1_u32..)
                .map(|(start, rank)| ((start - from) / width - f64::from(rank) / 200.0).abs());
            // The 0.1 % point of Kolmogorov's distribution, against all starts being equally likely.
            let distance = distances.fold(0.0, f64::max);
            assert!(distance < 1.95 / 200.0_f64.sqrt(), "{keys}: {distance}");
            let (first, last) = (starts[0], starts[199]);
            assert!(
                first >= from && last < from + width,
                "{keys}: {first} to {last}"
            );
        }
    }
}

#[test]
fn a_flow_alone_and_a_group_that_says_when_start_as_written() {
    let bulk = "workload = { kind = \"bulk\" }";
    assert_eq!(starts_of(&format!("start = \"1s\"\n{bulk}"), 1), [1_000.0]);
    for said in ["start_jitter = \"0s\"", "start_interval = \"0s\""] {
        assert_eq!(
            starts_of(&format!("count = 3\n{said}\n{bulk}"), 1),
            [0.0; 3]
        );
    }
    let staggered = starts_of(&format!("count = 3\nstart_interval = \"10ms\"\n{bulk}"), 1);
    assert_eq!(staggered, [0.0, 10.0, 20.0]);
}

/// Four flows whose last losses came at 40 and 20 segments in turn, at places drawn by the seed.
#[test]
fn flows_may_begin_between_two_losses() {
    let text = DUMBBELL.replace(
        "start_interval = \"2s\"",
        "peak_window = [\"40p\", \"20p\"]",
    );
    let text = text.replace(
        "profile = \"inet2011\", ",
        "congestion_control = \"cubic\", ",
    );
    let scenario = parse(&text);
    let places = |scenario: &Scenario| -> Vec<_> {
        let flows = scenario.network().flows.into_iter();
        flows.map(|flow| flow.between_losses).collect()
    };
    let drawn = places(&scenario);
    assert_eq!(&drawn[..2], [None, None]);
    let peaks: Vec<u32> = drawn[2..]
        .iter()
        .flatten()
        .map(|place| place.peak)
        .collect();
    assert_eq!(peaks, [40, 20, 40]);
    let phases: Vec<f64> = drawn[2..].iter().flatten().map(|one| one.phase).collect();
    assert!(phases.iter().all(|phase| (0.0..=1.0).contains(phase)));
    assert!(phases.windows(2).all(|two| (two[0] - two[1]).abs() > 1e-9));
    let again = parse(&scenario.resolved_toml());
    assert_eq!(places(&again), drawn);
    let other = parse(&text.replace("seed = 7", "seed = 8"));
    assert_ne!(places(&other), drawn);
    let spread = "]\npeak_spread = 0.5";
    let spread = text.replace("\"20p\"]", &format!("\"20p\"{spread}"));
    let spread = parse(&spread.replace("count = 3", "count = 200"));
    for (place, peak) in [(0, 40.0), (1, 20.0)] {
        let peaks = places(&spread).into_iter().flatten().skip(place).step_by(2);
        let shares: Vec<f64> = peaks.map(|one| f64::from(one.peak) / peak).collect();
        assert_eq!(shares.len(), 100);
        assert!(shares.iter().all(|share| (0.5..=1.5).contains(share)));
        assert!(shares.iter().any(|share| *share < 0.6) && shares.iter().any(|share| *share > 1.4));
    }
    assert_eq!(places(&parse(&spread.resolved_toml())), places(&spread));
}

#[test]
fn only_bulk_flows_that_keep_a_share_begin_between_losses() {
    let flow = |workload: &str, control: &str| {
        let many = "name = \"many\"\ncount = 3";
        let (head, _) = DUMBBELL.split_once(many).expect("its last group");
        let text = format!(
            "{head}{many}\npeak_window = \"40p\"\nworkload = {{ kind = \"{workload}\" }}\n{control}"
        );
        Scenario::parse(text.as_bytes(), "test", &[]).map_err(|error| error.to_string())
    };
    let vegas = flow("bulk", "tcp = { congestion_control = \"vegas\" }").unwrap_err();
    assert!(vegas.contains("reno, gaimd, cubic or scalable"), "{vegas}");
    let ping = flow("ping", "").unwrap_err();
    assert!(ping.contains("belongs to bulk flows"), "{ping}");
    assert!(flow("bulk", "").is_ok());
    let alone = DUMBBELL.replace("start_interval = \"2s\"", "peak_spread = 0.5");
    let error = Scenario::parse(alone.as_bytes(), "test", &[]).unwrap_err();
    assert!(error.to_string().contains("without a window"), "{error}");
}

/// A link of 10 Mb/s on which one flow sends for 20 s and another one stops after 5 s.
const STOPPING: &str = "schema_version = 1\nduration = \"20s\"\nwarmup = \"10s\"\n[topology]\nshape = \"dumbbell\"\n\
    [topology.bottleneck]\nrate = \"10Mbps\"\ndelay = \"10ms\"\nqueue = { limit = \"30p\" }\n\
    [[flow]]\nname = \"stays\"\nworkload = { kind = \"bulk\" }\n\
    [[flow]]\nname = \"goes\"\nstop = \"5s\"\nworkload = { kind = \"bulk\" }\n";

#[test]
fn a_flow_that_stops_leaves_the_link_to_the_other() {
    let scenario = parse(STOPPING);
    let again = parse(&scenario.resolved_toml());
    let stops = |scenario: &Scenario| -> Vec<_> {
        let flows = scenario.network().flows.into_iter();
        flows.map(|flow| flow.stop).collect()
    };
    assert_eq!(
        stops(&scenario),
        [None, Some(Time::ZERO + Span::from_secs(5))]
    );
    assert_eq!(stops(&again), stops(&scenario));
    let long = scenario.long_flows("bottleneck").unwrap();
    let names: Vec<_> = long.iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["stays"]);
    let outcome = goodqueue_sim::run(&scenario.network());
    let [stays, goes] = &outcome.flows[..] else {
        panic!("two flows")
    };
    // Data in flight at 5 s are acknowledged within a few round trips of at most 60 ms.
    let end = goes.completion_time_s.expect("its FIN is acknowledged");
    assert!((5.0..5.5).contains(&end), "{end}");
    assert!(goes.goodput_bps < 1.0, "{}", goes.goodput_bps);
    // 1448 or 1460 bytes of data in each frame of at most 1500 bytes on the wire.
    assert!(stays.goodput_bps > 0.93 * 10e6, "{}", stays.goodput_bps);
}

#[test]
fn a_flow_that_would_stop_after_the_run_is_endless() {
    let endless = parse(&STOPPING.replace("stop = \"5s\"\n", ""));
    for stop in ["20s", "30s"] {
        let later = parse(&STOPPING.replace("\"5s\"", &format!("\"{stop}\"")));
        assert!(later.network().flows.iter().all(|flow| flow.stop.is_none()));
        assert_eq!(later.long_flows("bottleneck").unwrap().len(), 2);
        let outcomes = [&later, &endless].map(|one| goodqueue_sim::run(&one.network()));
        assert_eq!(outcomes[0].flows[1].limited, outcomes[1].flows[1].limited);
    }
}

#[test]
fn only_endless_bulk_flows_may_stop() {
    let refused = |from: &str, to: &str| {
        let text = STOPPING.replace(from, to);
        assert_ne!(text, STOPPING);
        let parsed = Scenario::parse(text.as_bytes(), "test", &[]);
        parsed.map(|_| ()).expect_err(to).to_string()
    };
    let last = "stop = \"5s\"\nworkload = { kind = \"bulk\" }";
    let sized = "stop = \"5s\"\nworkload = { kind = \"bulk\", size = \"1MB\" }";
    assert!(refused(last, sized).contains("bulk flows without end"));
    let ping = "stop = \"5s\"\nworkload = { kind = \"ping\" }";
    assert!(refused(last, ping).contains("bulk flows without end"));
    let between = "stop = \"5s\"\npeak_window = \"40p\"\nworkload = { kind = \"bulk\" }";
    assert!(refused(last, between).contains("between two losses"));
    let late = refused("stop = \"5s\"", "stop = \"5s\"\nstart = \"5s\"");
    assert!(late.contains("only after it stops"), "{late}");
}
