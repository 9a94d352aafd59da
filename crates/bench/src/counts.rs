//! Instructions per packet of the hot paths, counted by callgrind, against the committed counts of
//! `crates/bench/instructions.txt`.
//!
//! A count hardly depends on the load of the machine, unlike a time. It depends on the compiler, so
//! counts of another compiler are not compared.

use crate::bare;
use crate::caches::{self, Misses};
use crate::cases::{self, Case, Dumbbell};
use crate::page::{PAGE, with_block};
use crate::rounds::Instructions;
use goodqueue_sim::{Network, Outcome};
use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

/// Cases with the simulated time to which each is shortened. A tenth of it is warm-up.
const SHORTENED: [(&str, &str); 7] = [
    ("s1", "40s"),
    ("s1-linux", "40s"),
    ("s2", "40s"),
    ("s3", "100s"),
    ("s4", "2s"),
    ("s5", "40s"),
    ("many-flows", "2s"),
];

/// Relative difference from the committed count above which a count has changed.
const THRESHOLD: f64 = 0.02;

/// File of the committed counts.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
/// Lines of the page on performance before and after the table.
const MARKS: [&str; 2] = [
    "<!-- instructions: begin -->\n",
    "<!-- instructions: end -->\n",
];
/// Head of the file.
const HEAD: &str = "\
# Instructions of shortened benchmark cases, by callgrind; parsing and building are not counted.
# `make counts` writes this file and the table of docs/performance.md.
";

/// Count of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Count {
    case: String,
    simulated: String,
    /// Number of delivered data packets.
    packets: u64,
    instructions: u64,
    /// Cache lines that the case did not find in caches, if they were counted.
    misses: Option<Misses>,
}

impl Count {
    fn per_packet(&self) -> f64 {
        self.instructions as f64 / self.packets as f64
    }

    /// Returns the misses per packet, or an empty text if they were not counted.
    fn misses_per_packet(&self, separator: &str) -> String {
        let each = |count: u64| format!("{:.2}", count as f64 / self.packets as f64);
        let columns = self.misses.map(|misses| misses.columns().map(each));
        columns.map_or(String::new(), |columns| columns.join(separator))
    }
}

/// Counts with the compiler that they hold for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    compiler: String,
    rows: Vec<Count>,
}

impl Counts {
    fn text(&self) -> String {
        let mut text = format!("{HEAD}{}\n", self.compiler);
        let head = ("case", "simulated", "packets", "instructions", "per packet");
        let (case, simulated, packets, instructions, each) = head;
        let _ = writeln!(
            text,
            "{case:<12}{simulated:>10}{packets:>10}{instructions:>16}{each:>12}{:>14}{:>14}{:>14}",
            "level 1", "small", "large"
        );
        for row in &self.rows {
            let _ = write!(
                text,
                "{:<12}{:>10}{:>10}{:>16}{:>12.0}",
                row.case,
                row.simulated,
                row.packets,
                row.instructions,
                row.per_packet()
            );
            for count in row.misses.iter().flat_map(Misses::columns) {
                let _ = write!(text, "{count:>14}");
            }
            text.push('\n');
        }
        text
    }

    /// Reads what [`text`](Self::text) wrote.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let compiler = lines.next()?.to_owned();
        let rows = lines.skip(1).map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let [case, simulated, packets, instructions, _, ref misses @ ..] = cells[..] else {
                return None;
            };
            let misses: Vec<u64> = misses.iter().flat_map(|count| count.parse()).collect();
            Some(Count {
                case: case.to_owned(),
                simulated: simulated.to_owned(),
                packets: packets.parse().ok()?,
                instructions: instructions.parse().ok()?,
                misses: <[u64; 3]>::try_from(misses).ok().map(Misses::from_columns),
            })
        });
        let rows = rows.collect::<Option<Vec<_>>>()?;
        Some(Self { compiler, rows })
    }

    /// Returns the table of the documentation.
    fn markdown(&self) -> String {
        let mut text = format!(
            "| case | simulated | packets | instructions per packet | {} |\n",
            caches::COLUMNS.join(" | ")
        );
        text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        for row in &self.rows {
            let (each, misses) = (row.per_packet(), row.misses_per_packet(" | "));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {each:.0} | {misses} |",
                row.case, row.simulated, row.packets
            );
        }
        text
    }

    fn committed() -> Option<Self> {
        Self::parse(&fs::read_to_string(FILE).ok()?)
    }
}

