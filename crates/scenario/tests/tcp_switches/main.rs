//! Whatever switches of TCP are combined, a link keeps sane: what is sent again was lost, the link is
//! used, and losses are those of the law of the congestion control. `TCP_SWITCHES_CASES` is the number
//! of combinations, `TCP_SWITCHES_SEED` the first seed; both are printed.

mod road;
mod switches;

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;
use goodqueue_types::RandomStream;
use road::{Fault, Road, Seen, config, fault, look};
use switches::{Choice, Switch};

/// What is wrong with a run of this `[tcp]`, and what was seen: None if the file is refused.
fn look_at(road: Road, tcp: &str) -> Option<(Option<Fault>, Seen)> {
    let text = road.toml() + tcp;
    let network = match Scenario::parse(text.as_bytes(), "switches", &[]) {
        Ok(scenario) => scenario.network(),
        Err(error) => {
            let says_what_to_do = !error.key.is_empty() && !error.help.is_empty();
            assert!(says_what_to_do, "{error}\n{text}");
            return None;
        }
    };
    let seen = look(&network, &run(&network));
    Some((fault(road, config(&network), &seen), seen))
}

/// The fewest of the switches that show the same fault, as a table of a file.
fn shrink(road: Road, switches: &[Switch], mut choices: Vec<Choice>, same: Fault) -> String {
    let mut at = 0;
    while at < choices.len() {
        let mut fewer = choices.clone();
        fewer.remove(at);
        match look_at(road, &switches::toml(switches, &fewer)) {
            Some((Some(fault), _)) if fault == same => choices = fewer,
            _ => at += 1,
        }
    }
    switches::toml(switches, &choices)
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn any_combination_keeps_sane() {
    let switches = switches::all();
    let cases = variable("TCP_SWITCHES_CASES", 300);
    let first = variable("TCP_SWITCHES_SEED", 1);
    println!("TCP_SWITCHES_SEED={first} TCP_SWITCHES_CASES={cases}");
    let (mut ran, mut judged_by_law, mut faults) = (0, 0, Vec::new());
    for seed in first..first + cases {
        let mut random = RandomStream::new(seed, "switches", 0);
        let choices = switches::draw(&switches, &mut random);
        let road = Road::draw(&mut random);
        let Some((fault, seen)) = look_at(road, &switches::toml(&switches, &choices)) else {
            continue;
        };
        ran += 1;
        judged_by_law += u64::from(seen.law_holds);
        if let Some(fault) = fault {
            let fewest = shrink(road, &switches, choices, fault);
            faults.push(format!(
                "TCP_SWITCHES_SEED={seed}: {fault:?} {seen:.4?} {road:?}\n{fewest}"
            ));
        }
    }
    println!("{ran} of {cases} combinations are allowed, the law holds for {judged_by_law}");
    assert!(2 * ran > cases, "most combinations are refused");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Combinations that lost most of what they sent, or sent for ever what had arrived.
#[test]
fn former_storms_are_over() {
    let road = |flows, rtt_ms, pipe, buffer| Road {
        flows,
        rtt_ms,
        pipe,
        buffer,
        seed: 1,
    };
    let forty = || road(40, (47, 167), 4, 3);
    let few = || road(8, (100, 100), 25, 10);
    for (road, tcp) in [
        (
            forty(),
            "congestion_control = \"cubic\"\nloss_detection = \"rack\"",
        ),
        (
            forty(),
            "loss_detection = \"rack\"\ndetails = { decrease_basis = \"outstanding\" }",
        ),
        (
            few(),
            "recovery = \"newreno\"\nloss_detection = \"rack\"\ndetails = { slow_start_limit = \
             \"unlimited\" }",
        ),
        (
            few(),
            "profile = \"linux\"\nrecovery = \"newreno\"\ndetails = { decrease_basis = \
             \"flight_size\" }",
        ),
        (
            road(5, (100, 100), 4, 20),
            "recovery = \"newreno\"\ninitial_window = \"3p\"\ndetails = { new_ack_lifts_guard = \
             true }",
        ),
        (
            road(2, (10, 10), 4, 8),
            "recovery = \"tahoe\"\nack_rule = \"linux\"\ndetails = { slow_start_limit = \
             \"unlimited\", fast_retransmit_guard = \"never\" }",
        ),
        (
            road(2, (100, 100), 8, 3),
            "recovery = \"tahoe\"\nmss = \"1000B\"\ndetails = { new_ack_lifts_guard = true }",
        ),
    ] {
        let (fault, seen) =
            look_at(road, &format!("[tcp]\n{tcp}\n")).unwrap_or_else(|| panic!("refused: {tcp}"));
        assert_eq!(fault, None, "{tcp}: {seen:.4?}");
    }
}
