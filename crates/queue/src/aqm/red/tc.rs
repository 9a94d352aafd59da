//! The values that tc computes for the kernel: the weight, and the table by which the average decays
//! on an idle link.

use goodqueue_types::{Bytes, Rate, Span};

/// Returns tc's weight exponent: the smallest w from 1 on with which a burst keeps the average
/// below `min`, that is burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W with W = 2^-w. Returns
/// none if no w does.
pub fn red_wlog(min: u32, burst: u32, avpkt: u32) -> Option<u8> {
    let above = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
    let holds = |wlog: &u8| {
        let weight = libm::exp2(-f64::from(*wlog));
        above <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight
    };
    (above >= 1.0).then(|| (1..32).find(holds))?
}

/// Decay of the average on an idle link. Time is divided into cells of 2^`cell_log` microseconds,
/// and after n cells the average is shifted right by `shifts[n]` bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleTable {
    cell_log: u32,
    shifts: [u8; 256],
}

impl IdleTable {
    /// Computes tc's table (`tc_red_eval_idle_damping`). It counts in the packet scheduler's ticks
    /// of 64 ns, but the kernel looks it up by microseconds. It computes the decay in natural
    /// logarithms, but the kernel shifts bits. So an average halves in 15.625 times the time in
    /// which theory has it fall by e. Deployed systems have this behaviour.
    pub fn new(wlog: u8, avpkt: u32, bandwidth: Rate) -> Option<Self> {
        let transmission = bandwidth.transmission_time(Bytes(u64::from(avpkt)));
        let microseconds = transmission.0 / 1_000_000;
        let ticks = (microseconds * 1000 / 64).max(1) as f64;
        let rate = -libm::log1p(-libm::exp2(-f64::from(wlog))) / ticks;
        let longest = 31.0 / rate;
        let cell_log = (0..32).find(|log| longest / libm::exp2(f64::from(*log)) < 512.0)?;
        let mut shifts = [31; 256];
        for (cells, shift) in shifts.iter_mut().enumerate().take(255) {
            let time = (cells as f64) * libm::exp2(f64::from(cell_log));
            *shift = (time * rate).min(31.0) as u8;
        }
        Some(Self { cell_log, shifts })
    }

    /// Returns the average, in fixed point, after an idle time.
    pub fn decay(&self, average: u64, idle: Span) -> u64 {
        let microseconds = (idle.0 / 1_000_000).min(255 << self.cell_log);
        let shift = self.shifts[(microseconds >> self.cell_log) as usize & 255];
        if shift > 0 {
            return average >> shift;
        }
        // The first cell is too coarse for the table, so the average decays linearly in it.
        let less = (u128::from(average) * u128::from(microseconds)) >> self.cell_log;
        average - (less as u64).min(average / 2)
    }
}

impl Default for IdleTable {
    /// Returns a table that decays within seconds.
    fn default() -> Self {
        Self {
            cell_log: 12,
            shifts: [31; 256],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters that tc of iproute2 6.1 sends to the kernel, on a machine with ticks of 64 ns:
    /// weight, cell, and the first cells with a shift of 1, 2, 10 and 31.
    #[test]
    fn parameters_are_those_that_tc_sends() {
        let commands = [
            ((30_000, 1000, 55, 10), (5, 15, [13, 25, 121, 255])),
            ((15_000, 1500, 16, 100), (3, 10, [14, 28, 138, 255])),
            ((100_000, 1500, 111, 1000), (6, 10, [12, 24, 116, 255])),
        ];
        for ((min, avpkt, burst, mbps), expected) in commands {
            let wlog = red_wlog(min, burst, avpkt).unwrap();
            let table = IdleTable::new(wlog, avpkt, Rate(mbps * 1_000_000)).unwrap();
            let first = |shift| table.shifts.iter().position(|s| *s >= shift).unwrap();
            let cells = [1, 2, 10, 31].map(first);
            assert_eq!((wlog, table.cell_log, cells), expected);
        }
    }

    #[test]
    fn impossible_bursts_have_no_weight() {
        assert_eq!(red_wlog(30_000, 29, 1000), None);
        assert_eq!(red_wlog(30_000, 30, 1000), Some(1));
    }

    #[test]
    fn an_idle_average_fades_linearly_at_first_and_then_by_halves() {
        let table = IdleTable::new(5, 1000, Rate(10_000_000)).unwrap();
        let cell = Span::from_micros(1 << 15);
        assert_eq!(table.decay(64_000, Span::ZERO), 64_000);
        assert_eq!(table.decay(64_000, Span(cell.0 / 4)), 48_000);
        assert_eq!(
            table.decay(64_000, cell),
            32_000,
            "no less than half in the first cells"
        );
        assert_eq!(table.decay(64_000, cell.saturating_mul(13)), 32_000);
        assert_eq!(table.decay(64_000, cell.saturating_mul(25)), 16_000);
        assert_eq!(table.decay(64_000, Span::from_secs(100)), 0);
    }
}
