//! Random combinations of TCP switches satisfy basic laws: retransmitted data were lost, the link
//! is used, and losses are those of the law of the congestion control. `TCP_SWITCHES_CASES` is the
//! number of combinations, `TCP_SWITCHES_SEED` the first seed; both are printed.

mod road;
mod switches;

use goodqueue_scenario::Scenario;
use goodqueue_sim::run;
use goodqueue_types::RandomStream;
use road::{Fault, Road, Seen, config, fault, look};
use switches::{Choice, Switch};

/// Runs this `[tcp]` table. Returns its fault, if any, and the measurements; None if the file is
/// refused.
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

/// Returns the fewest of the switches with the same fault, as a table of a file.
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

/// These combinations lost from a third to nine tenths of the segments sent.
#[test]
fn former_storms_are_over() {
    let mut faults = Vec::new();
    for ((flows, rtt_ms, pipe, buffer, seed), tcp) in [
        (
            (40, (47, 167), 4, 3, 1),
            "congestion_control = \"cubic\"\nloss_detection = \"rack\"",
        ),
        (
            (8, (100, 100), 15, 20, 722_596_549_532_410),
            "loss_detection = \"rack\"\nrto = { minimum = \"200ms\" }\ndetails = { decrease_basis = \
             \"outstanding\" }",
        ),
        (
            (5, (10, 30), 8, 20, 2_494_499_571_223_996),
            "profile = \"linux\"\ncongestion_control = \"scalable\"\nrecovery = \"newreno\"\n\
             details = { decrease_basis = \"flight_size\" }",
        ),
        (
            (1, (100, 100), 8, 20, 1),
            "congestion_control = \"scalable\"\nack_every = 1",
        ),
    ] {
        let road = Road {
            flows,
            rtt_ms,
            pipe,
            buffer,
            seed,
        };
        let (fault, seen) =
            look_at(road, &format!("[tcp]\n{tcp}\n")).unwrap_or_else(|| panic!("refused: {tcp}"));
        faults.extend(fault.map(|fault| format!("{fault:?} {seen:.4?}\n{tcp}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
