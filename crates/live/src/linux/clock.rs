//! Real time since the start of a run, and sleep until a given time.

use goodqueue_types::{Span, Time};
use nix::poll::{PollFd, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use std::fs::read_to_string;
use std::hint::spin_loop;
use std::io;
use std::time::{Duration, Instant};

/// Longest time for which the process watches the clock instead of sleeping. A wake-up takes about
/// this long.
const SPIN: Span = Span::from_micros(60);
/// One wake-up in this number may come before its deadline. The sleeper then watches the clock until the
/// deadline, which costs processor time.
const EARLY_ONE_IN: u64 = 5;
/// Change of the expected delay after a wake-up.
const STEP: Span = Span(200_000);

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
}

/// Event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A file can be read. It could be when the wait began, or the process slept until it could.
    Ready,
    /// The deadline. The process slept, and woke this long after the time for which it had asked.
    Slept(Span),
    /// The deadline, which had come, or was too near for sleep.
    Due,
}

/// Sleep that ends on time.
///
/// The kernel wakes a process some time after the time for which it asked. So the sleeper asks for an
/// earlier time. The lead is the delay of late that one wake-up in [`EARLY_ONE_IN`] stays below. A
/// real-time process asks for the deadline itself and never watches the clock, because the kernel stops
/// real-time processes that hold a processor too long.
#[derive(Clone, Copy, Debug)]
pub struct Sleeper {
    clock: Clock,
    real_time: bool,
    /// Expected delay of a wake-up.
    delay: Span,
}

impl Sleeper {
    /// Returns a sleeper for this thread that expects no delays.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            real_time: is_real_time(),
            delay: Span::ZERO,
        }
    }

    /// Waits until `deadline`, or until one of these files can be read. For at most 60 µs of this
    /// time the process does not sleep but watches the clock.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn wait(&mut self, deadline: Time, files: &mut [PollFd<'_>]) -> io::Result<Wake> {
        let begin = self.clock.now();
        let sleep = deadline.saturating_since(begin).saturating_sub(self.delay);
        let timeout = TimeSpec::from(Duration::from_nanos(sleep.0 / 1000));
        match ppoll(files, Some(timeout), None) {
            Ok(0) => {}
            Ok(_) => return Ok(Wake::Ready),
            Err(nix::errno::Errno::EINTR) => return Ok(Wake::Due),
            Err(error) => return Err(error.into()),
        }
        let woken = if sleep > Span::ZERO {
            let late = self.clock.now().saturating_since(begin + sleep);
            self.learn(late);
            Wake::Slept(late)
        } else {
            Wake::Due
        };
        while self.clock.now() < deadline {
            spin_loop();
        }
        Ok(woken)
    }

    /// Moves the expected delay to the quantile of the delays: at the quantile the steps up and
    /// down cancel.
    fn learn(&mut self, late: Span) {
        if self.real_time {
            return;
        }
        self.delay = if late > self.delay {
            (self.delay + STEP).min(SPIN)
        } else {
            let down = Span(STEP.0 * (EARLY_ONE_IN - 1));
            self.delay.saturating_sub(down)
        };
    }
}

/// Returns true if this thread is scheduled in real time.
pub fn is_real_time() -> bool {
    policy(&read_to_string("/proc/thread-self/stat").unwrap_or_default()).is_some_and(is_first)
}

/// Returns true for the policies `SCHED_FIFO` and `SCHED_RR`.
fn is_first(policy: u32) -> bool {
    matches!(policy, 1 | 2)
}

/// Reads the scheduling policy from a thread's `stat`: the 41st value, of which the second one is a
/// name in parentheses.
fn policy(stat: &str) -> Option<u32> {
    let (_, values) = stat.rsplit_once(')')?;
    values.split_whitespace().nth(38)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduling_policy_is_read_from_the_kernel_s_table() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 59 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 2 3";
        assert_eq!(policy(stat), Some(2));
        assert_eq!(policy(""), None);
        let own = read_to_string("/proc/thread-self/stat").unwrap();
        assert!(policy(&own).is_some_and(|policy| policy < 8));
    }

    #[test]
    fn the_expected_delay_is_one_that_few_wake_ups_stay_below() {
        let mut sleeper = Sleeper::new(Clock::start());
        // Delays of 30 to 49 µs in an order that visits all of them: a fifth is below 34 µs.
        for turn in 0..10_000_u64 {
            sleeper.learn(Span::from_micros(30 + 7 * turn % 20));
        }
        let expected = Span::from_micros(32)..Span::from_micros(36);
        assert!(expected.contains(&sleeper.delay), "{:?}", sleeper.delay);
        for _ in 0..10_000 {
            sleeper.learn(Span::from_millis(4));
        }
        assert_eq!(sleeper.delay, SPIN);
    }

    #[test]
    fn a_wait_does_not_end_before_its_deadline() {
        let clock = Clock::start();
        let mut sleeper = Sleeper::new(clock);
        for wait in [0, 20, 100, 1000, 3000] {
            let deadline = clock.now() + Span::from_micros(wait);
            let woken = sleeper.wait(deadline, &mut []).unwrap();
            assert!(clock.now() >= deadline);
            assert_ne!(woken, Wake::Ready);
        }
    }
}
