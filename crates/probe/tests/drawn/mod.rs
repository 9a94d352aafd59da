//! Drawn links, what the probe found on them, and the table of its errors.

use crate::bed::{Bed, Policer, Way};
use goodqueue_probe::Prober;
use goodqueue_probe::estimate::{Direction, Discipline, LimitUnit};
use goodqueue_queue::{
    CodelConfig, CodelParams, FqCodelConfig, Limit, PieConfig, PieParams, QueueConfig,
};
use goodqueue_types::RandomStream;
use std::fmt::Write;

/// Kinds of queues, in the order of the table.
const KINDS: [Discipline; 5] = [
    Discipline::Fifo,
    Discipline::Codel,
    Discipline::FqCodel,
    Discipline::Pie,
    Discipline::Policer,
];

/// A drawn link and what the probe found.
pub struct Found {
    pub link: u64,
    pub rate_bps: f64,
    pub rtt_s: f64,
    pub cross: f64,
    pub kind: Discipline,
    pub limit: Limit,
    pub direction: Option<Direction>,
    pub base_rtt_s: Option<f64>,
}

/// Draws a value whose logarithm is uniform.
fn log_uniform(random: &mut RandomStream, from: f64, to: f64) -> f64 {
    (from.ln() + random.unit() * (to / from).ln()).exp()
}

/// Draws link number `link` of a seed and probes it.
pub fn probe(seed: u64, link: u64) -> Found {
    let mut random = RandomStream::new(seed, "drawn link", link);
    let rate_bps = log_uniform(&mut random, 1e6, 1e9);
    let rtt_s = log_uniform(&mut random, 0.004, 0.25);
    let kind = KINDS[(random.unit() * 5.0) as usize % 5];
    let cross = if random.unit() < 0.3 {
        0.02 + 0.28 * random.unit()
    } else {
        0.0
    };
    let packet_s = 1400.0 * 8.0 / rate_bps;
    // Active queues begin to drop at 5 or 15 ms; a smaller buffer leaves them inactive.
    let (shortest, longest) = match kind {
        Discipline::Fifo => (2.0 * packet_s, 1.0_f64),
        Discipline::Pie => (0.05, 1.0),
        _ => (0.015, 1.0),
    };
    let buffer_s = log_uniform(&mut random, shortest, longest.max(2.0 * shortest));
    let fewest = if kind == Discipline::Fifo { 2.0 } else { 24.0 };
    let held = (buffer_s / packet_s).round().max(fewest) as u64;
    let limit = if kind == Discipline::Fifo && random.unit() < 0.5 {
        Limit::Bytes(held * 1400)
    } else {
        Limit::Packets(held)
    };
    let burst = log_uniform(&mut random, 5.0, 400.0) * 1500.0;
    let queue = match kind {
        Discipline::Codel => QueueConfig::Codel(CodelConfig {
            limit,
            codel: CodelParams::linux(),
        }),
        Discipline::FqCodel => QueueConfig::FqCodel(FqCodelConfig::linux(limit)),
        Discipline::Pie => QueueConfig::Pie(PieConfig {
            limit,
            pie: PieParams::linux(),
        }),
        Discipline::Policer => QueueConfig::drop_tail(Limit::Packets(1000)),
        _ => QueueConfig::drop_tail(limit),
    };
    let is_policer = kind == Discipline::Policer;
    let line_bps = if is_policer {
        (rate_bps * 10.0).min(2e9)
    } else {
        rate_bps
    };
    let share = 0.2 + 0.6 * random.unit();
    let way = Way {
        rate_bps: line_bps as u64,
        delay_s: rtt_s * share,
        queue,
        policer: is_policer.then(|| Policer::new(rate_bps, burst)),
        cross: if is_policer { cross / 10.0 } else { cross },
        pauses: None,
    };
    let back = Way {
        rate_bps: (rate_bps as u64).max(10_000_000),
        delay_s: rtt_s * (1.0 - share),
        queue: QueueConfig::drop_tail(Limit::Packets(1000)),
        policer: None,
        cross: 0.0,
        pauses: None,
    };
    let mut bed = Bed::new([way, back], seed ^ link.rotate_left(32));
    let mut prober = Prober::new(2_000_000_000).only_up();
    while let Some(phase) = prober.next() {
        let recording = bed.run(&phase);
        prober.finish(&phase, recording);
    }
    let report = prober.report();
    // The direction back, which was not probed, transmits the echoes.
    let rtt_s = rtt_s + 96.0 * 8.0 / (rate_bps as u64).max(10_000_000) as f64;
    Found {
        link,
        rate_bps,
        rtt_s,
        cross,
        kind,
        limit,
        base_rtt_s: report.base_rtt_s.map(|rtt| rtt.value),
        direction: report.up,
    }
}

