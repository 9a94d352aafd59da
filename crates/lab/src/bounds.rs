//! Bounds on the cost of a run: checked before it, by estimates, and while it goes on, by counts.

use crate::probe::Observer;
use crate::refusal::LabError;
use goodqueue_scenario::{ReadBounds, Scenario};
use goodqueue_sim::{Network, Record, Simulation};
use goodqueue_types::{Span, Time};

/// Bounds on the cost of a run that a page may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most packets that the links between the hosts can send during the run, or that sources send
    /// in vain.
    pub packets: u64,
    /// Most flows.
    pub flows: usize,
    /// Most bytes of memory, by the estimate before the run and by the counts during it.
    pub memory: u64,
}

impl Default for Bounds {
    /// Returns bounds that a run meets in some seconds on a usual computer.
    fn default() -> Self {
        Self {
            packets: 5_000_000,
            flows: 5_000,
            memory: 512 << 20,
        }
    }
}

/// Steps of computing for each packet that the links may send: data and ACK are sent, arrive and
/// leave, and timers fire.
const STEPS_OF_PACKET: u64 = 8;

impl Bounds {
    /// Bounds on reading a scenario. A scenario with too many flows is read and then refused, unless
    /// it has so many that reading it would take much memory.
    pub const READING: ReadBounds = ReadBounds {
        flows: 100_000,
        file_bytes: 8 << 20,
    };

    /// Checks the estimates of a run, and returns the bytes that it needs from the start.
    ///
    /// # Errors
    /// Returns the bound that the run would exceed, with a remedy.
    pub fn check(self, scenario: &Scenario) -> Result<u64, String> {
        let packets = scenario.packets();
        if packets > self.packets {
            let share = self.packets as f64 / packets as f64;
            let fits = scenario.duration().as_secs_f64() * share;
            return Err(format!(
                "this run can send {packets} packets, and the lab runs at most {}: set duration to \
                 {fits:.2}s or less, or lower the rates",
                self.packets
            ));
        }
        let flows = scenario.flow_count();
        if flows > self.flows {
            return Err(format!(
                "this scenario has {flows} flows, and the lab runs at most {}: lower count",
                self.flows
            ));
        }
        let (mut from_start, mut all) = (0_u64, 0_u64);
        for part in scenario.memory(Record::default()) {
            let bytes = part.count.saturating_mul(part.bytes_each);
            all = all.saturating_add(bytes);
            if !part.grows {
                from_start = from_start.saturating_add(bytes);
            }
        }
        self.check_memory("this run needs about", all)?;
        Ok(from_start)
    }

    fn check_memory(self, what: &str, bytes: u64) -> Result<(), String> {
        if bytes <= self.memory {
            return Ok(());
        }
        Err(format!(
            "{what} {} MB of memory, and the lab allows {}: lower the buffers or the number of flows",
            bytes / 1_000_000,
            self.memory / 1_000_000
        ))
    }
}

/// A run in progress that is stopped when it exceeds a bound.
#[derive(Debug)]
pub struct BoundedRun {
    pub simulation: Simulation<'static, Observer>,
    bounds: Bounds,
    /// Bytes that the run needs from the start.
    from_start: u64,
    end: Time,
}

impl BoundedRun {
    /// Creates a run that has not started and needs this number of bytes from the start.
    pub fn new(network: Network, probe: Observer, bounds: Bounds, from_start: u64) -> Self {
        Self {
            end: network.end,
            simulation: Simulation::owned(network, probe),
            bounds,
            from_start,
        }
    }

    /// Runs for some milliseconds of computing. Returns the simulated time, or none if the run has
    /// reached its end.
    ///
    /// # Errors
    /// Returns the bound that the run has exceeded.
    pub fn advance(&mut self) -> Result<Option<Span>, LabError> {
        let Some(now) = self.simulation.advance() else {
            return Ok(None);
        };
        self.check(now).map_err(LabError::TooLarge)?;
        Ok(Some(now - Time::ZERO))
    }

    fn check(&self, now: Time) -> Result<(), String> {
        let steps = self.bounds.packets * STEPS_OF_PACKET;
        if self.simulation.steps() > steps {
            let seconds = |time: Time| (time - Time::ZERO).as_secs_f64();
            return Err(format!(
                "this run was stopped at {:.3}s of {:.3}s: it took {steps} steps, the most that the \
                 lab allows; shorten duration, or lower the rates",
                seconds(now),
                seconds(self.end)
            ));
        }
        let grown = self.simulation.grown_bytes() + self.simulation.probe().bytes() as u64;
        let what = "this run was stopped, because it took";
        self.bounds.check_memory(what, self.from_start + grown)
    }
}
