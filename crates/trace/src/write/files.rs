//! Files of a run's traces, which appear complete or not at all.

use crate::write::TraceWriter;
use goodqueue_types::{FlowId, LinkId, PacketEvent, PacketSink, SenderMetrics, Time};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All traces that a run writes.
#[derive(Default)]
pub struct Traces {
    writers: Vec<(PathBuf, Box<dyn TraceWriter + Send>)>,
    unfinished: Vec<Unfinished>,
    error: Option<(PathBuf, io::Error)>,
    failed: Arc<AtomicBool>,
}

impl Traces {
    /// Adds a trace in a file; `writer` creates its writer.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn add<T: TraceWriter + Send + 'static>(
        &mut self,
        target: &Path,
        writer: impl FnOnce(BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<()> {
        let (unfinished, file) = Unfinished::create(target)?;
        self.unfinished.push(unfinished);
        let writer = writer(BufWriter::with_capacity(1 << 18, file))?;
        self.writers.push((target.to_owned(), Box::new(writer)));
        Ok(())
    }

    /// Returns true if there are no traces.
    pub fn is_empty(&self) -> bool {
        self.writers.is_empty()
    }

    /// Returns the paths of the temporary files, which hold the traces until they are complete.
    pub fn parts(&self) -> Vec<PathBuf> {
        let parts = self.unfinished.iter();
        parts.filter_map(|file| file.part.clone()).collect()
    }

    /// Returns a flag that is set when a trace cannot be written, so that the run can stop.
    pub fn failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }

    /// Returns true if a trace could not be written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Receives the next event of a real packet, which has these bytes from its IP header on.
    pub fn packet_with(&mut self, event: &PacketEvent, bytes: &[u8]) {
        self.tell(|writer| writer.packet_with(event, bytes));
    }

    /// Sets the end of a run that ends earlier than planned.
    pub fn end_at(&mut self, end: Time) {
        for (_, writer) in &mut self.writers {
            writer.end_at(end);
        }
    }

    /// Completes all traces and gives the files their final names.
    ///
    /// # Errors
    /// Returns the first file that could not be written, and the cause. After an error no file
    /// exists. If all were written, returns the first file that could not be renamed because its
    /// name is taken. The files before it have been renamed.
    pub fn finish(mut self) -> Result<(), (PathBuf, io::Error)> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        for (target, mut writer) in self.writers.drain(..) {
            writer.finish().map_err(|error| (target, error))?;
        }
        for file in self.unfinished.drain(..) {
            let target = file.target.clone();
            file.keep().map_err(|error| (target, error))?;
        }
        Ok(())
    }
}

impl PacketSink for Traces {
    fn wants(&self, event: &PacketEvent) -> bool {
        self.writers.iter().any(|(_, writer)| writer.wants(event))
    }

    fn packet(&mut self, event: &PacketEvent) {
        self.tell(|writer| writer.packet(event));
    }

    fn wants_series(&self) -> bool {
        self.writers.iter().any(|(_, writer)| writer.wants_series())
    }

    fn backlog(&mut self, link: LinkId, time: Time, packets: u64) {
        self.tell(|writer| writer.backlog(link, time, packets));
    }

    fn window(&mut self, flow: FlowId, time: Time, cwnd: u64) {
        self.tell(|writer| writer.window(flow, time, cwnd));
    }

    fn wants_metrics(&self) -> bool {
        self.writers
            .iter()
            .any(|(_, writer)| writer.wants_metrics())
    }

    fn metrics(&mut self, flow: FlowId, time: Time, metrics: &SenderMetrics) {
        self.tell(|writer| writer.metrics(flow, time, metrics));
    }
}

impl Traces {
    /// Calls `what` for each writer until one of them fails.
    fn tell(&mut self, what: impl Fn(&mut dyn TraceWriter) -> io::Result<()>) {
        if self.error.is_some() {
            return;
        }
        for (target, writer) in &mut self.writers {
            if let Err(error) = what(writer.as_mut()) {
                self.error = Some((target.clone(), error));
                self.failed.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// A file that is written under a temporary name. The file gets its final name when it is complete,
/// and is removed if the writer is dropped before. A target that is no regular file, such as a
/// pipe, is written directly.
#[derive(Debug)]
struct Unfinished {
    target: PathBuf,
    part: Option<PathBuf>,
}

impl Unfinished {
    fn create(target: &Path) -> io::Result<(Self, File)> {
        let special = fs::metadata(target).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        let part = (!special).then(|| {
            let mut name = target.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}.part", std::process::id()));
            target.with_file_name(name)
        });
        if target.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let file = File::create(part.as_deref().unwrap_or(target))?;
        let target = target.to_owned();
        Ok((Self { target, part }, file))
    }

    fn keep(mut self) -> io::Result<()> {
        let Some(part) = &self.part else {
            return Ok(());
        };
        fs::rename(part, &self.target)?;
        self.part = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{Columns, Quantity};
    use goodqueue_types::Span;

    /// Writes a series with so many changes that the buffer must be flushed, on a disk without
    /// room.
    fn on_a_full_disk(quantity: Quantity) -> Traces {
        let mut traces = Traces::default();
        let begin = |out| Ok(Columns::new(out, quantity, Time::MAX));
        traces
            .add(Path::new("/dev/full"), begin)
            .expect("a device of Linux");
        for time in (0..100_000).map(|ms| Time::ZERO + Span::from_millis(ms)) {
            traces.backlog(LinkId(0), time, time.0);
            traces.window(FlowId(0), time, 1 + time.0);
        }
        traces
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_stops_the_run_whatever_is_written() {
        let every = Span::from_millis(1);
        let (flow, mss) = (FlowId(0), 1000);
        for quantity in [
            Quantity::Queue(LinkId(0)),
            Quantity::Window { flow, mss, every },
        ] {
            let traces = on_a_full_disk(quantity);
            assert!(traces.failed().load(Ordering::Relaxed), "{quantity:?}");
            let (file, _) = traces.finish().expect_err("no room");
            assert_eq!(file, Path::new("/dev/full"));
        }
    }
}
