//! The packets of a capture file, in order of time.

use super::clock::{Clock, Findings, Ordered, Record};
use super::{Extent, FileError, Reading, Watch, Watched, failed, notes, open};
use goodqueue_trace::read::{Capture, LinkType, ReadError, Skip, Tally, decode_each};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Number of frames between two calls for progress, for a compressed file of which little is read.
const FRAMES: u64 = 1 << 16;
/// Largest number of times that the clock may be set. A file that jumps more often is not in order
/// of time.
const MAX_STEPS: usize = 16;

/// Frames and bytes with a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amount {
    pub frames: u64,
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u32) {
        self.frames += 1;
        self.bytes += u64::from(bytes);
    }
}

/// Findings about the frames of a file.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// All frames.
    pub all: Amount,
    /// Frames whose headers were cut before the ports, the sequence number or the flags.
    pub cut: Amount,
    /// Number of packets without the end of their TCP options.
    pub without_options: u64,
    /// First link type that is not read, and the number of frames with one.
    pub unknown_link: Option<(LinkType, u64)>,
}

/// Packets of one capture file.
pub struct Stream<'w, P> {
    path: PathBuf,
    capture: Capture<Watched<'w, P>>,
    watch: &'w RefCell<Watch<P>>,
    skipped: Tally,
    packets: u64,
    extent: Extent,
    clock: Clock,
    frames: Frames,
    ended: bool,
}

impl<'w, P: FnMut(u64) -> bool> Stream<'w, P> {
    pub fn open(path: &Path, watch: &'w RefCell<Watch<P>>) -> Result<Self, FileError> {
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
            watch,
            skipped: Tally::default(),
            packets: 0,
            extent: Extent::default(),
            clock: Clock::default(),
            frames: Frames::default(),
            ended: false,
        })
    }

    /// Returns the next packet. Later packets never have earlier times.
    pub fn next(&mut self) -> Result<Option<Ordered>, FileError> {
        loop {
            if let Some(ordered) = self.clock.next(self.ended) {
                self.packets += 1;
                self.extent.add(ordered.time);
                return Ok(Some(ordered));
            }
            if self.ended {
                return Ok(None);
            }
            self.read()?;
            if self.findings().steps.len() > MAX_STEPS {
                let why = notes::not_in_order(self.findings());
                return Err(FileError::NoPackets(self.path.clone(), why));
            }
        }
    }

    /// Reads a frame, and gives its packets to the clock.
    fn read(&mut self) -> Result<(), FileError> {
        let frame = self.capture.next_frame();
        let Some(frame) = frame.map_err(|error| failed(&self.path, error))? else {
            self.ended = true;
            self.skipped.add_many(Skip::OddTime, self.clock.end());
            return Ok(());
        };
        let (time, link, bytes) = (frame.time_ns, frame.link, frame.original_len);
        let (frames, skipped, clock) = (&mut self.frames, &mut self.skipped, &mut self.clock);
        frames.all.add(bytes);
        let number = frames.all.frames;
        decode_each(&frame, |packet| match packet {
            Ok(datagram) => {
                frames.without_options += u64::from(datagram.cut);
                let record = Record {
                    time,
                    frame: number,
                    datagram,
                };
                skipped.add_many(Skip::OddTime, clock.take(record));
            }
            Err(skip) => {
                skipped.add(skip);
                match skip {
                    Skip::CutHeader => frames.cut.add(bytes),
                    Skip::UnknownLinkType => frames.unknown_link.get_or_insert((link, 0)).1 += 1,
                    _ => {}
                }
            }
        });
        if number.is_multiple_of(FRAMES) && !self.watch.borrow_mut().goes_on() {
            return Err(FileError::Stopped);
        }
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the times showed so far.
    pub fn findings(&self) -> &Findings {
        self.clock.findings()
    }

    pub fn reading(self) -> Reading {
        let mut skipped = self.skipped;
        for (skip, count) in self.capture.tally().iter() {
            skipped.add_many(skip, count);
        }
        let mut reading = Reading {
            path: self.path,
            format: self.capture.format().name(),
            compression: self.capture.compression(),
            frames: self.capture.frames(),
            packets: self.packets,
            bytes_read: self.capture.position(),
            interfaces: self.capture.interfaces(),
            skipped,
            is_cut: self.capture.is_cut(),
            span_s: self.extent.seconds(),
            resolution_ns: self.clock.findings().resolution.nanoseconds(),
            unknown_link: self.frames.unknown_link.map(|(link, _)| link),
            notes: Vec::new(),
            totals: None,
        };
        reading.notes = notes::notes(&reading, self.clock.findings(), &self.frames);
        reading
    }
}
