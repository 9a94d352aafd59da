//! Hosts of flows that name no profile, which the version of the format decides.

use super::{parse, parse_with};
use goodqueue_scenario::Scenario;
use goodqueue_sim::WorkloadConfig;
use goodqueue_tcp::{Profile, TcpConfig};

/// A scenario of this version, with these tables of TCP for all flows and for the first one.
fn text(schema_version: u32, common: &str, own: &str) -> String {
    format!(
        "schema_version = {schema_version}\nduration = \"1s\"\n[topology]\nshape = \"dumbbell\"\n\
         bottleneck = {{ rate = \"1Mbps\", delay = \"1ms\", queue = {{ limit = \"9p\" }} }}\n\
         [tcp]\n{common}\n[[flow]]\nname = \"first\"\nworkload = {{ kind = \"bulk\" }}\n\
         tcp = {{ {own} }}\n[[flow]]\nname = \"second\"\nworkload = {{ kind = \"bulk\" }}\n\
         [[flow]]\nname = \"ping\"\nworkload = {{ kind = \"ping\", interval = \"100ms\" }}\n"
    )
}

/// TCP of the first flow.
fn hosts(scenario: &Scenario) -> TcpConfig {
    match &scenario.network().flows[0].workload {
        WorkloadConfig::Stream { tcp, .. } => TcpConfig::clone(tcp),
        other => panic!("{other:?}"),
    }
}

#[test]
fn version_2_assumes_linux_and_version_1_the_standards() {
    for (version, profile) in [(1, Profile::Rfc), (2, Profile::Linux)] {
        let scenario = parse(&text(version, "", ""));
        assert_eq!(hosts(&scenario), TcpConfig::profile(profile));
        assert_eq!(
            scenario.assumed_hosts(),
            Some((profile, vec!["first", "second"]))
        );
    }
}

#[test]
fn a_named_profile_means_the_same_in_both_versions() {
    for profile in ["rfc", "inet2011", "ns2", "linux", "prague"] {
        let common = format!("profile = \"{profile}\"");
        let [old, new] = [1, 2].map(|version| parse(&text(version, &common, "nagle = false")));
        assert_eq!(old.resolved_toml(), new.resolved_toml());
        assert_eq!(new.assumed_hosts(), None);
    }
    let own = parse(&text(2, "", "profile = \"rfc\""));
    assert_eq!(hosts(&own), TcpConfig::profile(Profile::Rfc));
    assert_eq!(own.assumed_hosts(), Some((Profile::Linux, vec!["second"])));
}

#[test]
fn single_keys_change_the_assumed_hosts() {
    let scenario = parse(&text(
        2,
        "congestion_control = \"reno\"",
        "receive_window = \"9kB\"",
    ));
    let wanted = TcpConfig {
        congestion_control: TcpConfig::profile(Profile::Rfc).congestion_control,
        receive_window: 9_000,
        ..TcpConfig::profile(Profile::Linux)
    };
    assert_eq!(hosts(&scenario), wanted);
}

#[test]
fn a_resolved_scenario_assumes_nothing_and_is_the_same_in_both_versions() {
    for version in [1, 2] {
        let resolved = parse(&text(version, "", "")).resolved_toml();
        let old = parse(&resolved);
        assert_eq!(old.assumed_hosts(), None);
        let new = parse_with(&resolved, &["schema_version=2"]);
        assert_eq!(new.resolved_toml(), resolved);
    }
}

#[test]
fn an_override_of_the_version_changes_the_assumed_hosts() {
    let scenario = parse_with(&text(1, "", ""), &["schema_version=2"]);
    assert_eq!(hosts(&scenario), TcpConfig::profile(Profile::Linux));
}
