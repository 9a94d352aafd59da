//! Workloads that depend on files (distributions of sizes) or on links (loads in percent).

use goodqueue_scenario::{Scenario, ScenarioError};
use goodqueue_sim::{Law, Network, SessionConfig, WorkloadConfig, run};
use std::path::{Path, PathBuf};

fn text(workload: &str) -> String {
    format!(
        "schema_version = 1
duration = \"60s\"
[topology]
shape = \"dumbbell\"
framing = \"18B\"
access = {{ rate = \"1Gbps\" }}
[topology.bottleneck]
rate = \"10Mbps\"
delay = \"5ms\"
queue = {{ limit = \"200p\" }}
reverse = {{ rate = \"40Mbps\" }}
[[flow]]
name = \"user\"
workload = {workload}
tcp = {{ mss = \"1460B\" }}
"
    )
}

fn read(workload: &str, file: &Path) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text(workload).as_bytes(), &file.display().to_string(), &[])
}

fn good(workload: &str) -> Scenario {
    read(workload, Path::new("scenario.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// A folder of this test's own with a file of sizes.
fn folder(name: &str, sizes: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("it can be made");
    std::fs::write(folder.join("sizes.csv"), sizes).expect("it can be written");
    folder
}

fn transfers(network: &Network) -> (&Law, Law) {
    let WorkloadConfig::Session { session, .. } = &network.flows[0].workload else {
        panic!("no session")
    };
    let SessionConfig::Transfers(config) = &**session else {
        panic!("no transfers")
    };
    (&config.size, config.gap())
}

#[test]
fn measured_sizes_are_found_beside_the_scenario_and_known_by_their_checksum() {
    let folder = folder("sizes", "size,share\n1kB,0.5\n3kB,1\n");
    let file = folder.join("scenario.toml");
    let workload = "{ kind = \"transfers\", load = \"1Mbps\", size = { law = \"empirical\", file = \"sizes.csv\" } }";
    let scenario = read(workload, &file).unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    let (size, gap) = transfers(&network);
    // Half of all is 1 kB, half is 2 kB on average: a mean of 12,000 bits at 1 Mb/s.
    assert!((size.mean() - 1_500.0).abs() < 1e-9);
    assert!((gap.mean() - 0.012).abs() < 1e-12);
    let resolved = scenario.resolved_toml();
    let again = Scenario::parse(resolved.as_bytes(), "elsewhere/resolved.toml", &[])
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.resolved_toml(), resolved);
    assert_eq!(format!("{network:?}"), format!("{:?}", again.network()));

    std::fs::write(folder.join("sizes.csv"), "size,share\n1kB,0.5\n4kB,1\n").expect("changed");
    let error = Scenario::parse(resolved.as_bytes(), "resolved.toml", &[]).expect_err("another");
    assert_eq!(error.key, "flow.0.workload.size.checksum");
    std::fs::write(folder.join("sizes.csv"), "size,share\n1kB,0.5\n4kB,0.9\n").expect("changed");
    let error = read(workload, &file).expect_err("it does not end at 1");
    assert_eq!(
        (error.line, error.key.as_str()),
        (Some(14), "flow.0.workload.size.file")
    );
    assert!(error.message.contains("sizes.csv, line 3"), "{error}");
    let long = " ".repeat(2 << 20);
    std::fs::write(folder.join("sizes.csv"), long).expect("changed");
    let error = read(workload, &file).expect_err("it is too long");
    assert!(error.message.contains("more than 1 MiB"), "{error}");
    let missing = workload.replace("sizes.csv", "none.csv");
    assert!(read(&missing, &file).is_err());
    // A time from a file of sizes.
    let times = "{ kind = \"web\", think = { law = \"empirical\", file = \"sizes.csv\" } }";
    std::fs::write(folder.join("sizes.csv"), "size,share\n1kB,1\n").expect("changed");
    let error = read(times, &file).expect_err("sizes are no times");
    assert!(error.help.contains("time,share"), "{error}");
}

/// Frames of data over the link's rate; ACKs, handshakes and retransmissions come on top.
#[test]
fn a_load_is_the_share_that_the_frames_of_data_take() {
    // 14,600 bytes are ten segments of 1460 + 40 + 18 bytes: 121,440 bits.
    for (direction, of, rate) in [
        ("up", "", 10e6),
        ("down", "", 40e6),
        ("down", ", of = \"bottleneck.reverse\"", 40e6),
    ] {
        let workload = format!(
            "{{ kind = \"transfers\", size = \"14600B\", direction = \"{direction}\", load = \"60%\"{of} }}"
        );
        let network = good(&workload).network();
        let (_, gap) = transfers(&network);
        let expected = 121_440.0 / (0.6 * rate);
        assert!(
            (gap.mean() / expected - 1.0).abs() < 1e-9,
            "{direction}: {gap:?}"
        );
    }
    let workload = "{ kind = \"transfers\", size = { law = \"exponential\", mean = \"30kB\" }, \
                    load = \"60%\", direction = \"down\" }";
    let (mut sum, runs) = (0.0, 8_u32);
    for seed in 1..=runs {
        let scenario = good(workload).with_seed(seed.into());
        sum += run(&scenario.network()).links[1].utilization;
    }
    let mean = sum / f64::from(runs);
    println!("{mean}");
    // 480 s of 98 transfers a second: squared sizes make the deviation sqrt(2 / 47,000) of the
    // mean. SYN-ACKs and FINs of 58 bytes add 0.4 % to 31,200 bytes.
    assert!((mean / 0.6 - 1.004).abs() < 4.0 * (2.0_f64 / 47_000.0).sqrt());
}

#[test]
fn a_share_needs_a_link_that_the_data_cross() {
    let wrong = |keys: &str| {
        let workload = format!("{{ kind = \"transfers\", size = \"10kB\", {keys} }}");
        read(&workload, Path::new("scenario.toml")).expect_err("it is wrong")
    };
    let error = wrong("load = \"60%\", of = \"bottleneck.reverse\"");
    assert_eq!(error.key, "flow.0.workload.of");
    assert!(error.help.contains("they cross bottleneck"), "{error}");
    let error = wrong("load = \"1Mbps\", of = \"bottleneck\"");
    assert!(error.help.contains("percentage"), "{error}");
    let error = wrong("load = \"60%\", interval = \"1s\"");
    assert!(error.message.contains("the same thing twice"), "{error}");
    assert!(wrong("load = \"0%\"").message.contains("no load"));
    assert!(wrong("load = \"160%\"").message.contains("above 100 %"));
    assert!(wrong("load = 0.6").message.contains("no unit"));
}

/// Above 2^52 ps (75 minutes) a number of seconds is no longer exact to the picosecond.
#[test]
fn long_intervals_are_the_same_after_they_are_written_out() {
    let mut picos = 6_681_634_898_336_416_u64;
    for _ in 0..3_000 {
        picos = picos
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let interval = 1_000_000_000_000 + (picos >> 7) % (1 << (41 + picos % 16));
        for intervals in ["exponential", "fixed"] {
            let workload = format!(
                "{{ kind = \"transfers\", size = \"30kB\", interval = \"{interval}ps\", \
                 intervals = \"{intervals}\" }}"
            );
            let scenario = good(&workload);
            let resolved = scenario.resolved_toml();
            let again = Scenario::parse(resolved.as_bytes(), "resolved", &[]);
            let again = again.unwrap_or_else(|error| panic!("{error}\n{resolved}"));
            let networks = [&scenario, &again].map(|one| format!("{:?}", one.network()));
            assert_eq!(networks[0], networks[1], "{interval}");
            assert_eq!(again.resolved_toml(), resolved, "{interval}");
        }
    }
}
