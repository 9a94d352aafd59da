//! Real time since the start of a run, and sleep until a given time.

use goodqueue_types::{Span, Time};
use nix::poll::{PollFd, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use std::hint::spin_loop;
use std::io;
use std::time::{Duration, Instant};

/// Time before a deadline at which sleep ends and the loop begins to watch the clock. A wake-up
/// takes about this long.
const SPIN: Span = Span::from_micros(60);

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts the clock, and asks the kernel to wake this thread as exactly as it can.
    pub fn start() -> Self {
        // Without it the kernel may delay each wake-up by 50 µs.
        set_timerslack(1).ok();
        Self {
            start: Instant::now(),
        }
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Time {
        Time::ZERO + Span(self.start.elapsed().as_nanos() as u64 * 1000)
    }

    /// Waits until `deadline`, or until one of these files can be read. Returns true if one can.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn wait(&self, deadline: Option<Time>, files: &mut [PollFd<'_>]) -> io::Result<bool> {
        let left = deadline.map(|time| time.saturating_since(self.now()));
        let sleep = left.map(|left| left.saturating_sub(SPIN));
        let timeout = sleep.map(|sleep| TimeSpec::from(Duration::from_nanos(sleep.0 / 1000)));
        let ready = match ppoll(files, timeout, None) {
            Ok(ready) => ready > 0,
            Err(nix::errno::Errno::EINTR) => false,
            Err(error) => return Err(error.into()),
        };
        if let (false, Some(deadline)) = (ready, deadline) {
            while self.now() < deadline {
                spin_loop();
            }
        }
        Ok(ready)
    }
}
