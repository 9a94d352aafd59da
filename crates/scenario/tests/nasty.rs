//! Random hostile scenarios: the estimate of memory beside the allocations of building and running.
//!
//! `cargo test -p goodqueue-scenario --test nasty -- --nocapture` prints both.

use goodqueue_scenario::{Scenario, summary_json};
use goodqueue_sim::{NoProbe, Record, Simulation};
use goodqueue_types::RandomStream;

/// Number of scenarios that run.
const RUNS: usize = 60;
/// Bytes above which a scenario does not run here, by its estimate.
const LARGEST: u64 = 60_000_000;
/// Most steps of a run.
const STEPS: u64 = 150_000;
/// Bytes that the text, its tables and lists that have just doubled take besides.
const BESIDES: f64 = 600_000.0;
/// Largest ratio of the measurement to the estimate.
const RATIO: f64 = 1.5;

/// Draws one of several texts.
fn one_of<'a>(random: &mut RandomStream, texts: &[&'a str]) -> &'a str {
    texts[(random.unit() * texts.len() as f64) as usize]
}

fn workload(random: &mut RandomStream) -> String {
    let time = |random: &mut RandomStream| {
        one_of(random, &["1us", "10us", "200us", "3ms", "20ms", "1s"]).to_owned()
    };
    let size = |random: &mut RandomStream| {
        one_of(
            random,
            &[
                "\"1B\"",
                "\"700B\"",
                "\"40kB\"",
                "\"3MB\"",
                "{ law = \"pareto\", mean = \"9kB\", shape = 1.2 }",
            ],
        )
        .to_owned()
    };
    match (random.unit() * 11.0) as u32 {
        0 => format!(
            "kind = \"transfers\", size = {}, interval = \"{}\"",
            size(random),
            time(random)
        ),
        1 => format!(
            "kind = \"transfers\", size = {}, interval = \"{}\", direction = \"down\"",
            size(random),
            time(random)
        ),
        2 => format!(
            "kind = \"exchanges\", request = {}, reply = {}, pause = \"{}\"",
            size(random),
            size(random),
            time(random)
        ),
        3 => format!(
            "kind = \"exchanges\", request = {}, reply = \"1kB\", pause = \"{}\", periodic = true",
            size(random),
            time(random)
        ),
        4 => format!(
            "kind = \"web\", objects = {}, parallel = {}, think = \"{}\", persistent = {}",
            one_of(random, &["0", "10", "300"]),
            one_of(random, &["1", "6", "256"]),
            time(random),
            one_of(random, &["true", "false"])
        ),
        5 => format!(
            "kind = \"cbr\", interval = \"{}\", packet = \"{}\"",
            time(random),
            one_of(random, &["20B", "1500B", "9000B"])
        ),
        6 => format!("kind = \"poisson\", interval = \"{}\"", time(random)),
        7 => format!(
            "kind = \"bursts\", interval = \"{}\", packets = {}",
            time(random),
            one_of(random, &["2", "300", "10000"])
        ),
        8 => format!("kind = \"game\", interval = \"{}\"", time(random)),
        9 => "kind = \"video\"".to_owned(),
        _ => "kind = \"bulk\"".to_owned(),
    }
}

fn queue(random: &mut RandomStream) -> &'static str {
    one_of(
        random,
        &[
            "{ limit = \"10p\" }",
            "{ limit = \"100000p\" }",
            "{ kind = \"fq_codel\", flows = 65536 }",
            "{ kind = \"fq_pie\", flows = 65536 }",
            "{ kind = \"sfq\", divisor = 65536 }",
            "{ kind = \"cake\", diffserv = \"diffserv8\" }",
            "{ kind = \"fpq\", limit = \"100p\", count_bits = 10000000 }",
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", classes = [{ name = \"a\", rate = \"10Mbps\" }, { name = \"b\", parent = \"a\", count = 3000, rate = \"1kbps\", ceil = \"5Mbps\" }] }",
            "{ kind = \"prio\", bands = [{ kind = \"fq_codel\" }, { limit = \"9p\" }, { limit = \"9p\" }] }",
        ],
    )
}

/// Returns the text of a scenario.
fn scenario(random: &mut RandomStream) -> String {
    let count = one_of(random, &["1", "3", "40", "1500"]);
    let rate = one_of(random, &["100kbps", "10Mbps", "1Gbps"]);
    let duration = one_of(random, &["100ms", "2s", "60s"]);
    let tcp = one_of(random, &["rfc", "linux"]);
    let window = one_of(random, &["10p", "1000p"]);
    let (queue, workload, second) = (queue(random), workload(random), workload(random));
    format!(
        "schema_version = 1\nduration = \"{duration}\"\n[tcp]\nprofile = \"{tcp}\"\n\
         initial_window = \"{window}\"\n[topology]\nshape = \"dumbbell\"\n\
         access = {{ rate = \"1Gbps\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"{rate}\", delay = \"5ms\", queue = {queue} }}\n\
         [[flow]]\nname = \"a\"\ncount = {count}\nworkload = {{ {workload} }}\n\
         [[flow]]\nname = \"b\"\nworkload = {{ {second} }}\n"
    )
}

/// Returns the bytes of a run by the estimate and by the allocator, if the scenario is valid and its
/// estimate is small enough to run here.
fn bytes(text: &str) -> Option<(f64, f64)> {
    let parse = || Scenario::parse(text.as_bytes(), "test", &[]);
    let valid = match parse() {
        Ok(valid) => valid,
        // Some flows offer more than the slowest links send in the range of the clock.
        Err(error) if error.message.contains("to empty its queue") => return None,
        Err(error) => panic!("{error}\n{text}"),
    };
    let parts = valid.memory(Record::default()).into_iter();
    let estimate: u64 = parts
        .map(|part| part.count.saturating_mul(part.bytes_each))
        .sum();
    if estimate > LARGEST {
        return None;
    }
    let measured = allocation_counter::measure(|| {
        let scenario = parse().expect("as before");
        let network = scenario.network();
        let mut simulation = Simulation::new(&network, NoProbe);
        while simulation.steps() < STEPS {
            if simulation.advance().is_none() {
                let (outcome, _) = simulation.finish();
                summary_json(&scenario, &network, &outcome);
                return;
            }
        }
    });
    Some((estimate as f64, measured.bytes_max as f64))
}

#[test]
fn no_hostile_scenario_takes_much_more_than_its_estimate() {
    let mut random = RandomStream::new(7, "nasty", 0);
    let (mut runs, mut refused, mut low) = (0, 0, Vec::new());
    while runs < RUNS {
        let text = scenario(&mut random);
        let Some((estimate, measured)) = bytes(&text) else {
            refused += 1;
            continue;
        };
        runs += 1;
        println!("{measured:.0} B measured, {estimate:.0} B estimated");
        if measured > RATIO * estimate + BESIDES {
            low.push(format!("{measured:.0} B for {estimate:.0} B:\n{text}"));
        }
    }
    println!("{runs} runs, {refused} too large");
    assert!(low.is_empty(), "{}", low.join("\n"));
    assert!(refused > RUNS / 10, "the estimates are never large");
}
