//! Golden tables: figures, packet events and congestion windows of short runs as text, so that a
//! change of behaviour appears in a review line by line. They show no correct values, only
//! differences; `results_version.rs` guards every bit.
//!
//! `make golden` writes them again.

mod table;

use goodqueue_scenario::Scenario;
use similar::TextDiff;
use std::fs;
use std::path::{Path, PathBuf};

/// Ready scenarios, each with the seconds of it that the table covers.
const READY: [(&str, u64); 8] = [
    ("drop-pattern", 6),
    ("evening", 5),
    ("incast", 1),
    ("linux-bottleneck", 5),
    ("parking-lot", 3),
    ("red-study", 3),
    ("s1", 2),
    ("wifi", 5),
];

/// Seconds that the table of a scenario in the folder of the tables covers.
const MADE_FOR_IT: u64 = 5;

/// Environment variable with which the test writes the tables instead of comparing them.
const UPDATE: &str = "UPDATE_GOLDEN";

/// Largest number of lines of a difference that the message shows for one table.
const SHOWN: usize = 60;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder() -> PathBuf {
    root().join("tests/golden")
}

/// Returns the names of all files in the folder of the tables with this extension, sorted.
fn named(extension: &str) -> Vec<String> {
    let files = fs::read_dir(folder()).expect("the folder exists");
    let paths = files.map(|file| file.expect("it can be read").path());
    let chosen = paths.filter(|path| path.extension().is_some_and(|e| e == extension));
    let mut names: Vec<String> = chosen
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Returns every case: its name, its scenario file relative to the project, and its length in
/// seconds.
fn cases() -> Vec<(String, String, u64)> {
    let ready = READY.map(|(name, s)| (name.to_owned(), format!("scenarios/{name}.toml"), s));
    let own = named("toml").into_iter().map(|name| {
        let file = format!("tests/golden/{name}.toml");
        (name, file, MADE_FOR_IT)
    });
    ready.into_iter().chain(own).collect()
}

/// Returns the lines that differ with two lines around each difference, or none if the texts are
/// equal.
fn difference(golden: &str, actual: &str, name: &str) -> Option<String> {
    if golden == actual {
        return None;
    }
    let diff = TextDiff::from_lines(golden, actual);
    let text = diff
        .unified_diff()
        .context_radius(2)
        .header(
            &format!("tests/golden/{name}.txt"),
            "the same run by this code",
        )
        .to_string();
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines[..lines.len().min(SHOWN)].join("\n");
    if lines.len() <= SHOWN {
        return Some(shown);
    }
    let rest = lines.len() - SHOWN;
    Some(format!(
        "{shown}\n... {rest} lines of this difference are not shown"
    ))
}

#[test]
fn runs_agree_with_their_golden_tables() {
    let update = std::env::var_os(UPDATE).is_some();
    let mut changed = Vec::new();
    for (name, file, seconds) in cases() {
        let scenario = Scenario::load(&root().join(&file), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let actual = table::from_network(&scenario.network(), &file, seconds);
        let path = folder().join(format!("{name}.txt"));
        if update {
            fs::write(&path, &actual).expect("the folder can be written");
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        changed.extend(difference(&golden, &actual, &name));
    }
    assert!(
        changed.is_empty(),
        "golden tables that differ from their runs (- before, + now): {}\n\n{}\n\n\
         If the change is intended, `make golden` writes the tables again; commit them with the \
         change, and increase RESULTS_VERSION.",
        changed.len(),
        changed.join("\n\n")
    );
}

/// A table without a case would stay in the folder and be compared with nothing.
#[test]
fn every_table_has_a_case() {
    let cases = cases();
    for name in named("txt") {
        let text = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
        let known = cases.iter().any(|(case, ..)| *case == name);
        assert!(
            known || !text.starts_with(table::TITLE),
            "{name}.txt has no scenario: delete it"
        );
    }
}

#[test]
fn a_difference_shows_the_changed_line_and_its_surroundings() {
    let golden = "a\nb\nc\nd\ne\nf\ng\n";
    let text = difference(golden, &golden.replace('d', "D"), "x").expect("they differ");
    let lines: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(lines, [" b", " c", "-d", "+D", " e", " f"]);
    assert_eq!(difference(golden, golden, "x"), None);
}
