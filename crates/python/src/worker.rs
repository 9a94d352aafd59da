//! Work that Ctrl-C can end: on a thread of its own, while the calling thread looks for signals.
//!
//! Building a large network and summing up its results have no point at which they could be asked
//! whether to go on. The caller therefore waits for them only as long as it wants to.

use pyo3::prelude::*;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often the calling thread looks for signals.
const PERIOD: Duration = Duration::from_millis(50);

/// How long work that was told to stop has to end by itself. After that it is left alone: it ends
/// when it is next asked whether to go on, or with the process.
const PATIENCE: Duration = Duration::from_millis(400);

/// Stack of the working thread, in bytes: as large as that of a process's main thread.
const STACK: usize = 8 << 20;

/// State that the working thread and the calling thread share.
#[derive(Clone, Default)]
pub struct Shared {
    stopped: Arc<AtomicBool>,
    reached: Arc<AtomicU64>,
}

impl Shared {
    /// Notes that the work has reached this point; returns true if it is to go on.
    pub fn go_on(&self, reached: u64) -> bool {
        self.reached.store(reached, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }

    /// How far the work has come.
    pub fn reached(&self) -> u64 {
        self.reached.load(Ordering::Relaxed)
    }
}

/// Does `work` on another thread and returns what it yields. Meanwhile signals are looked for and
/// `watch` is called, both by the calling thread, until one of them raises.
///
/// # Errors
/// The exception that a signal's handler (such as `KeyboardInterrupt`) or `watch` raised.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    shared: &Shared,
    mut watch: impl FnMut() -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody waits any more if the caller was interrupted.
        let _ = sender.send(work());
    })?;
    loop {
        let news;
        (receiver, news) = py.detach(move || {
            let news = receiver.recv_timeout(PERIOD);
            (receiver, news)
        });
        match news {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().err();
                panic::resume_unwind(panic.expect("a thread that sends nothing has panicked"));
            }
        }
        if let Err(error) = py.check_signals().and_then(|()| watch()) {
            shared.stopped.store(true, Ordering::Relaxed);
            py.detach(move || drop(receiver.recv_timeout(PATIENCE)));
            return Err(error);
        }
    }
}

/// The same for work that has no point at which it could be told to stop.
///
/// # Errors
/// The exception that a signal's handler raised.
pub fn waited_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    interruptible(py, &Shared::default(), || Ok(()), work)
}
