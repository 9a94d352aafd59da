//! Analysis of files of packets: captures of one or two tapping points, or a trace of ns-2.

use crate::analyzer::{Analyzer, Tap};
use crate::ns2::{Replay, target_link};
use crate::report::Report;
use crate::thresholds::Thresholds;
use goodqueue_trace::read::{
    Capture, Datagram, Ns2Record, Ns2Totals, Ns2Trace, ReadError, Skip, Tally, decode,
};
use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Error code "is a directory" of every Unix. Reading a directory would fail with it later.
const EISDIR: i32 = 21;

/// Bytes between two calls for progress.
const STEP: u64 = 1 << 20;

/// Files to analyse, and the parameters of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Capture, or the capture before the target link.
    pub path: PathBuf,
    /// Capture after the target link.
    pub after: Option<PathBuf>,
    /// The link's rate in bits per second, if it is known. Frames count as in the capture.
    pub link_rate_bps: Option<u64>,
    /// Times of drops at the link, in seconds on the capture's clock.
    pub drops: Option<Vec<f64>>,
    /// Thresholds of the judgements.
    pub thresholds: Thresholds,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Reason why a file could not be analysed.
#[derive(Debug)]
pub enum FileError {
    /// The file could not be read.
    Io(PathBuf, io::Error),
    /// The file holds no packets that can be analysed, for the given reason.
    NoPackets(PathBuf, String),
    /// The caller's `progress` stopped the analysis.
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

/// Result of reading a file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of its format.
    pub format: &'static str,
    /// Number of frames, or of lines of a trace.
    pub frames: u64,
    /// Number of these frames that held IP packets and were analysed.
    pub packets: u64,
    /// Bytes read until the reading ended.
    pub bytes_read: u64,
    /// Number of interfaces that the file describes.
    pub interfaces: usize,
    /// Counts of the parts left out, by reason.
    pub skipped: Tally,
    /// True if the file ends within a record.
    pub is_cut: bool,
    /// Times of the first and last packet in seconds, on the file's clock.
    pub span_s: Option<(f64, f64)>,
    /// Packets and bytes at each link, for a trace of ns-2.
    pub totals: Option<Ns2Totals>,
}

/// Analyses files. `progress` is called now and then with the bytes read, and returns false to
/// stop.
///
/// # Errors
///
/// Fails if a file cannot be read or holds no packets, or if `progress` returned false.
pub fn analyze_files(
    options: &Options,
    progress: impl FnMut(u64) -> bool,
) -> Result<(Report, Vec<Reading>), FileError> {
    for path in [Some(&options.path), options.after.as_ref()]
        .into_iter()
        .flatten()
    {
        if is_ns2(path)? {
            return analyze_ns2(options, path, progress);
        }
    }
    let watch = Watch::new(progress, 1);
    let mut first = Stream::open(&options.path, &watch)?;
    let second = options.after.as_deref();
    let mut second = second.map(|path| Stream::open(path, &watch)).transpose()?;
    let mut analyzer = Analyzer::new(options.thresholds.clone(), second.is_some());
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

/// Progress of the reading, for the caller.
struct Watch<P> {
    progress: P,
    /// Number of times that the files are read. Each pass counts for its part.
    passes: u64,
    read: u64,
    reported: u64,
}

impl<P: FnMut(u64) -> bool> Watch<P> {
    fn new(progress: P, passes: u64) -> RefCell<Self> {
        RefCell::new(Self {
            progress,
            passes,
            read: 0,
            reported: 0,
        })
    }

    fn on_read(&mut self, count: usize) -> io::Result<()> {
        self.read += count as u64;
        if self.read - self.reported < STEP {
            return Ok(());
        }
        self.reported = self.read;
        if (self.progress)(self.read / self.passes) {
            Ok(())
        } else {
            Err(io::Error::other(FileError::Stopped))
        }
    }
}

/// File that reports its reading. A read fails once `progress` has returned false.
struct Watched<'w, P> {
    file: File,
    watch: &'w RefCell<Watch<P>>,
}

impl<P: FnMut(u64) -> bool> Read for Watched<'_, P> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(memory)?;
        self.watch.borrow_mut().on_read(count)?;
        Ok(count)
    }
}

fn failed(path: &Path, error: io::Error) -> FileError {
    let own = error.downcast::<FileError>();
    own.unwrap_or_else(|error| FileError::Io(path.to_owned(), error))
}

/// First and last of several times in nanoseconds, in any order.
#[derive(Clone, Copy, Default)]
struct Extent(Option<(i64, i64)>);

impl Extent {
    fn add(&mut self, time: i64) {
        let (first, last) = self.0.unwrap_or((time, time));
        self.0 = Some((first.min(time), last.max(time)));
    }

