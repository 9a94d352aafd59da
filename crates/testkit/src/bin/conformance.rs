//! Runs every packetdrill script in a folder and compares the results with the expected ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, panic};

use goodqueue_tcp::Profile;
use goodqueue_testkit::packetdrill::{Verdict, run_script};

const USAGE: &str = "\
usage: conformance FOLDER [--only NAME] [--verbose]
  FOLDER     where the scripts (*.pkt) are: gtests/net/tcp of packetdrill, or the kernel's selftests
  --only     only scripts whose path contains NAME
  --verbose  also print those that pass";

/// Expected results, one per line: the name of the script and its result. `#` begins a comment.
const EXPECTED: &str = include_str!("../../conformance/expected.txt");

struct Arguments {
    folder: PathBuf,
    only: Option<String>,
    verbose: bool,
}

fn main() -> ExitCode {
    let Some(arguments) = arguments(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut scripts = Vec::new();
    find(&arguments.folder, &mut scripts);
    scripts.sort();
    if let Some(only) = &arguments.only {
        scripts.retain(|path| path.to_string_lossy().contains(only.as_str()));
    }
    if scripts.is_empty() {
        eprintln!("no scripts under {}", arguments.folder.display());
        return ExitCode::from(2);
    }
    // If the endpoint breaks an invariant, only this script fails, and its verdict names the
    // reason.
    panic::set_hook(Box::new(|_| {}));
    report(&arguments, &scripts)
}

fn arguments(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let (mut folder, mut only, mut verbose) = (None, None, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => only = Some(words.next()?),
            "--verbose" => verbose = true,
            _ if word.starts_with('-') || folder.is_some() => return None,
            _ => folder = Some(PathBuf::from(word)),
        }
    }
    Some(Arguments {
        folder: folder?,
        only,
        verbose,
    })
}

fn find(folder: &Path, scripts: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, scripts);
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            scripts.push(path);
        }
    }
}

fn report(arguments: &Arguments, scripts: &[PathBuf]) -> ExitCode {
    let expected = expected();
    let mut totals = BTreeMap::new();
    let mut differences = Vec::new();
    let mut unlisted = 0;
    for path in scripts {
        let verdict = judge(path);
        *totals.entry(verdict.word()).or_insert(0) += 1;
        let name = path
            .strip_prefix(&arguments.folder)
            .unwrap_or(path)
            .to_string_lossy();
        if arguments.verbose || verdict != Verdict::Pass {
            println!("{name}: {verdict}");
        }
        let path = path.to_string_lossy();
        match expected.iter().find(|(known, _)| is_same(&path, known)) {
            Some((_, word)) if *word != verdict.word() => {
                differences.push(format!("{name}: {}, expected {word}", verdict.word()));
            }
            Some(_) => {}
            None => unlisted += 1,
        }
    }
    let totals: Vec<String> = totals
        .iter()
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    println!("{} scripts: {}", scripts.len(), totals.join(", "));
    println!("{unlisted} of them are not in the list of expected results");
    for difference in &differences {
        println!("different: {difference}");
    }
    ExitCode::from(u8::from(!differences.is_empty()))
}

fn judge(path: &Path) -> Verdict {
    match fs::read_to_string(path) {
        Ok(text) => panic::catch_unwind(|| run_script(&text, Profile::Linux))
            .unwrap_or_else(|_| Verdict::Fail(0, "the endpoint broke an invariant".to_owned())),
        Err(error) => Verdict::Fail(0, error.to_string()),
    }
}

fn expected() -> Vec<(&'static str, &'static str)> {
    let lines = EXPECTED
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    lines
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(n, w)| (n, w.trim()))
        .collect()
}

/// Returns whether the path ends in the known name, at a folder boundary. The kernel's selftests
/// have the same names without folders: `tcp_sack_x.pkt` is `sack/x.pkt`.
fn is_same(path: &str, known: &str) -> bool {
    let flat = format!("tcp_{}", known.replace('/', "_"));
    [known, &flat].iter().any(|name| {
        let rest = path.strip_suffix(*name);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    })
}
