//! Processor time that a run got and did not get.

use super::clock::is_real_time;
use crate::fidelity::Fidelity;
use goodqueue_types::Time;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::fs;
use std::time::Duration;

/// Counts of the kernel at one time.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Processor time of this process.
    own: Duration,
    /// Time for which this thread could run and waited for a processor; none if the kernel does not
    /// count it.
    waited: Option<Duration>,
    /// Ticks of the machine's processors that a hypervisor took, and all of them.
    steal: (u64, u64),
}

impl Used {
    /// Returns the present counts.
    pub fn now() -> Self {
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        Self {
            own: processor_time(),
            waited: waited(&read("/proc/thread-self/schedstat")),
            steal: steal(&read("/proc/stat")),
        }
    }

    /// Writes what was counted since then into the report of a run, which ended at `end`.
    pub fn report(&self, fidelity: &mut Fidelity, end: Time) {
        let now = Self::now();
        fidelity.real_time = is_real_time();
        fidelity.cpu_s = now.own.saturating_sub(self.own).as_secs_f64();
        let waited = now.waited.zip(self.waited);
        let waited = waited.map(|(now, before)| now.saturating_sub(before).as_secs_f64());
        fidelity.run = end.saturating_since(Time::ZERO);
        let run_s = fidelity.run.as_secs_f64();
        fidelity.starved_share = waited.filter(|_| run_s > 0.0).map(|waited| waited / run_s);
        let all = now.steal.1.saturating_sub(self.steal.1).max(1);
        fidelity.steal_share = now.steal.0.saturating_sub(self.steal.0) as f64 / all as f64;
    }
}

fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    let time = |value: TimeVal| {
        Duration::from_secs(value.tv_sec() as u64) + Duration::from_micros(value.tv_usec() as u64)
    };
    usage.map_or(Duration::ZERO, |usage| {
        time(usage.user_time()) + time(usage.system_time())
    })
}

/// Reads the second number of a thread's `schedstat`: nanoseconds in the queue of a processor.
fn waited(schedstat: &str) -> Option<Duration> {
    let waited = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited))
}

/// Reads the first line of `/proc/stat`: the 8th number is the stolen time.
fn steal(stat: &str) -> (u64, u64) {
    let line = stat.lines().next().unwrap_or_default();
    let ticks = line.split_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = ticks.map(|tick| tick.parse().unwrap_or(0)).collect();
    (ticks.get(7).copied().unwrap_or(0), ticks.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_kernel_s_tables() {
        assert_eq!(waited("120 49103 1\n"), Some(Duration::from_nanos(49_103)));
        assert_eq!(waited(""), None);
        let stat = "cpu  10 20 30 40 5 6 7 82 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(steal(stat), (82, 200));
        assert_eq!(steal(""), (0, 0));
    }
}
