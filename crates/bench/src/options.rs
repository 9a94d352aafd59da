//! The options of the command line.

use crate::cases::{self, Case};
use crate::peers;
use crate::rounds::Beside;

/// Usual number of rounds.
const ROUNDS: u32 = 5;
/// Number of rounds with `--quick`.
const QUICK_ROUNDS: u32 = 3;
/// Cases with `--quick`.
const QUICK: [&str; 4] = ["s1", "s2", "s3", "s4"];

/// Options of the benchmark: its cases, rounds and report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Cases in the order in which they run.
    pub cases: Vec<Case>,
    /// Number of rounds.
    pub rounds: u32,
    /// True if instructions are not counted but read from the committed file.
    pub quick: bool,
    /// True if results are printed as JSON.
    pub json: bool,
    /// True if the table is written into the documentation.
    pub write: bool,
    /// Programs that run in turn with goodqueue.
    pub beside: Beside,
}

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// Returns a sentence that names the argument which cannot be understood.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut names = Vec::new();
        let (mut rounds, mut no_ns2) = (None, false);
        let (mut quick, mut json, mut write) = (false, false, false);
        let mut beside = Beside::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = |what| {
                let value = rest.next().cloned();
                value.ok_or(format!("write {what} after {argument}"))
            };
            match argument.as_str() {
                "--quick" => quick = true,
                "--json" => json = true,
                "--write" => write = true,
                "--no-ns2" => no_ns2 = true,
                "--rounds" => {
                    let number = value("the number of rounds")?.parse().ok();
                    let number = number.filter(|number| *number > 0);
                    rounds = Some(number.ok_or("write a number of rounds, as in --rounds 5")?);
                }
                "--profiled" => beside.profiled = Some(value("the path of a program")?),
                "--htsim" => beside.htsim = Some(value("the path of a program")?),
                option if option.starts_with("--") => {
                    return Err(format!("no option {option}"));
                }
                name => names.push(name),
            }
        }
        beside.ns2 = !no_ns2 && peers::ns2_is_installed();
        if names.is_empty() && quick {
            names.extend(QUICK);
        }
        let cases = if names.is_empty() {
            cases::all()
        } else {
            let found = names.into_iter().map(named);
            found.collect::<Result<_, _>>()?
        };
        Ok(Self {
            cases,
            rounds: rounds.unwrap_or(if quick { QUICK_ROUNDS } else { ROUNDS }),
            quick,
            json,
            write,
            beside,
        })
    }
}

impl Options {
    /// Returns true if every case runs.
    pub fn is_whole(&self) -> bool {
        self.cases.len() == cases::all().len()
    }
}

fn named(name: &str) -> Result<Case, String> {
    cases::named(name).ok_or_else(|| {
        let all = cases::all();
        let known: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
        format!(
            "no case \"{name}\"; there are {}, and crowd-N and crowd-N-linux for N flows",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    fn names(options: &Options) -> Vec<&str> {
        options
            .cases
            .iter()
            .map(|case| case.name.as_str())
            .collect()
    }

    #[test]
    fn without_arguments_all_cases_run() {
        let options = parse("").expect("no argument is wrong");
        assert!(options.is_whole() && !options.quick);
        assert_eq!(options.rounds, ROUNDS);
    }

    #[test]
    fn a_quick_run_has_four_cases_unless_some_are_named() {
        let options = parse("--quick").expect("a known option");
        assert_eq!(
            (names(&options), options.rounds),
            (QUICK.to_vec(), QUICK_ROUNDS)
        );
        let options = parse("grow-10 --quick --rounds 1").expect("known options");
        assert_eq!((names(&options), options.rounds), (vec!["grow-10"], 1));
        assert!(!options.is_whole());
    }

    #[test]
    fn programs_are_values_and_no_cases() {
        let options = parse("s3 --htsim /a --profiled /b --no-ns2").expect("known options");
        assert_eq!(names(&options), ["s3"]);
        assert_eq!(options.beside.htsim.as_deref(), Some("/a"));
        assert_eq!(options.beside.profiled.as_deref(), Some("/b"));
        assert!(!options.beside.ns2);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("s9", "no case \"s9\""),
            ("--rounds", "write the number of rounds after --rounds"),
            ("--rounds 0", "write a number of rounds"),
            ("--htsim", "write the path of a program after --htsim"),
            ("--fast", "no option --fast"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
