//! Random switches of TCP, as a scenario file sets them: every key that the schema lists.

use goodqueue_scenario::schema;
use goodqueue_tcp::{Details, RtoConfig, TcpConfig};
use goodqueue_types::RandomStream;
use goodqueue_types::parameters::Declared;
use serde_json::Value;
use std::fmt::Write;

/// A key of `[tcp]` or of a table below it, and the values from which one is drawn.
pub struct Switch {
    /// `""`, `"rto"` or `"details"`.
    pub table: &'static str,
    pub name: String,
    pub values: Vec<String>,
}

/// A switch and the value it was given.
pub type Choice = (usize, usize);

/// Returns the values of a key that is neither a word nor a flag: those that suit the networks of the
/// test, or the example of its declaration. Returns none if the key stays as the profile has it, because
/// the network of the test decides what sense it makes.
fn samples(table: &str, name: &str) -> Option<Vec<String>> {
    let values: &[&str] = match (table, name) {
        ("", "mss") => &["\"536B\"", "\"1000B\"", "\"1448B\""],
        ("", "initial_window") => &["\"1p\"", "\"3p\"", "\"10p\"", "\"rfc5681\""],
        ("", "initial_ssthresh") => &["\"unlimited\"", "\"20p\"", "\"64KiB\""],
        ("", "receive_window") => &["\"65535B\"", "\"1MB\"", "\"6MiB\""],
        ("", "receive_window_moderation") => &["\"64KiB\"", "\"off\""],
        ("", "duplicate_ack_threshold") => &["1", "2", "3", "5"],
        ("", "ack_every") => &["1", "2", "4"],
        ("", "opening_acks") => &["0", "20", "400"],
        ("", "delayed_ack_timeout") => &["\"1ms\"", "\"40ms\"", "\"200ms\""],
        ("", "timestamps") => &["\"1ms\"", "\"10ms\"", "\"none\""],
        ("", "header") => &["\"20B\"", "\"40B\"", "\"60B\""],
        ("rto", "initial") => &["\"1s\"", "\"3s\""],
        ("rto", "minimum") => &["\"200ms\"", "\"1s\""],
        ("rto", "maximum") => &["\"60s\"", "\"120s\""],
        ("rto", "granularity") => &["\"1ms\"", "\"10ms\"", "\"100ms\""],
        ("details", "slow_start_limit" | "recovery_burst") => {
            &["\"1p\"", "\"2p\"", "\"unlimited\""]
        }
        ("details", "rto_after_syn_loss") => &["\"3s\"", "\"none\""],
        ("details", "linear_syn_timeouts") => &["0", "4"],
        ("details", "tsl_initial_window") => &["\"1p\"", "\"3p\""],
        ("details", "tsl_ssthresh") => &["\"2p\"", "\"16p\""],
        ("details", "persist_initial") => &["\"5s\"", "\"rto\""],
        ("details", "sack_blocks") => &["1", "3", "4"],
        ("details", "sack_option_overhead") => &["\"0B\"", "\"4B\""],
        // A rate of its own would decide what the flow gets; the others are parameters of a control
        // and of an estimator.
        ("", "receive_window_pace" | "alpha" | "beta") | ("rto", "srtt_gain" | "rttvar_gain") => {
            return None;
        }
        _ => {
            let keys = [TcpConfig::KEYS, RtoConfig::KEYS, Details::KEYS].concat();
            let key = keys.iter().find(|key| key.name == name);
            return key.map(|key| vec![key.toml_example()]);
        }
    };
    Some(values.iter().map(|value| (*value).to_owned()).collect())
}

/// The words of a schema's `enum`, or true and false.
fn listed(property: &Value) -> Option<Vec<String>> {
    let words = property["enum"].as_array();
    let quoted = words.map(|words| words.iter().map(Value::to_string).collect());
    let is_flag = property["type"] == "boolean";
    quoted.or_else(|| is_flag.then(|| vec!["true".to_owned(), "false".to_owned()]))
}

/// Every switch. The profile comes first.
pub fn all() -> Vec<Switch> {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    let mut switches = Vec::new();
    for (table, definition) in [("", "tcp"), ("rto", "rto"), ("details", "details")] {
        let properties = schema["$defs"][definition]["properties"].as_object();
        for (name, property) in properties.expect("a table") {
            if matches!(name.as_str(), "rto" | "details") {
                continue;
            }
            let values = if name == "congestion_control" {
                listed(&property["anyOf"][0])
            } else {
                listed(property).or_else(|| samples(table, name))
            };
            let name = name.clone();
            switches.extend(values.map(|values| Switch {
                table,
                name,
                values,
            }));
        }
    }
    assert_eq!(switches[0].name, "profile");
    switches
}

/// A profile, and any number of other switches from few to most.
pub fn draw(switches: &[Switch], random: &mut RandomStream) -> Vec<Choice> {
    let share = [0.05, 0.15, 0.5][below(random, 3)];
    let mut choices = Vec::new();
    for (index, switch) in switches.iter().enumerate() {
        let often = matches!(
            switch.name.as_str(),
            "profile" | "congestion_control" | "recovery" | "loss_detection"
        );
        if often || random.unit() < share {
            choices.push((index, below(random, switch.values.len())));
        }
    }
    choices
}

/// A number below `limit`.
pub fn below(random: &mut RandomStream, limit: usize) -> usize {
    (random.unit() * limit as f64) as usize
}

/// The table `[tcp]` of a scenario file.
pub fn toml(switches: &[Switch], choices: &[Choice]) -> String {
    let mut text = String::from("[tcp]\n");
    for table in ["", "rto", "details"] {
        if !table.is_empty() {
            let _ = writeln!(text, "[tcp.{table}]");
        }
        for (index, value) in choices {
            let switch = &switches[*index];
            if switch.table == table {
                let _ = writeln!(text, "{} = {}", switch.name, switch.values[*value]);
            }
        }
    }
    text
}
