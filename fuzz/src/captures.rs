//! Damaged and made-up files through all that reads captures: of one or two tapping points, traces of
//! ns-2 and logs of drops. Nothing may panic or hang, and no figure may contradict another; the most
//! memory that the analysis took is counted.

use crate::{below, damage, made_up};
use goodqueue_passive::{FileError, Options, analyze_files};
use goodqueue_types::RandomStream;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Invented files are long, so only one round in this number tries them.
const MADE_UP: usize = 400;
/// One such file may take a minute: a run of fewer seconds has none.
const LONG_FROM: u64 = 60;
/// A round of damaged files that takes longer is taken to hang, even on a busy machine, ...
const SLOWEST: Duration = Duration::from_secs(30);
/// ... as is one of files of a million packets.
const SLOWEST_MADE_UP: Duration = Duration::from_secs(300);

/// One or two files, and how they are looked at.
pub struct Input {
    pub files: Vec<Vec<u8>>,
    pub drops: Option<Vec<f64>>,
    pub link_rate_bps: Option<u64>,
}

/// Results of the rounds so far.
#[derive(Default)]
struct Count {
    rounds: u64,
    made_up: u64,
    refused: u64,
    packets: u64,
    slowest: Duration,
    most_kib: u64,
}

/// Tries files for this number of seconds; files that cause a panic or a hang are kept as
/// `fuzz/crash-*`.
pub fn run_for(seconds: u64, seed: u64, files: &[String]) -> Result<(), Box<dyn Error>> {
    let seeds = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    let mut random = RandomStream::new(seed, "fuzz", 0);
    let folder = std::env::temp_dir().join(format!("goodqueue-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (begin, mut count, mut told) = (Instant::now(), Count::default(), Duration::ZERO);
    while begin.elapsed().as_secs() < seconds {
        let made_up = below(&mut random, MADE_UP) == 0 && seconds >= LONG_FROM;
        let mut input = if made_up {
            made_up::input(&mut random)
        } else {
            damage::input(&seeds, &mut random)
        };
        count.made_up += u64::from(made_up);
        let slowest = if made_up { SLOWEST_MADE_UP } else { SLOWEST };
        let paths = put_away(&mut input, &folder)?;
        if !survives(&input, &paths, slowest, &mut count) {
            let round = count.rounds;
            for (index, path) in paths.iter().enumerate() {
                std::fs::copy(path, format!("fuzz/crash-{round}-{index}"))?;
            }
            let how = format!("drops {:?}, rate {:?}", input.drops, input.link_rate_bps);
            return Err(format!("round {round} of seed {seed} panics or hangs: {how}").into());
        }
        if begin.elapsed() > told + Duration::from_secs(60) {
            told = begin.elapsed();
            println!("{:5} s: {}", told.as_secs(), count.text());
        }
    }
    std::fs::remove_dir_all(folder)?;
    println!("captures: {seconds} s: {}: no fault", count.text());
    Ok(())
}

impl Count {
    fn text(&self) -> String {
        format!(
            "{} inputs, {} of them long files, {} refused, {} packets, slowest {:.2} s, {} KiB",
            self.rounds,
            self.made_up,
            self.refused,
            self.packets,
            self.slowest.as_secs_f64(),
            self.most_kib
        )
    }
}

/// The most memory since [`forget_memory`], where the system tells.
fn memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Resets the peak memory, so that memory for making a file does not count for the analysis.
fn forget_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Writes the files down and forgets them.
fn put_away(input: &mut Input, folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for (index, bytes) in std::mem::take(&mut input.files).iter().enumerate() {
        let path = folder.join(index.to_string());
        std::fs::write(&path, bytes)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Analyses the files; whether that neither panics nor takes too long.
fn survives(input: &Input, paths: &[PathBuf], slowest: Duration, count: &mut Count) -> bool {
    forget_memory();
    let started = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(input, paths)));
    count.rounds += 1;
    count.slowest = count.slowest.max(started.elapsed());
    count.most_kib = count.most_kib.max(memory_kib().unwrap_or(0));
    match outcome {
        Ok(Some(packets)) => count.packets += packets,
        Ok(None) => count.refused += 1,
        Err(_) => return false,
    }
    started.elapsed() <= slowest
}

/// The packets read; none if the files are refused.
fn run(input: &Input, paths: &[PathBuf]) -> Option<u64> {
    let options = Options {
        path: paths[0].clone(),
        after: paths.get(1).cloned(),
        link_rate_bps: input.link_rate_bps,
        drops: input.drops.clone(),
        seed: 1,
        ..Options::default()
    };
    let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
    let whole: u64 = paths.iter().map(length).sum();
    let analysed = analyze_files(&options, |bytes| {
        assert!(bytes <= whole, "{bytes} of {whole} bytes");
        true
    });
    match analysed {
        Ok((report, readings)) => {
            let _ = report.summary_json(&readings).to_string();
            assert_eq!(report.contradictions(), Vec::<String>::new());
            Some(readings.iter().map(|reading| reading.packets).sum())
        }
        Err(FileError::NoPackets(..)) => None,
        Err(error) => panic!("{error}"),
    }
}