    fn seconds(self) -> Option<(f64, f64)> {
        let (first, last) = self.0?;
        Some((first as f64 * 1e-9, last as f64 * 1e-9))
    }
}

/// Packets of one capture file.
struct Stream<'w, P> {
    path: PathBuf,
    capture: Capture<Watched<'w, P>>,
    skipped: Tally,
    packets: u64,
    extent: Extent,
    clock: Clock,
}

/// Detector of wrong times in damaged records. A single one would stretch a capture over years.
#[derive(Default)]
struct Clock {
    last: Option<i64>,
    /// Last of the consecutive times far from the last good one and near each other, and their
    /// number.
    odd: Option<(i64, u32)>,
}

impl Clock {
    /// Difference from the time of the packet before, above which a time is odd.
    const FAR_NS: u64 = 3600 * 1_000_000_000;
    /// Number of odd times in a row that are accepted if they agree: there was a pause in the
    /// capture, or the clock was set.
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

impl<'w, P: FnMut(u64) -> bool> Stream<'w, P> {
    fn open(path: &Path, watch: &'w RefCell<Watch<P>>) -> Result<Self, FileError> {
        let file = open(path)?;
        let capture = Capture::new(Watched { file, watch }).map_err(|error| match error {
            ReadError::Io(error) => failed(path, error),
            error @ ReadError::NotACapture(_) => {
                FileError::NoPackets(path.to_owned(), error.to_string())
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            capture,
            skipped: Tally::default(),
            packets: 0,
            extent: Extent::default(),
            clock: Clock::default(),
        })
    }

    fn next(&mut self) -> Result<Option<(i64, Datagram)>, FileError> {
        loop {
            let frame = self.capture.next_frame();
            let frame = frame.map_err(|error| failed(&self.path, error))?;
            let Some(frame) = frame else { return Ok(None) };
            let time = frame.time_ns;
            match decode(&frame) {
                Ok(_) if self.clock.is_odd(time) => self.skipped.add(Skip::OddTime),
                Ok(datagram) => {
                    self.packets += 1;
                    self.extent.add(time);
                    return Ok(Some((time, datagram)));
                }
                Err(skip) => self.skipped.add(skip),
            }
        }
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
            span_s: self.extent.seconds(),
            totals: None,
        }
    }
}

fn open(path: &Path) -> Result<File, FileError> {
    let file = File::open(path).map_err(|error| failed(path, error))?;
    if file
        .metadata()
        .map_err(|error| failed(path, error))?
        .is_dir()
    {
        return Err(failed(path, io::Error::from_raw_os_error(EISDIR)));
    }
    Ok(file)
}

/// Returns true if a file begins as a trace of ns-2 does. Pipes and other special files are not
/// examined, because they cannot be read twice.
fn is_ns2(path: &Path) -> Result<bool, FileError> {
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(false);
    }
    let mut start = Vec::new();
    let read = open(path)?.take(4096).read_to_end(&mut start);
    read.map_err(|error| failed(path, error))?;
    Ok(Ns2Trace::<BufReader<File>>::begins(&start))
}

fn read_ns2<P: FnMut(u64) -> bool>(
    path: &Path,
    watch: &RefCell<Watch<P>>,
    mut take: impl FnMut(&Ns2Record),
) -> Result<Reading, FileError> {
    let file = open(path)?;
    let mut trace = Ns2Trace::new(BufReader::with_capacity(1 << 18, Watched { file, watch }));
    let mut extent = Extent::default();
    while let Some(record) = trace.next_record().map_err(|error| failed(path, error))? {
        extent.add(record.time_ns);
        take(&record);
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
        span_s: extent.seconds(),
        totals: None,
    })
}

/// Analyses a trace of ns-2 from both sides of the link with most drops. A trace holds all links.
fn analyze_ns2(
    options: &Options,
    path: &Path,
    progress: impl FnMut(u64) -> bool,
) -> Result<(Report, Vec<Reading>), FileError> {
    if options.after.is_some() {
        let why = "a trace of ns-2 shows both sides of its links, so it is analysed without a second file";
        return Err(FileError::NoPackets(path.to_owned(), why.to_owned()));
    }
    let watch = Watch::new(progress, 2);
    let mut totals = Ns2Totals::default();
    read_ns2(path, &watch, |record| totals.add(record))?;
    let mut replay = Replay::new(target_link(&totals));
    let mut analyzer = Analyzer::new(options.thresholds.clone(), true);
    let mut reading = read_ns2(path, &watch, |record| {
        if let Some((tap, datagram)) = replay.packet(record) {
            analyzer.packet(tap, record.time_ns, &datagram);
        }
    })?;
    reading.totals = Some(totals);
    finish(analyzer, vec![reading], options)
}
