//! Work that Ctrl-C can interrupt: it runs on its own thread, while the calling thread handles
//! signals.
//!
//! Building a large network and summarising its results cannot be interrupted. After an interrupt,
//! the caller waits for them only for a limited time.

use pyo3::prelude::*;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Time between the checks for signals by the calling thread.
const PERIOD: Duration = Duration::from_millis(50);

/// Time that interrupted work has to end by itself. After that it is left alone: it ends at its
/// next check, or with the process.
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
    /// Records the progress of the work. Returns true if it is to continue.
    pub fn go_on(&self, reached: u64) -> bool {
        self.reached.store(reached, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the progress of the work.
    pub fn reached(&self) -> u64 {
        self.reached.load(Ordering::Relaxed)
    }
}

/// Does `work` on another thread and returns its result. During the work the calling thread handles
/// signals and calls `watch`, until one of them raises.
///
/// # Errors
/// Returns the exception that a signal's handler (such as `KeyboardInterrupt`) or `watch` raised.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    shared: &Shared,
    mut watch: impl FnMut() -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // The receiver no longer exists if the caller was interrupted.
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

/// Does work that cannot be interrupted on another thread.
///
/// # Errors
/// Returns the exception that a signal's handler raised.
pub fn waited_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    interruptible(py, &Shared::default(), || Ok(()), work)
}
