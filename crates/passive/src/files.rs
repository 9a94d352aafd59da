//! Files of packets through the analysis: captures of one or two tapping points, or a trace of ns-2.

use crate::analyzer::{Analyzer, Tap};
use crate::ns2::{Replay, target_link};
use crate::report::Report;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::{
    Capture, Datagram, Ns2Event, Ns2Totals, Ns2Trace, ReadError, Skip, Tally, decode,
};
use serde_json::{Value, json};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// "Is a directory" of every Unix: what reading one would say later.
const EISDIR: i32 = 21;

/// Packets between two calls for progress.
const STEP: u64 = 1 << 16;

/// What to analyse, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The capture, or the one before the target link.
    pub path: PathBuf,
    /// The capture after it.
    pub after: Option<PathBuf>,
    /// The link's rate, if it is known.
    pub link_rate_bps: Option<u64>,
    /// Times of drops at the link, in seconds on the capture's clock.
    pub drops: Option<Vec<f64>>,
    /// What judgements hang on.
    pub thresholds: Thresholds,
    /// Of the bootstrap.
    pub seed: u64,
}

/// Why a file could not be analysed.
#[derive(Debug)]
pub enum FileError {
    /// It could not be read.
    Io(PathBuf, io::Error),
    /// It holds no packets that can be analysed, and why.
    NoPackets(PathBuf, String),
    /// Whoever looked on wants no more.
    Stopped,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::NoPackets(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for FileError {}

/// How the reading of a file went.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub format: &'static str,
    /// Frames, or lines of a trace.
    pub frames: u64,
    /// Of these, IP packets that were analysed.
    pub packets: u64,
    /// Bytes up to where reading ended.
    pub bytes_read: u64,
    /// Interfaces that it describes.
    pub interfaces: usize,
    /// What was left out, and why.
    pub skipped: Tally,
    /// Whether it ends within a record.
    pub is_cut: bool,
    /// Times of the first and last packet in seconds, on the file's clock.
    pub span_s: Option<(f64, f64)>,
}

/// Analyses files. `progress` is told the bytes read now and then, and says whether to go on.
///
/// # Errors
///
/// If a file cannot be read or holds no packets, or if `progress` says so.
pub fn analyze_files(
    options: &Options,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<(Report, Vec<Reading>), FileError> {
    if is_ns2(&options.path)? {
        return analyze_ns2(options, progress);
    }
    let mut first = Stream::open(&options.path)?;
    let mut second = options.after.as_deref().map(Stream::open).transpose()?;
    let mut analyzer = Analyzer::new(options.thresholds.clone(), second.is_some());
    let mut count = 0;
    let mut next = [first.next()?, None];
    if let Some(second) = &mut second {
        next[1] = second.next()?;
    }
    loop {
        let from_second = match &next {
            [Some(first), Some(second)] => second.0 < first.0,
            [first, second] => first.is_none() && second.is_some(),
        };
        let taken = next[usize::from(from_second)].take();
        let Some((time, datagram)) = taken else { break };
        if from_second {
            analyzer.packet(Tap::Second, time, &datagram);
            if let Some(second) = &mut second {
                next[1] = second.next()?;
            }
        } else {
            analyzer.packet(Tap::First, time, &datagram);
            next[0] = first.next()?;
        }
        count += 1;
        if count % STEP == 0 {
            let read = first.position() + second.as_ref().map_or(0, Stream::position);
            if !progress(read) {
                return Err(FileError::Stopped);
            }
        }
    }
    let readings: Vec<_> = [Some(first), second]
        .into_iter()
        .flatten()
        .map(Stream::reading)
        .collect();
    finish(analyzer, readings, options)
}

fn finish(
    analyzer: Analyzer,
    readings: Vec<Reading>,
    options: &Options,
) -> Result<(Report, Vec<Reading>), FileError> {
    if let Some(empty) = readings.iter().find(|reading| reading.packets == 0) {
        let why = if empty.frames == 0 {
            "it holds no frames".to_owned()
        } else {
            let reasons = empty
                .skipped
                .iter()
                .map(|(skip, count)| format!("{} {count}", skip.name()));
            let reasons: Vec<_> = reasons.collect();
            format!(
                "none of its {} frames holds an IP packet: {}",
                empty.frames,
                reasons.join(", ")
            )
        };
        return Err(FileError::NoPackets(empty.path.clone(), why));
    }
    let drops = options.drops.as_deref();
    let report = analyzer.finish(options.link_rate_bps, drops, options.seed);
    Ok((report, readings))
}

/// The packets of one capture file.
struct Stream {
    path: PathBuf,
    capture: Capture<File>,
    skipped: Tally,
    packets: u64,
    span: Option<(i64, i64)>,
    clock: Clock,
}

/// Tells times that a damaged record made up: a single one would stretch a capture over years.
#[derive(Default)]
struct Clock {
    last: Option<i64>,
    /// Times far from the last good one, one after the other and near each other.
    odd: Option<(i64, u32)>,
}

impl Clock {
    /// Further from the packet before, a time is odd ...
    const FAR_NS: u64 = 3600 * 1_000_000_000;
    /// ... unless so many in a row agree: then the capture rested, or the clock was set.
    const ENOUGH: u32 = 3;

    fn is_odd(&mut self, time: i64) -> bool {
        let near = |other: i64| time.abs_diff(other) <= Self::FAR_NS;
        if self.last.is_none_or(near) {
            (self.last, self.odd) = (Some(time), None);
            return false;
        }
        let streak = self
            .odd
            .filter(|(odd, _)| near(*odd))
            .map_or(1, |(_, streak)| streak + 1);
        if streak >= Self::ENOUGH {
            (self.last, self.odd) = (Some(time), None);
            return false;
        }
        self.odd = Some((time, streak));
        true
    }
}

impl Stream {
    fn open(path: &Path) -> Result<Self, FileError> {
        let file = open(path)?;
        let capture = Capture::new(file).map_err(|error| match error {
            ReadError::Io(error) => FileError::Io(path.to_owned(), error),
            error @ ReadError::NotACapture(_) => {
                FileError::NoPackets(path.to_owned(), error.to_string())
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            capture,
            skipped: Tally::default(),
            packets: 0,
            span: None,
            clock: Clock::default(),
        })
    }

    fn next(&mut self) -> Result<Option<(i64, Datagram)>, FileError> {
        loop {
            let frame = self.capture.next_frame();
            let frame = frame.map_err(|error| FileError::Io(self.path.clone(), error))?;
            let Some(frame) = frame else { return Ok(None) };
            let time = frame.time_ns;
            match decode(&frame) {
                Ok(_) if self.clock.is_odd(time) => self.skipped.add(Skip::OddTime),
                Ok(datagram) => {
                    self.packets += 1;
                    let (first, last) = self.span.unwrap_or((time, time));
                    self.span = Some((first.min(time), last.max(time)));
                    return Ok(Some((time, datagram)));
                }
                Err(skip) => self.skipped.add(skip),
            }
        }
    }

    fn position(&self) -> u64 {
        self.capture.position()
    }

    fn reading(self) -> Reading {
        let mut skipped = self.skipped;
        for (skip, count) in self.capture.tally().iter() {
            skipped.add_many(skip, count);
        }
        Reading {
            path: self.path,
            format: self.capture.format().name(),
            frames: self.capture.frames(),
            packets: self.packets,
            bytes_read: self.capture.position(),
            interfaces: self.capture.interfaces(),
            skipped,
            is_cut: self.capture.is_cut(),
            span_s: self.span.map(seconds),
        }
    }
}

fn seconds((first, last): (i64, i64)) -> (f64, f64) {
    (first as f64 * 1e-9, last as f64 * 1e-9)
}

fn open(path: &Path) -> Result<File, FileError> {
    let failed = |error| FileError::Io(path.to_owned(), error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::Error::from_raw_os_error(EISDIR)));
    }
    Ok(file)
}

/// Whether a file begins as a trace of ns-2. Pipes and the like are not looked into: what was read
/// could not be read again.
fn is_ns2(path: &Path) -> Result<bool, FileError> {
    let file = open(path)?;
    let failed = |error| FileError::Io(path.to_owned(), error);
    if !file.metadata().map_err(failed)?.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    file.take(4096).read_to_end(&mut start).map_err(failed)?;
    Ok(Ns2Trace::<BufReader<File>>::begins(&start))
}

fn read_ns2<T>(
    path: &Path,
    mut take: impl FnMut(&goodqueue_trace::read::Ns2Record, u64) -> Result<T, FileError>,
) -> Result<Reading, FileError> {
    let mut trace = Ns2Trace::new(BufReader::with_capacity(1 << 18, open(path)?));
    let mut span: Option<(i64, i64)> = None;
    let mut position = 0;
    loop {
        let record = trace.next_record();
        let record = record.map_err(|error| FileError::Io(path.to_owned(), error))?;
        let Some(record) = record else { break };
        let (first, last) = span.unwrap_or((record.time_ns, record.time_ns));
        span = Some((first.min(record.time_ns), last.max(record.time_ns)));
        take(&record, position)?;
        position = trace.position();
    }
    Ok(Reading {
        path: path.to_owned(),
        format: "ns-2",
        frames: trace.records(),
        packets: trace.records(),
        bytes_read: trace.position(),
        interfaces: 0,
        is_cut: trace.tally().count(Skip::CutRecord) > 0,
        skipped: trace.tally().clone(),
        span_s: span.map(seconds),
    })
}

/// A trace holds all links: the one that drops most is looked at, from both sides.
fn analyze_ns2(
    options: &Options,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<(Report, Vec<Reading>), FileError> {
    let mut totals = Ns2Totals::default();
    read_ns2(&options.path, |record, _| {
        totals.add(record);
        Ok(())
    })?;
    let target = target_link(&totals);
    let mut replay = Replay::new(target);
    let mut analyzer = Analyzer::new(options.thresholds.clone(), true);
    let mut count = 0;
    let reading = read_ns2(&options.path, |record, position| {
        if let Some((tap, datagram)) = replay.packet(record) {
            analyzer.packet(tap, record.time_ns, &datagram);
        }
        count += 1;
        if count % STEP == 0 && !progress(position) {
            return Err(FileError::Stopped);
        }
        Ok(())
    })?;
    finish(analyzer, vec![reading], options)
}

/// The totals of a trace of ns-2 as JSON: a row for each link and packet type.
///
/// # Errors
///
/// If it cannot be read, or is no such trace.
pub fn ns2_totals_json(path: &Path) -> Result<String, FileError> {
    if !is_ns2(path)? {
        let why = "its first line has not the 12 columns of a trace of ns-2".to_owned();
        return Err(FileError::NoPackets(path.to_owned(), why));
    }
    let mut totals = Ns2Totals::default();
    let reading = read_ns2(path, |record, _| {
        totals.add(record);
        Ok(())
    })?;
    let events = [
        ("enqueued", Ns2Event::Enqueued),
        ("dequeued", Ns2Event::Dequeued),
        ("received", Ns2Event::Received),
        ("dropped", Ns2Event::Dropped),
    ];
    let rows = totals.rows().map(|((from, to), kind, counts)| {
        let mut row = json!({"from": from, "to": to, "kind": kind});
        for (name, event) in events {
            let counts = counts[event as usize];
            row[format!("{name}_packets")] = counts.packets.into();
            row[format!("{name}_bytes")] = counts.bytes.into();
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    let reading = crate::json::reading_json(&reading);
    Ok(json!({"reading": reading, "rows": rows}).to_string())
}