/// Returns instructions per packet by case for the table of the benchmark: counted now, with those of
/// the bare loop, or as committed if `committed` or if valgrind is missing.
pub fn for_table(committed: bool) -> Vec<(String, Instructions)> {
    if committed || !valgrind_is_installed() {
        let rows = Counts::committed().map_or(Vec::new(), |counts| counts.rows);
        let ours = rows.into_iter().map(|row| {
            let (ours, bare) = (row.per_packet(), None);
            (row.case, Instructions { ours, bare })
        });
        return ours.collect();
    }
    let ours = count_all("--once", |_| true, false);
    let bare = count_all("--bare-once", bare::runs, false);
    let with_bare = ours.into_iter().map(|row| {
        let bare = bare.iter().find(|bare| bare.case == row.case);
        let counts = Instructions {
            ours: row.per_packet(),
            bare: bare.map(Count::per_packet),
        };
        (row.case, counts)
    });
    with_bare.collect()
}

/// Returns a sentence for each case that differs from its committed count by more than the
/// threshold, or that only one of the two has.
fn changes(committed: &Counts, now: &Counts) -> Vec<String> {
    let mut changes = Vec::new();
    for row in &now.rows {
        let Some(before) = committed.rows.iter().find(|other| other.case == row.case) else {
            changes.push(format!("{} has no committed count", row.case));
            continue;
        };
        let change = row.per_packet() / before.per_packet() - 1.0;
        if change.abs() > THRESHOLD {
            let word = if change > 0.0 { "more" } else { "fewer" };
            changes.push(format!(
                "{} takes {:.1} % {word} instructions per packet than its committed count",
                row.case,
                100.0 * change.abs()
            ));
        }
    }
    let is_gone = |row: &&Count| now.rows.iter().all(|other| other.case != row.case);
    let gone = committed.rows.iter().filter(is_gone);
    changes.extend(gone.map(|row| format!("{} is no case any more", row.case)));
    changes
}

/// Counts all cases and compares them with the committed counts, or writes these if `update`.
/// Returns false if a count has changed.
pub fn report(update: bool) -> bool {
    let compiler = compiler();
    let committed = Counts::committed();
    if !valgrind_is_installed() {
        println!("SKIPPED: instructions are not counted, because valgrind is not installed");
        return !update;
    }
    if let (Some(committed), false) = (&committed, update)
        && committed.compiler != compiler
    {
        println!(
            "SKIPPED: instructions are not compared, because the committed counts are of another \
             compiler\n  committed: {}\n  this one:  {compiler}\n  `make counts` writes counts of \
             this one",
            committed.compiler
        );
        return true;
    }
    let now = Counts {
        compiler,
        rows: count_all("--once", |_| true, update),
    };
    for row in &now.rows {
        let before = committed.as_ref().map(|counts| &counts.rows);
        let before = before.and_then(|rows| rows.iter().find(|other| other.case == row.case));
        let change = before.map_or(String::new(), |before| {
            let change = row.per_packet() / before.per_packet() - 1.0;
            format!("{:+.2} %", 100.0 * change)
        });
        let misses = row.misses_per_packet(", ");
        let title = if misses.is_empty() {
            ""
        } else {
            "  cache misses: "
        };
        println!(
            "{:<12}{:>7.0} instructions per packet  {change}{title}{misses}",
            row.case,
            row.per_packet()
        );
    }
    if update {
        fs::write(FILE, now.text()).expect("the file can be written");
        let page = fs::read_to_string(PAGE).expect("the page can be read");
        let page = with_block(&page, MARKS, &now.markdown()).expect("the page has the two marks");
        fs::write(PAGE, page).expect("the page can be written");
        return true;
    }
    let changes = committed.map_or(vec!["no count is committed".to_owned()], |committed| {
        changes(&committed, &now)
    });
    for change in &changes {
        eprintln!("error: {change}");
    }
    if !changes.is_empty() {
        eprintln!(
            "If this is intended, `make counts` writes the counts again; commit them with the \
             change that causes it."
        );
    }
    changes.is_empty()
}

