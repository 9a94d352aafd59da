//! Hostile questions: each is refused or stopped within a bounded number of steps and bytes.
//!
//! Bounds are small here, so that a run that has to be stopped is short. Steps and bytes are counted,
//! so that the test does not depend on the speed of the machine.

use goodqueue_lab::{Bounds, Experiment, LabError, Setting, View, Watch};
use goodqueue_types::{Span, Time};
use std::collections::BTreeMap;

const BOUNDS: Bounds = Bounds {
    packets: 40_000,
    flows: 500,
    memory: 24 << 20,
};

/// Most bytes that a question may take: those that the bound allows by the run's own counts, which
/// omit what results, texts and lists that have just doubled take.
const MAX_BYTES: u64 = 3 * BOUNDS.memory;

/// Most blocks of computing of a picture and of its packets, each of thousands of steps. A run takes
/// at most eight steps for each packet of the bound.
const MAX_BLOCKS: usize = 100;

/// End of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Refused before the run.
    Refused,
    /// Stopped during the run.
    Stopped,
    /// Answered, because the run is small.
    Answered,
}

use End::{Answered, Refused, Stopped};

/// Parts of a scenario. Keys are separated by commas outside brackets.
struct Parts<'a> {
    duration: &'a str,
    tcp: &'a str,
    record: &'a str,
    access: &'a str,
    link: String,
    flow: &'a str,
    workload: &'a str,
}

impl<'a> Parts<'a> {
    fn read(fields: &[&'a str]) -> Self {
        let mut parts = Self {
            duration: "1s",
            tcp: "",
            record: "",
            access: "rate = \"1Gbps\", delay = \"1ms\"",
            link: link_with("limit = \"50p\""),
            flow: "",
            workload: "kind = \"bulk\"",
        };
        for field in fields {
            let (key, text) = field.split_once(": ").expect("a part is `key: text`");
            match key {
                "duration" => parts.duration = text,
                "tcp" => parts.tcp = text,
                "record" => parts.record = text,
                "access" => parts.access = text,
                "link" => text.clone_into(&mut parts.link),
                "queue" => parts.link = link_with(text),
                "flow" => parts.flow = text,
                "workload" => parts.workload = text,
                _ => panic!("{key} is no part"),
            }
        }
        parts
    }

    fn text(&self) -> String {
        let Self {
            duration,
            access,
            link,
            workload,
            ..
        } = self;
        let [tcp, record, flow] =
            [self.tcp, self.record, self.flow].map(|keys| keys.replace(", ", "\n"));
        format!(
            "schema_version = 1\nduration = \"{duration}\"\n[tcp]\n{tcp}\n[record]\n{record}\n\
             [topology]\nshape = \"dumbbell\"\naccess = {{ {access} }}\nbottleneck = {{ {link} }}\n\
             [[flow]]\nname = \"f\"\n{flow}\nworkload = {{ {workload} }}\n"
        )
    }
}

fn link_with(queue: &str) -> String {
    format!("rate = \"10Mbps\", delay = \"5ms\", queue = {{ {queue} }}")
}

/// Returns the questions of the table: names, scenarios and possible ends.
fn table() -> Vec<(String, String, Vec<End>)> {
    let lines = include_str!("bombs.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(" | ").collect();
            let [name, ends, parts @ ..] = &fields[..] else {
                panic!("{line}")
            };
            let ends = ends.split(' ').map(|end| match end {
                "Refused" => Refused,
                "Stopped" => Stopped,
                "Answered" => Answered,
                _ => panic!("{end} is no end"),
            });
            let text = Parts::read(parts).text();
            ((*name).to_owned(), text, ends.collect())
        })
        .collect()
}

/// Returns a chain of `links` links with this queue, and a flow over all of them.
fn chain(links: usize, queue: &str) -> String {
    let each =
        format!("[[topology.link]]\nrate = \"1Mbps\"\ndelay = \"1ms\"\nqueue = {{ {queue} }}\n");
    format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"chain\"\n{}\
         [[flow]]\nname = \"f\"\nworkload = {{ kind = \"bulk\" }}\n",
        each.repeat(links)
    )
}

/// Returns a star of 999 hosts whose links have these keys, and a group of flows with those.
fn star(port: &str, flow: &str) -> String {
    format!(
        "schema_version = 1\nduration = \"1s\"\n[topology]\nshape = \"star\"\nports = 999\n\
         port = {{ rate = \"10Mbps\", delay = \"1ms\", queue = {{ limit = \"9p\" }}{port} }}\n\
         [[flow]]\nname = \"f\"\n{flow}\nworkload = {{ kind = \"bulk\" }}\n"
    )
}

/// Returns a priority queue whose four bands are such queues in turn.
fn nested_priorities(depth: usize) -> String {
    let inner = match depth {
        0 => "{ kind = \"fq_codel\", flows = 65536 }".to_owned(),
        _ => format!("{{ {} }}", nested_priorities(depth - 1)),
    };
    format!("kind = \"prio\", bands = [{}]", vec![inner; 4].join(", "))
}

/// Returns `count` groups of flows, each with this workload.
fn groups(count: usize, workload: &str) -> String {
    let groups = 0..count;
    let groups =
        groups.map(|n| format!("[[flow]]\nname = \"g{n}\"\nworkload = {{ {workload} }}\n"));
    groups.collect::<Vec<String>>().concat()
}

