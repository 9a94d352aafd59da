//! Analysis of files of packets: captures of one or two tapping points, or a trace of ns-2.

mod clock;
mod evidence;
mod notes;
mod resolution;
mod stream;

use crate::analyzer::{Analyzer, Tap};
use crate::flow::classify::Control;
use crate::ns2::{Replay, target_link};
use crate::report::Report;
use crate::thresholds::Thresholds;
use clock::Ordered;
use goodqueue_trace::read::{LinkType, Ns2Record, Ns2Totals, Ns2Trace, Skip, Tally, Unpacked};
use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use stream::Stream;

/// Error code "is a directory" of every Unix. Reading a directory would fail with it later.
const EISDIR: i32 = 21;

/// Note on a trace of ns-2. A sender whose `window_` ends the growth of its flights before a loss
/// reduces them by less than its congestion control reduces the window.
const NO_WINDOWS: &str = "a trace of ns-2 shows neither windows nor the agents' `window_`, so no \
                          congestion control is named";

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
    /// Name of its compression.
    pub compression: Option<&'static str>,
    /// Number of frames, or of lines of a trace.
    pub frames: u64,
    /// Number of these frames that held IP packets and were analysed.
    pub packets: u64,
    /// Bytes read until the reading ended, unpacked.
    pub bytes_read: u64,
    /// Number of interfaces that the file describes.
    pub interfaces: usize,
    /// Counts of the parts left out, by reason.
    pub skipped: Tally,
    /// True if the file ends within a record.
    pub is_cut: bool,
    /// Times of the first and last packet in seconds, on the file's clock.
    pub span_s: Option<(f64, f64)>,
    /// Resolution of the times, in nanoseconds.
    pub resolution_ns: i64,
    /// First link type whose frames are not read.
    pub unknown_link: Option<LinkType>,
    /// Notes on what the reader had to assume or to leave out.
    pub notes: Vec<String>,
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
            [Some(first), Some(second)] => second.time < first.time,
            [first, second] => first.is_none() && second.is_some(),
        };
        let taken = next[usize::from(from_second)].take();
        let Some(Ordered {
            time,
            begins_stretch,
            datagram,
        }) = taken
        else {
            break;
        };
        if begins_stretch {
            refuse_stretches(options, &first)?;
            if let Some(second) = &second {
                refuse_stretches(options, second)?;
            }
            analyzer.begin_stretch();
        }
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

/// Refuses a capture whose clock was set if its times have to agree with those of another file.
fn refuse_stretches<P: FnMut(u64) -> bool>(
    options: &Options,
    stream: &Stream<'_, P>,
) -> Result<(), FileError> {
    let alone = options.after.is_none() && options.drops.is_none();
    match notes::not_comparable(stream.findings()).filter(|_| !alone) {
        Some(why) => Err(FileError::NoPackets(stream.path().to_owned(), why)),
        None => Ok(()),
    }
}

fn finish(
    mut analyzer: Analyzer,
    readings: Vec<Reading>,
    options: &Options,
) -> Result<(Report, Vec<Reading>), FileError> {
    if let Some(empty) = readings.iter().find(|reading| reading.packets == 0) {
        return Err(FileError::NoPackets(empty.path.clone(), why_empty(empty)));
    }
    let resolutions = readings.iter().map(|reading| reading.resolution_ns);
    analyzer.set_resolution(resolutions.max().unwrap_or(1));
    let drops = options.drops.as_deref();
    let mut report = analyzer.finish(options.link_rate_bps, drops, options.seed);
    for reading in readings.iter().rev() {
        let name = |note: &String| match readings.len() {
            1 => note.clone(),
            _ => format!("{}: {note}", reading.path.display()),
        };
        report.notes.splice(0..0, reading.notes.iter().map(name));
    }
    Ok((report, readings))
}

/// Says why a file has no packets, and what helps.
fn why_empty(reading: &Reading) -> String {
    if reading.frames == 0 {
        return "it holds no frames".to_owned();
    }
    let reasons = reading
        .skipped
        .iter()
        .map(|(skip, count)| format!("{} {count}", skip.name()));
    let reasons: Vec<_> = reasons.collect();
    let frames = reading.frames;
    let mut why = format!(
        "none of its {frames} frames holds an IP packet: {}",
        reasons.join(", ")
    );
    let encrypted = reading.skipped.count(Skip::Encrypted);
    for remedy in [
        reading.unknown_link.map(notes::unknown_link),
        (encrypted > 0).then(|| notes::encrypted(encrypted)),
    ]
    .into_iter()
    .flatten()
    {
        why = format!("{why}; {remedy}");
    }
    why
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
        if self.goes_on() {
            Ok(())
        } else {
            Err(io::Error::other(FileError::Stopped))
        }
    }

    /// Reports the progress. Returns false to stop.
    fn goes_on(&mut self) -> bool {
        self.reported = self.read;
        (self.progress)(self.read / self.passes)
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
    let file = Unpacked::new(open(path)?).map_err(|error| failed(path, error))?;
    let read = file.take(4096).read_to_end(&mut start);
    read.map_err(|error| failed(path, error))?;
    Ok(Ns2Trace::<BufReader<File>>::begins(&start))
}

fn read_ns2<P: FnMut(u64) -> bool>(
    path: &Path,
    watch: &RefCell<Watch<P>>,
    mut take: impl FnMut(&Ns2Record),
) -> Result<Reading, FileError> {
    let file = open(path)?;
    let mut file = Unpacked::new(Watched { file, watch }).map_err(|error| failed(path, error))?;
    let compression = file.compression();
    let mut trace = Ns2Trace::new(BufReader::with_capacity(1 << 18, &mut file));
    let mut extent = Extent::default();
    while let Some(record) = trace.next_record().map_err(|error| failed(path, error))? {
        extent.add(record.time_ns);
        take(&record);
    }
    Ok(Reading {
        path: path.to_owned(),
        format: "ns-2",
        compression,
        frames: trace.records(),
        packets: trace.records(),
        bytes_read: trace.position(),
        interfaces: 0,
        skipped: trace.tally().clone(),
        span_s: extent.seconds(),
        resolution_ns: 1,
        unknown_link: None,
        notes: Vec::new(),
        is_cut: trace.tally().count(Skip::CutRecord) > 0 || file.is_damaged(),
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
    reading.notes.push(NO_WINDOWS.to_owned());
    let (mut report, readings) = finish(analyzer, vec![reading], options)?;
    for flow in &mut report.flows {
        flow.control = Control::Unknown;
    }
    Ok((report, readings))
}