/// Counts each shortened case that `is_counted`, in a process of its own that is started with
/// `flag`, on all processors. Counts misses in caches too, if `with_misses`, which takes longer.
fn count_all(flag: &str, is_counted: impl Fn(&Case) -> bool, with_misses: bool) -> Vec<Count> {
    let is_counted = |name| is_counted(&cases::named(name).expect("a known case"));
    let chosen: Vec<_> = SHORTENED
        .into_iter()
        .filter(|(name, _)| is_counted(name))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counted = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, simulated)) = chosen.get(index) else {
                return counted;
            };
            counted.push((index, count(case, flag, simulated, with_misses)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut counted: Vec<(usize, Count)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .flat_map(|rows| rows.expect("a case can be counted"))
            .collect()
    });
    counted.sort_by_key(|(index, _)| *index);
    counted.into_iter().map(|(_, count)| count).collect()
}

/// Runs one case under callgrind, three times if `with_misses`.
fn count(case: &str, flag: &str, simulated: &str, with_misses: bool) -> Count {
    let (functions, arguments) = ("*counts*simulate*", [case, flag, simulated]);
    let (packets, instructions) = callgrind(functions, &arguments);
    let collect = |options: &[String]| collected(functions, options, &arguments).1;
    let misses = with_misses.then(|| Misses::count(collect));
    Count {
        misses,
        case: case.to_owned(),
        simulated: simulated.to_owned(),
        packets: packets.trim().parse().expect("the child prints a number"),
        instructions,
    }
}

/// Runs this program with these arguments under callgrind. Returns what it prints, and the
/// instructions of the functions whose names fit the pattern.
pub fn callgrind(functions: &str, arguments: &[&str]) -> (String, u64) {
    let (printed, counts) = collected(functions, &[], arguments);
    (printed, counts[0])
}

/// Runs this program with these arguments under callgrind with these options. Returns what it prints,
/// and all counts that callgrind collects in the functions whose names fit the pattern. The first is
/// that of instructions, which is not 0.
fn collected(functions: &str, options: &[String], arguments: &[&str]) -> (String, Vec<u64>) {
    let this = std::env::current_exe().expect("a running program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--collect-atstart=no")
        .arg(format!("--toggle-collect={functions}"))
        .args(options)
        .arg(this)
        .args(arguments)
        .output()
        .expect("valgrind was there a moment ago");
    let log = String::from_utf8_lossy(&output.stderr);
    let numbers = |text: &str| text.split_whitespace().flat_map(str::parse).collect();
    let counts = log
        .lines()
        .find_map(|line| Some(numbers(line.split_once("Collected :")?.1)))
        .filter(|counts: &Vec<u64>| counts.first().is_some_and(|count| *count > 0))
        .unwrap_or_else(|| panic!("callgrind counted nothing in {arguments:?}:\n{log}"));
    (String::from_utf8_lossy(&output.stdout).into_owned(), counts)
}

/// Runs a shortened case once and returns the number of delivered data packets. Callgrind counts
/// this.
pub fn once(case: &str, simulated: &str) -> u64 {
    let mut case = cases::named(case).expect("the parent names known cases");
    for (key, value) in [("duration", simulated), ("warmup", "10%")] {
        case.overrides.push((key.to_owned(), value.to_owned()));
    }
    let network = case.scenario().network();
    simulate(&network).totals.delivered_forward
}