/// Returns questions whose texts are long.
fn long_texts() -> Vec<(&'static str, String, Vec<End>)> {
    let usual = Parts::read(&[]).text();
    let list = vec!["1"; 100_000].join(", ");
    let ends = vec!["\"host*\""; 20_000].join(", ");
    let named = "kind = \"transfers\", interval = \"1s\", \
                 size = { law = \"empirical\", file = \"large.csv\" }";
    let steps = (0..20_000).map(|n| format!("{{ at = \"{n}ps\", rate = \"{}Mbps\" }}", n % 7 + 1));
    let steps = steps.collect::<Vec<_>>().join(", ");
    let stepped = format!(
        "link: delay = \"5ms\", queue = {{ limit = \"50p\" }}, \
         service = {{ kind = \"steps\", repeat = \"1us\", steps = [{steps}] }}"
    );
    let pairs = "from = \"host0..498\"\nto = \"host499..998\"";
    let one = "from = \"host0\"\nto = \"host1\"";
    let [stepped, nested] = [stepped, format!("queue: {}", nested_priorities(3))];
    let part = |part: &str| Parts::read(&[part]).text();
    vec![
        ("nested priorities", part(&nested), vec![Refused]),
        (
            "a rate that changes each picosecond",
            part(&stepped),
            vec![Refused],
        ),
        (
            "a chain of large tables",
            chain(200, "kind = \"fq_codel\", flows = 65536"),
            vec![Refused],
        ),
        (
            "a chain of cakes",
            chain(100, "kind = \"cake\""),
            vec![Refused],
        ),
        (
            "a long chain",
            chain(1_000, "limit = \"9p\""),
            vec![Refused],
        ),
        (
            "copies of a list",
            star(&format!(", drop_list = [{list}]"), one),
            vec![Refused],
        ),
        ("a large star", star("", one), vec![Answered, Refused]),
        (
            "ends by patterns",
            star("", &format!("to = \"host1\"\nfrom = [{ends}]")),
            vec![Refused],
        ),
        (
            "all pairs of ends",
            star("", &format!("count = 499\n{pairs}")),
            vec![Answered, Refused],
        ),
        (
            "two thousand groups",
            usual.clone() + &groups(2_000, "kind = \"bulk\""),
            vec![Refused],
        ),
        (
            "a file named very often",
            usual + &groups(2_000, named),
            vec![Refused],
        ),
        (
            "a key of dots",
            "a.".repeat(40_000) + "a = 1",
            vec![Refused],
        ),
        ("brackets", "[".repeat(100_000), vec![Refused]),
    ]
}

fn files() -> BTreeMap<String, Vec<u8>> {
    let padding = " ".repeat(2_000);
    let points = (1..200).map(|n| format!("{n},0.5{padding}\n"));
    let points = points.collect::<Vec<String>>().concat();
    let large = format!("size_B,share\n{points}50000,1\n");
    let empty = "time_s,share\n0,0.99999999\n1000000,0.99999999\n1000000,1\n";
    [
        ("large.csv", large.into_bytes()),
        ("empty.csv", empty.into()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

/// Runs to the end. Returns it, and the number of blocks.
fn end_of(mut advance: impl FnMut() -> Result<Option<f64>, LabError>) -> (End, usize) {
    for block in 1..=MAX_BLOCKS {
        match advance() {
            Ok(Some(_)) => {}
            Ok(None) => return (Answered, block),
            Err(LabError::TooLarge(text)) => {
                assert!(text.contains("stopped"), "{text}");
                return (Stopped, block);
            }
            Err(other) => panic!("{other}"),
        }
    }
    panic!("a run that does not end")
}

/// Asks for the picture and for the packets. Returns the end of the picture, and the number of blocks
/// of both.
fn asked(setting: &Setting) -> (End, usize) {
    let Ok(experiment) = Experiment::set_up(setting, BOUNDS) else {
        return (Refused, 0);
    };
    let mut run = experiment.clone().start(View::default());
    let (end, blocks) = end_of(|| run.advance());
    if end == Answered {
        assert!(run.picture()["summary"].is_object());
    }
    let watch = Watch {
        from: Time::ZERO + Span::from_millis(900),
        to: Time::ZERO + Span::from_millis(1_000),
        most: Watch::MAX_PACKETS,
    };
    let packets = experiment.watch(watch);
    let watched = packets.map_or(0, |mut run| end_of(|| run.advance()).1);
    (end, blocks + watched)
}

#[test]
fn every_hostile_question_ends_within_the_bounds() {
    let mut questions = table();
    let long = long_texts().into_iter();
    questions.extend(long.map(|(name, text, ends)| (name.to_owned(), text, ends)));
    assert!(questions.len() >= 60, "{}", questions.len());
    let mut faults = Vec::new();
    for (name, text, ends) in questions {
        let setting = Setting {
            text,
            files: files(),
            ..Setting::default()
        };
        let mut found = (Refused, 0);
        let cost = allocation_counter::measure(|| found = asked(&setting));
        let (end, blocks) = found;
        let refusal = Experiment::set_up(&setting, BOUNDS).err();
        let refusal = refusal.map_or_else(String::new, |refusal| refusal.to_string());
        println!(
            "{name}: {end:?}, {blocks} blocks, {} B {refusal}",
            cost.bytes_max
        );
        if !ends.contains(&end) {
            faults.push(format!("{name}: {end:?} {refusal}"));
        }
        if cost.bytes_max > MAX_BYTES {
            faults.push(format!("{name}: {} bytes", cost.bytes_max));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
