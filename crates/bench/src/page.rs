//! The tables that this program writes into the documentation's page on performance.

use crate::caches;
use crate::goals;
use crate::rounds::{self, Beside, Row};
use std::fmt::Write;
use std::fs;

/// The page.
pub const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");

/// Lines of the page before and after the table of times.
const MARKS: [&str; 2] = ["<!-- times: begin -->\n", "<!-- times: end -->\n"];

/// Load of the machine, in processes, above which times are provisional. The benchmark itself keeps
/// one processor busy.
const BUSY: f64 = 1.5;

/// The table of times, with the machine and the compiler.
#[derive(Clone, Debug)]
pub struct Table {
    /// Rows in the order of their measurement.
    pub rows: Vec<Row>,
    rounds: u32,
    absent: String,
    load: [Option<f64>; 2],
}

impl Table {
    /// Begins a table.
    pub fn begin(rounds: u32, beside: &Beside) -> Self {
        Self {
            rows: Vec::new(),
            rounds,
            absent: absent(beside),
            load: [load(), None],
        }
    }

    /// Records the load of the machine at the end.
    pub fn end(&mut self) {
        self.load[1] = load();
    }

    /// Returns a sentence on the programs that are not part of the table.
    pub fn absent(&self) -> &str {
        &self.absent
    }

    /// Returns sentences on the machine, its load, and the rounds.
    pub fn circumstances(&self) -> String {
        let [begin, end] = self
            .load
            .map(|load| load.map_or("unknown".to_owned(), |load| format!("{load:.2}")));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let provisional = if self.load.iter().flatten().any(|load| *load > BUSY) {
            " **The machine was busy, so these times are provisional.**"
        } else {
            ""
        };
        let plural = if self.rounds == 1 { "" } else { "s" };
        let is_missing = if self.absent.is_empty() { "" } else { " " };
        format!(
            "The table has the median of {} round{plural} and their range. The machine has {processors} \
             processors ({}) with {}; its load was {begin} at the beginning and {end} at the \
             end.{is_missing}{}{provisional}",
            self.rounds,
            processor(),
            caches::of_machine(),
            self.absent
        )
    }

    /// Returns the goals and the measured values, as a table in Markdown.
    pub fn goals(&self) -> String {
        goals::markdown(&self.rows)
    }

    fn markdown(&self) -> String {
        let mut text = format!("{}\n\n{}\n", self.circumstances(), rounds::HEADER);
        for row in &self.rows {
            let _ = writeln!(text, "{row}");
        }
        format!(
            "{text}\nThe medians beside the goals are in the next table. Bold ones miss their goal.\n\n{}",
            self.goals()
        )
    }
}

/// Returns a sentence on what does not run, or nothing.
fn absent(beside: &Beside) -> String {
    let programs = [
        ("ns-2", beside.ns2),
        ("htsim", beside.htsim.is_some()),
        ("the profile-guided build", beside.profiled.is_some()),
    ];
    let missing: Vec<&str> = programs
        .into_iter()
        .filter_map(|(name, runs)| (!runs).then_some(name))
        .collect();
    if missing.is_empty() {
        String::new()
    } else {
        format!("Not part of this run: {}.", missing.join(", "))
    }
}

/// Returns the mean number of running processes over the last minute.
fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Returns the name of the processor.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    name.unwrap_or("of unknown model".to_owned())
}

/// Writes the table of times into the page.
///
/// # Errors
/// Returns a sentence if the page cannot be read or written, or has no place for the table.
pub fn write_table(table: &Table) -> Result<(), String> {
    let page = fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
    let page = with_block(&page, MARKS, &table.markdown())
        .ok_or(format!("{PAGE} has no marks for the table"))?;
    fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"))
}

/// Returns the page with another block between the marks, or none if it has no marks.
pub fn with_block(page: &str, marks: [&str; 2], block: &str) -> Option<String> {
    let (before, rest) = page.split_once(marks[0])?;
    let (_, after) = rest.split_once(marks[1])?;
    Some(format!(
        "{before}{}\n{block}\n{}{after}",
        marks[0], marks[1]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            rows: Vec::new(),
            rounds: 5,
            absent: absent(&Beside {
                profiled: Some("program".to_owned()),
                ns2: true,
                htsim: None,
            }),
            load: [Some(0.25), Some(1.0)],
        }
    }

    #[test]
    fn the_page_has_a_place_for_the_table() {
        let page = fs::read_to_string(PAGE).expect("the page can be read");
        let renewed = with_block(&page, MARKS, &table().markdown()).expect("marks");
        assert!(renewed.contains("Not part of this run: htsim."));
        let again = with_block(&renewed, MARKS, &table().markdown());
        assert_eq!(again, Some(renewed), "writing twice changes nothing");
    }

    #[test]
    fn a_busy_machine_makes_times_provisional() {
        let mut table = table();
        let text = table.circumstances();
        assert!(
            text.contains("load was 0.25 at the beginning and 1.00 at the end. Not"),
            "{text}"
        );
        assert!(!text.contains("provisional"));
        table.load[0] = Some(2.0);
        assert!(table.circumstances().contains("provisional"));
    }

    #[test]
    fn nothing_is_absent_if_everything_runs() {
        let program = || Some("program".to_owned());
        let beside = Beside {
            profiled: program(),
            ns2: true,
            htsim: program(),
        };
        assert_eq!(absent(&beside), "");
    }
}