/// Runs a shortened case once in the bare loop and returns the number of delivered data packets.
/// Callgrind counts this.
pub fn bare_once(case: &str, simulated: &str) -> u64 {
    let case = cases::named(case).expect("the parent names known cases");
    let dumbbell = case
        .dumbbell
        .expect("the parent names cases of the bare loop");
    let seconds = simulated.strip_suffix('s').and_then(|s| s.parse().ok());
    simulate_bare(&dumbbell, seconds.expect("the parent names whole seconds"))
}

/// Runs the bare loop. Callgrind counts instructions only in this function and in [`simulate`], which
/// it finds by name.
#[inline(never)]
fn simulate_bare(dumbbell: &Dumbbell, seconds: f64) -> u64 {
    bare::run(dumbbell, seconds).delivered
}

/// Runs a network. Callgrind counts instructions only in this function and in [`simulate_bare`],
/// which it finds by name.
#[inline(never)]
fn simulate(network: &Network) -> Outcome {
    goodqueue_sim::run(network)
}

pub fn valgrind_is_installed() -> bool {
    let output = Command::new("valgrind").arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns the version and the host of the compiler in one line.
pub fn compiler() -> String {
    let output = Command::new("rustc").arg("-vV").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let host = text.lines().find(|line| line.starts_with("host: "));
    let version = text.lines().next().unwrap_or("an unknown compiler");
    format!("{version}, {}", host.unwrap_or("unknown host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> Counts {
        let row = |(case, instructions): &(&str, u64)| Count {
            case: (*case).to_owned(),
            simulated: "1s".to_owned(),
            packets: 10,
            instructions: *instructions,
            misses: Some(Misses::from_columns([instructions / 10, 20, 0])),
        };
        Counts {
            compiler: "rustc 1, host: x".to_owned(),
            rows: of.iter().map(row).collect(),
        }
    }

    #[test]
    fn the_file_can_be_read_again() {
        let counts = counts(&[("s1", 28_250), ("many-flows", 60_000)]);
        assert_eq!(Counts::parse(&counts.text()), Some(counts));
    }

    #[test]
    fn the_table_has_the_misses_per_packet() {
        let text = counts(&[("s1", 28_250)]).markdown();
        let row = "| s1 | 1s | 10 | 2825 | 282.50 | 2.00 | 0.00 |\n";
        assert!(text.ends_with(row), "{text}");
    }

    #[test]
    fn a_change_beyond_two_percent_is_reported_in_both_directions() {
        let before = counts(&[("slower", 10_000), ("equal", 10_000), ("faster", 10_000)]);
        let now = counts(&[("slower", 10_210), ("equal", 10_190), ("faster", 9_790)]);
        assert_eq!(
            changes(&before, &now),
            [
                "slower takes 2.1 % more instructions per packet than its committed count",
                "faster takes 2.1 % fewer instructions per packet than its committed count",
            ]
        );
    }

    #[test]
    fn a_case_that_only_one_side_has_is_reported() {
        assert_eq!(changes(&counts(&[("a", 1)]), &counts(&[("b", 1)])).len(), 2);
    }

    #[test]
    fn every_case_has_a_committed_count() {
        let committed = Counts::committed().expect("crates/bench/instructions.txt can be read");
        let rows = committed.rows.iter();
        let known: Vec<_> = rows
            .clone()
            .map(|row| (row.case.as_str(), row.simulated.as_str()))
            .collect();
        assert_eq!(known, SHORTENED);
        assert!(
            rows.clone().all(|row| row.misses.is_some()),
            "`make counts` counts them"
        );
    }

    #[test]
    fn the_page_on_performance_has_the_committed_counts() {
        let page = fs::read_to_string(PAGE).expect("the page can be read");
        let committed = Counts::committed().expect("crates/bench/instructions.txt can be read");
        let renewed = with_block(&page, MARKS, &committed.markdown());
        assert!(
            renewed == Some(page),
            "`make counts` writes the table again"
        );
    }
}