impl Found {
    pub fn is_right(&self) -> bool {
        self.direction
            .as_ref()
            .is_some_and(|found| found.discipline == self.kind)
    }

    pub fn is_wrong(&self) -> bool {
        let found = self
            .direction
            .as_ref()
            .map_or(Discipline::CannotTell, |found| found.discipline);
        found != self.kind && found != Discipline::CannotTell
    }

    /// Returns the relative error of the rate.
    pub fn rate_error(&self) -> Option<f64> {
        Some((self.direction.as_ref()?.rate_bps.value / self.rate_bps - 1.0).abs())
    }

    /// Returns the error of the base RTT in seconds.
    pub fn rtt_error(&self) -> Option<f64> {
        Some((self.base_rtt_s? - self.rtt_s).abs())
    }

    /// Returns the relative error of a FIFO's buffer.
    pub fn buffer_error(&self) -> Option<f64> {
        let found = self.direction.as_ref()?.buffer?;
        let packets = match self.limit {
            Limit::Packets(packets) => packets as f64,
            Limit::Bytes(bytes) => (bytes / 1400) as f64,
            Limit::Unlimited => return None,
        };
        (self.kind == Discipline::Fifo).then(|| (found.packets.value / packets - 1.0).abs())
    }

    /// Returns the error of a FIFO's buffer in packets.
    pub fn packets_error(&self) -> Option<f64> {
        let found = self.direction.as_ref()?.buffer?.packets.value;
        Some(self.buffer_error()? * found)
    }

    pub fn unit_is_right(&self) -> Option<bool> {
        let found = self.direction.as_ref()?.buffer?;
        let unit = match self.limit {
            Limit::Packets(_) => LimitUnit::Packets,
            _ => LimitUnit::Bytes,
        };
        (self.kind == Discipline::Fifo).then(|| found.unit == Some(unit))
    }

    /// Returns a line with the truth and what was found.
    pub fn line(&self) -> String {
        let found = self.direction.as_ref();
        format!(
            "{} {} {:?} -> {:?} rate {:.3e} err {:.5} rtt {:.1} ms err {:.4} ms cross {:.2} found {:.2} limit {:?} found {:.2?} {:?}",
            if self.is_right() {
                "ok   "
            } else if self.is_wrong() {
                "WRONG"
            } else {
                "?    "
            },
            self.link,
            self.kind,
            found.map(|found| found.discipline),
            self.rate_bps,
            self.rate_error().unwrap_or(9.0),
            self.rtt_s * 1e3,
            self.rtt_error().unwrap_or(9.0) * 1e3,
            self.cross,
            found.map_or(9.0, |found| found.cross_share),
            self.limit,
            found
                .and_then(|found| found.buffer)
                .map(|one| (one.packets.value, one.unit)),
            found.map(|found| found.features),
        )
    }
}

/// Returns a quantile of values.
fn quantile(values: impl Iterator<Item = f64>, p: f64) -> f64 {
    goodqueue_probe::estimate::quantile(values, p).unwrap_or(f64::NAN)
}

/// Returns the table of errors.
pub fn table(found: &[Found]) -> String {
    let mut text = String::new();
    let of_kinds = KINDS.iter().map(|kind| (format!("{kind:?}"), Some(*kind)));
    for (name, kind) in of_kinds.chain([("all".to_owned(), None)]) {
        for busy in [false, true] {
            let of = || {
                let kinds = found
                    .iter()
                    .filter(|one| kind.is_none_or(|kind| kind == one.kind));
                kinds.filter(|one| (one.cross > 0.0) == busy)
            };
            let right = of().filter(|one| one.is_right()).count();
            let wrong = of().filter(|one| one.is_wrong()).count();
            let rate = |p| 100.0 * quantile(of().filter_map(Found::rate_error), p);
            let rtt = 1e3 * quantile(of().filter_map(Found::rtt_error), 0.95);
            let buffer = |p| 100.0 * quantile(of().filter_map(Found::buffer_error), p);
            let packets = quantile(of().filter_map(Found::packets_error), 0.95);
            let units: Vec<_> = of().filter_map(Found::unit_is_right).collect();
            let _ = writeln!(
                text,
                "{name}{}: {} links, {right} right, {wrong} wrong; rate p50 {:.3} % p95 {:.3} %; \
                 base RTT p95 {rtt:.3} ms; buffer p50 {:.2} % p95 {:.2} %, p95 {packets:.1} packets; \
                 unit right {} of {}",
                if busy { " with cross traffic" } else { "" },
                of().count(),
                rate(0.5),
                rate(0.95),
                buffer(0.5),
                buffer(0.95),
                units.iter().filter(|right| **right).count(),
                units.len(),
            );
        }
    }
    text
}
