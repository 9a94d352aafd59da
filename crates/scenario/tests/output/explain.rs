//! The life of a flow has every event of its packets, and explains each timeout and each drop.

use goodqueue_scenario::Scenario;
use goodqueue_sim::{LifeRange, Network};
use goodqueue_types::{FlowId, Span, Time};
use serde_json::Value;
use std::path::Path;

fn golden(name: &str) -> (Scenario, Network) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let scenario = Scenario::load(&folder.join(format!("{name}.toml")), &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = scenario.network();
    (scenario, network)
}

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Span::from_millis(milliseconds)
}

fn life(name: &str, range: LifeRange) -> Value {
    let (scenario, network) = golden(name);
    let life = scenario.explain(&network, range, |_| true);
    life.expect("nothing stops the run")
}

fn whole(flow: u32) -> LifeRange {
    LifeRange {
        flow: FlowId(flow),
        from: Time::ZERO,
        to: Time::MAX,
        most: usize::MAX,
    }
}

fn records(life: &Value) -> &Vec<Value> {
    life["records"].as_array().expect("a list")
}

fn count(life: &Value, event: &str) -> usize {
    let of_kind = |record: &&Value| record["event"] == event;
    records(life).iter().filter(of_kind).count()
}

#[test]
fn a_life_has_all_packet_events_of_its_flow() {
    let (_, mut network) = golden("timeout");
    network.record.packets = true;
    let outcome = goodqueue_sim::run(&network);
    for flow in 0..2 {
        let events = outcome.packets.iter();
        let expected = events.filter(|event| event.packet.flow == FlowId(flow));
        let life = life("timeout", whole(flow));
        let states = count(&life, "sender_state");
        assert_eq!(records(&life).len() - states, expected.count());
    }
}

#[test]
fn turns_agree_with_the_results() {
    let (_, network) = golden("timeout");
    let outcome = goodqueue_sim::run(&network);
    for (index, flow) in outcome.flows.iter().enumerate() {
        let life = life("timeout", whole(index as u32));
        let turns = |name: &str| life["turns"][name].as_array().unwrap().len() as u64;
        assert!(flow.timeouts > 0);
        assert_eq!(turns("timeout"), flow.timeouts);
        assert_eq!(turns("dropped"), count(&life, "dropped") as u64);
        // No ACK is lost in this run.
        assert_eq!(turns("dropped"), flow.packets_lost);
    }
}

#[test]
fn retransmissions_agree_with_the_results() {
    let (_, network) = golden("impairments");
    let outcome = goodqueue_sim::run(&network);
    let life = life("impairments", whole(0));
    let again = |record: &&Value| record["is_retransmission"] == true;
    let again = records(&life).iter().filter(again).count() as u64;
    assert!(again > 10);
    assert_eq!(again, outcome.flows[0].retransmissions);
}

#[test]
fn a_limit_keeps_the_first_records() {
    let all = life("codel-ecn", whole(1));
    let few = LifeRange {
        most: 500,
        ..whole(1)
    };
    let few = life("codel-ecn", few);
    let end = few["whole_before_s"].as_f64().expect("it is cut");
    let kept = records(&few);
    assert!(kept.len() > 300 && kept.len() <= 500);
    assert_eq!(kept[..], records(&all)[..kept.len()]);
    let next = records(&all)[kept.len()]["time_s"].as_f64().unwrap();
    assert!(next >= end);
    assert_eq!(few["turns"], all["turns"]);
}

#[test]
fn a_range_of_time_has_the_records_of_that_time() {
    let all = life("codel-ecn", whole(0));
    let range = LifeRange {
        from: at(1_000),
        to: at(1_200),
        ..whole(0)
    };
    let part = life("codel-ecn", range);
    let within: Vec<&Value> = records(&all)
        .iter()
        .filter(|record| (1.0..=1.2).contains(&record["time_s"].as_f64().unwrap()))
        .collect();
    assert!(within.len() > 100);
    assert_eq!(records(&part).iter().collect::<Vec<_>>(), within);
    // The state before the range is the one after the last record before it.
    let before = records(&all).iter().rev().find(|record| {
        record["event"] == "sender_state" && record["time_s"].as_f64().unwrap() < 1.0
    });
    let cwnd = &before.expect("the flow has begun")["cwnd_bytes"];
    assert_eq!(&part["before"]["cwnd_bytes"], cwnd);
}

#[test]
fn the_waiting_time_of_a_drop_is_the_time_since_its_arrival() {
    let life = life("codel-ecn", whole(1));
    let mut checked = 0;
    for drop in records(&life).iter().filter(|r| r["event"] == "dropped") {
        let arrival = records(&life).iter().find(|record| {
            record["event"] == "arrived"
                && record["link"] == drop["link"]
                && record["number"] == drop["number"]
                && record["direction"] == drop["direction"]
        });
        let arrived = arrival.expect("it arrived")["time_s"].as_f64().unwrap();
        let waited = drop["waited_s"].as_f64().expect("it is known");
        assert!((drop["time_s"].as_f64().unwrap() - arrived - waited).abs() < 1e-9);
        // CoDel drops a packet only after more than its target of 5 ms.
        assert!(waited > 0.005, "{waited}");
        checked += 1;
    }
    assert!(checked > 5);
}

#[test]
fn a_flow_is_found_by_name_or_by_number_in_its_group() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/timeout.toml"),
    );
    let text = text
        .unwrap()
        .replace("name = \"first\"", "name = \"first\"\ncount = 3");
    let scenario = Scenario::parse(text.as_bytes(), "three", &[]).unwrap();
    let network = scenario.network();
    let found = |name: &str| scenario.explained_flow(&network, name).map(|flow| flow.0);
    assert_eq!(found("first.2"), Ok(2));
    assert_eq!(found("first[2]"), Ok(2));
    assert_eq!(found("first"), Ok(0));
    assert_eq!(found("second"), Ok(3));
    assert_eq!(found("second[0]"), Ok(3));
    let error = found("secnod").unwrap_err();
    assert_eq!(error.help, "did you mean \"second\"?");
    assert!(found("first[3]").is_err());
    assert!(found("second[1]").is_err());
}
