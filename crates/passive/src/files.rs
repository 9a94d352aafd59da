//! Files of packets through the analysis: captures of one or two tapping points, or a trace of ns-2.

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

/// "Is a directory" of every Unix: what reading one would say later.
const EISDIR: i32 = 21;

/// Bytes between two calls for progress.
const STEP: u64 = 1 << 20;

/// What to analyse, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The capture, or the one before the target link.
    pub path: PathBuf,
    /// The capture after it.
    pub after: Option<PathBuf>,
    /// The link's rate in bits per second, if it is known, by frames as the capture has them.
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
    /// Of a trace of ns-2, what happened at each link.
    pub totals: Option<Ns2Totals>,
}

/// Analyses files. `progress` is told the bytes read now and then, and says whether to go on.
///
/// # Errors
///
/// If a file cannot be read or holds no packets, or if `progress` says so.
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

/// Who looks on while files are read.
struct Watch<P> {
    progress: P,
    /// How often they are read: each time counts for its part.
    passes: u64,
    read: u64,
    told: u64,
}

impl<P: FnMut(u64) -> bool> Watch<P> {
    fn new(progress: P, passes: u64) -> RefCell<Self> {
        RefCell::new(Self {
            progress,
            passes,
            read: 0,
            told: 0,
        })
    }

    fn on_read(&mut self, count: usize) -> io::Result<()> {
        self.read += count as u64;
        if self.read - self.told < STEP {
            return Ok(());
        }
        self.told = self.read;
        if (self.progress)(self.read / self.passes) {
            Ok(())
        } else {
            Err(io::Error::other(FileError::Stopped))
        }
    }
}

/// A file whose reading is looked on, whatever comes of its bytes: it fails where no more is wanted.
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

/// The first and the last of times in nanoseconds, which need not be in order.
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

/// The packets of one capture file.
struct Stream<'w, P> {
    path: PathBuf,
    capture: Capture<Watched<'w, P>>,
    skipped: Tally,
    packets: u64,
    extent: Extent,
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

/// Whether a file begins as a trace of ns-2. Pipes and the like are not looked into: what was read
/// could not be read again.
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

/// A trace holds all links: the one that drops most is looked at, from both sides.
fn analyze_ns2(
    options: &Options,
    path: &Path,
    progress: impl FnMut(u64) -> bool,
) -> Result<(Report, Vec<Reading>), FileError> {
    if options.after.is_some() {
        let why = "a trace of ns-2 shows both sides of its links: it is analysed alone";
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
