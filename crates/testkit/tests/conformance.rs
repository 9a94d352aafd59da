//! Goodqueue's own scripts pass, and each fails if any number in it is changed.

use std::{fs, panic};

use goodqueue_tcp::Profile;
use goodqueue_testkit::packetdrill::{Verdict, run_script};

/// Returns the name and the text of every script of goodqueue.
fn scripts() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance");
    let mut list = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of scripts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "pkt") {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            list.push((name, fs::read_to_string(&path).expect("a text")));
        }
    }
    list.sort();
    list
}

fn run(text: &str) -> Verdict {
    // A changed number may also break an invariant of the endpoint, which counts as a failure of
    // the script.
    panic::catch_unwind(|| run_script(text, Profile::Linux))
        .unwrap_or_else(|_| Verdict::Fail(0, "broken invariant".to_owned()))
}

#[test]
fn our_scripts_pass() {
    for (name, text) in scripts() {
        assert_eq!(run(&text), Verdict::Pass, "{name}");
    }
}

/// Returns the part of a line in which numbers are expectations. It depends on the kind of line: an
/// outbound packet and its time, an assertion, or the return value of a system call.
fn expectations(line: &str, in_code: bool) -> Option<(usize, usize)> {
    let end = line.find("//").unwrap_or(line.len());
    let line = &line[..end];
    let after_time = line.trim_start_matches(|c: char| " +.~*".contains(c) || c.is_ascii_digit());
    if in_code || line.contains("%{") {
        return Some((line.find("%{").unwrap_or(0), end));
    }
    if after_time.starts_with('>') {
        return Some((0, end));
    }
    line.rfind(") = ").map(|at| (at, end))
}

/// Returns the variants of the text in which one expected number is one larger or one smaller, with
/// the line of each.
fn mutants(text: &str) -> Vec<(usize, String)> {
    let mut list = Vec::new();
    let (mut offset, mut in_code) = (0, false);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        in_code |= line.contains("%{");
        let range = expectations(line, in_code && !line.trim_start().starts_with("//"));
        in_code &= !line.contains("}%");
        let (from, to) = range.unwrap_or((0, 0));
        let mut at = from;
        while let Some(start) = line[at..to].find(|c: char| c.is_ascii_digit()) {
            let start = at + start;
            let length = line[start..to].find(|c: char| !c.is_ascii_digit());
            let stop = length.map_or(to, |length| start + length);
            let number: u64 = line[start..stop].parse().expect("digits");
            for other in [Some(number + 1), number.checked_sub(1)]
                .into_iter()
                .flatten()
            {
                let width = stop - start;
                let mut mutant = text.to_owned();
                let digits = format!("{other:0width$}");
                mutant.replace_range(offset + start..offset + stop, &digits);
                list.push((index + 1, mutant));
            }
            at = stop;
        }
        offset += line.len();
    }
    list
}

/// A script fails if any number that it expects is changed.
#[test]
fn every_expected_number_matters() {
    let quiet = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let mut unnoticed = Vec::new();
    let mut tried = 0;
    for (name, text) in scripts() {
        for (line, mutant) in mutants(&text) {
            tried += 1;
            if !matches!(run(&mutant), Verdict::Fail(..)) {
                let changed = mutant.lines().nth(line - 1).unwrap_or_default();
                unnoticed.push(format!("{name}:{line}: {changed}"));
            }
        }
    }
    panic::set_hook(quiet);
    assert!(
        unnoticed.is_empty(),
        "{} of {tried}:\n{}",
        unnoticed.len(),
        unnoticed.join("\n")
    );
    assert!(tried > 500, "only {tried} numbers tried");
}

/// A script with an unknown statement fails at its line.
#[test]
fn the_unknown_fails() {
    for (name, text) in scripts() {
        let lines = text.lines().count();
        for unknown in [
            "+0 frobnicate(3) = 0",
            "+0 %{ assert tcpi_frobnication == 1 }%",
            "+0 %{ frobnicate }%",
            "+0 | . 1:1(0) ack 1",
            "+0 < . 1:1(0) ack 1 win 1 <frobnicate 3>",
            "frobnicate",
        ] {
            let verdict = run(&format!("{text}{unknown}\n"));
            assert!(
                matches!(verdict, Verdict::Fail(line, _) if line == lines + 1),
                "{name}, {unknown}: {verdict}"
            );
        }
    }
}
