//! The course of a probe: which phase is next, and the report at the end.

use crate::estimate::{Direction, Recordings, quantile};
use crate::estimate::{Discipline, Drift, Estimate, base_rtt};
use crate::{Codepoint, Cost, LARGE, Path, Pattern, Phase, Recording, SMALL, TINY};
use serde::Serialize;

/// Pings before and after the other phases, and the time between two of them in microseconds.
const PINGS: u32 = 100;
const LAST_PINGS: u32 = 50;
const PING_US: u32 = 20_000;
/// Packets of a train.
const TRAIN: u32 = 16;
/// Longest queueing delay that a hold keeps, in seconds.
const LONGEST_HELD: f64 = 0.2;
/// Share of the longest queueing delay of a ramp that a hold keeps.
const HELD: f64 = 0.65;

/// Expected time of the phases of a direction that fill its buffer, in seconds.
const LOADED_S: f64 = 12.0;
/// Expected pauses after them, in seconds.
const PAUSES_S: f64 = 13.0;
/// Ratio of the rate that is sent to that of the bottleneck.
const OVERLOAD: f64 = 1.25;

/// A probe in progress.
#[derive(Clone, Debug)]
pub struct Prober {
    most_bps: u64,
    pings: Option<Recording>,
    /// Pings after the other phases.
    last_pings: Option<Recording>,
    ways: [Recordings; 2],
    /// Steps that were carried out.
    done: Vec<(Path, Step)>,
    paths: &'static [Path],
}

/// Steps of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Trains,
    Ramp,
    Hold,
    Small,
    Ecn0,
    Ecn1,
}

const STEPS: [Step; 6] = [
    Step::Trains,
    Step::Ramp,
    Step::Hold,
    Step::Small,
    Step::Ecn0,
    Step::Ecn1,
];

/// Report of a probe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Base round-trip time in seconds, without the transmission of the ping.
    pub base_rtt_s: Option<Estimate>,
    /// Share of pings that did not come back.
    pub ping_loss: f64,
    /// Gain of the server's clock on the client's in parts per million, if there were pings at the end.
    pub clock_drift_ppm: Option<Estimate>,
    /// The direction from the client to the server.
    pub up: Option<Direction>,
    /// The direction from the server to the client.
    pub down: Option<Direction>,
}

impl Prober {
    /// Returns a probe that sends at most at this rate.
    pub fn new(most_bps: u64) -> Self {
        Self {
            most_bps,
            pings: None,
            last_pings: None,
            ways: Default::default(),
            done: Vec::new(),
            paths: &[Path::Up, Path::Down],
        }
    }

    /// Returns the probe without its second direction.
    #[must_use]
    pub fn only_up(self) -> Self {
        Self {
            paths: &[Path::Up],
            ..self
        }
    }

    /// Returns the next phase, or none when the probe is complete.
    pub fn next(&self) -> Option<Phase> {
        if self.pings.is_none() {
            return Some(pings(PINGS));
        }
        let paths = || self.paths.iter().copied();
        let trains = paths().map(|path| (path, Step::Trains));
        let others = paths().flat_map(|path| STEPS[1..].iter().map(move |step| (path, *step)));
        trains
            .chain(others)
            .filter(|step| !self.done.contains(step))
            .find_map(|(path, step)| {
                let pattern = self.pattern(path, step)?;
                Some(Phase { path, pattern })
            })
            .or_else(|| self.last_pings.is_none().then(|| pings(LAST_PINGS)))
    }

    /// Returns the expected traffic of the phases that fill the buffer. It follows from the rate of the
    /// trains, or from the rate at which TCP filled a direction, if that is lower.
    pub fn cost(&self, tcp_bps: [f64; 2]) -> Cost {
        let mut cost = Cost {
            seconds: 0.0,
            bytes: 0.0,
        };
        for path in self.paths {
            let burst = self.ways[*path as usize].burst_bps(TRAIN).unwrap_or(1e6);
            cost.seconds += LOADED_S + PAUSES_S;
            let rate = burst.min(tcp_bps[*path as usize]).min(self.most_bps as f64);
            cost.bytes += OVERLOAD * rate * LOADED_S / 8.0;
        }
        cost
    }

    /// Takes the recording of the phase that [`next`](Self::next) returned.
    pub fn finish(&mut self, phase: &Phase, recording: Recording) {
        if let Pattern::Pings { .. } = phase.pattern {
            if self.pings.is_some() {
                self.last_pings = Some(recording);
                return;
            }
            let pings = &recording.pings;
            self.ways[0].pings = pings.iter().map(|ping| ping.turned - ping.sent).collect();
            self.ways[1].pings = pings
                .iter()
                .map(|ping| ping.received - ping.turned)
                .collect();
            self.pings = Some(recording);
            return;
        }
        let way = &mut self.ways[phase.path as usize];
        let (step, place) = match phase.pattern {
            Pattern::Trains { .. } | Pattern::Pings { .. } => (Step::Trains, &mut way.trains),
            Pattern::Ramp { bytes: LARGE, .. } => (Step::Ramp, &mut way.ramp),
            Pattern::Ramp { .. } => (Step::Small, &mut way.small),
            Pattern::Hold { codepoint, .. } => match codepoint {
                Codepoint::NotCapable => (Step::Hold, &mut way.hold),
                Codepoint::Capable0 => (Step::Ecn0, &mut way.ecn[0]),
                Codepoint::Capable1 => (Step::Ecn1, &mut way.ecn[1]),
            },
        };
        *place = Some(recording);
        self.done.push((phase.path, step));
    }

    /// Returns the conclusions so far.
    pub fn report(&self) -> Report {
        let drift = self.drift();
        let [up, down] = [Path::Up, Path::Down].map(|path| {
            let way = &self.ways[path as usize];
            match drift {
                Some(drift) => way.without(&drift, path).report(TRAIN),
                None => way.report(TRAIN),
            }
        });
        let pings = self.pings.as_ref();
        let transmission = |way: &Option<Direction>| {
            let way = way
                .as_ref()
                .filter(|way| way.discipline != Discipline::Policer);
            way.map_or(0.0, |way| f64::from(TINY) * 8.0 / way.rate_bps.value)
        };
        let transmission = transmission(&up) + transmission(&down);
        Report {
            base_rtt_s: pings.and_then(|pings| base_rtt(&pings.pings, transmission)),
            ping_loss: pings.map_or(1.0, |pings| {
                1.0 - pings.pings.len() as f64 / f64::from(pings.sent[0].max(1))
            }),
            clock_drift_ppm: drift.map(|drift| drift.ppm()),
            up,
            down,
        }
    }

    /// Returns the drift of the clocks between the first pings and the last ones.
    fn drift(&self) -> Option<Drift> {
        let (before, after) = self.pings.as_ref().zip(self.last_pings.as_ref())?;
        Drift::new(&before.pings, &after.pings)
    }

    fn rtt_s(&self) -> f64 {
        let pings = self.pings.iter().flat_map(|pings| &pings.pings);
        let least = pings.map(|ping| ping.received - ping.sent).min();
        least.unwrap_or(0) as f64 * 1e-9
    }

    /// Returns the packets of a step, or none if it is not needed.
    fn pattern(&self, path: Path, step: Step) -> Option<Pattern> {
        let way = &self.ways[path as usize];
        match step {
            Step::Trains => Some(Pattern::Trains {
                count: 12,
                length: TRAIN,
                interval_us: 100_000,
            }),
            Step::Ramp => {
                let burst = way.burst_bps(TRAIN).unwrap_or(1e6);
                Some(self.ramp(burst / 2.0, LARGE))
            }
            Step::Small => {
                let ramp = way.load(way.ramp.as_ref(), true)?;
                Some(self.ramp(ramp.throughput.bps * 0.7, SMALL))
            }
            Step::Hold => self.hold(path, Codepoint::NotCapable),
            Step::Ecn0 => self.hold(path, Codepoint::Capable0),
            Step::Ecn1 => self.hold(path, Codepoint::Capable1),
        }
    }

    fn ramp(&self, from_bps: f64, bytes: u32) -> Pattern {
        let most = self.most_bps;
        Pattern::Ramp {
            from_bps: (from_bps as u64).clamp(100_000.min(most), most),
            most_bps: most,
            bytes,
            sparse_us: sparse_us(f64::from(bytes) * 8.0 / from_bps),
            window_us: (self.rtt_s() * 1e6).clamp(50_000.0, 500_000.0) as u32,
            after_loss_ms: 300,
            longest_ms: 10_000,
        }
    }

    /// Returns a hold at two thirds of the longest queueing delay of the ramp.
    fn hold(&self, path: Path, codepoint: Codepoint) -> Option<Pattern> {
        let way = &self.ways[path as usize];
        let ramp = way.load(way.ramp.as_ref(), true)?;
        let bps = ramp.throughput.bps;
        let packet = ramp.packet_s(bps);
        let longest = quantile(ramp.wait.iter().copied(), 0.995)?;
        let shallow = quantile(ramp.gaps.iter().map(|gap| ramp.wait[gap.before]), 0.1)?;
        if longest < 1.5 * packet {
            return None;
        }
        let room = (longest - 4.0 * packet).max(longest / 2.0);
        let held = (HELD * longest).min(LONGEST_HELD).min(room);
        // Losses at half the longest delay are those of an active queue, which holds more.
        let is_active = shallow < longest / 2.0 && longest > 4.0 * packet;
        let held = if is_active {
            held.max(10.0 * packet)
        } else {
            held
        };
        let rtt = self.rtt_s();
        let [rounds, packets, longest_s] = match codepoint {
            Codepoint::NotCapable => [2.0 + 4.0 * rtt, 400.0 * packet, 5.0],
            _ => [0.7, 100.0 * packet, 2.0],
        };
        let span_s = 3.0 * (rtt + held) + rounds.max(packets.min(longest_s));
        Some(Pattern::Hold {
            window: ((rtt + held) / packet + 1.0).round().max(2.0) as u32,
            held_us: (held * 1e6) as u32 + 1,
            rtt_us: (rtt * 1e6) as u32 + 1,
            base_ns: ramp.base,
            pace_bps: ((bps * (1.0 + held / rtt).min(1.5)) as u64).min(self.most_bps),
            sparse_us: sparse_us(packet),
            codepoint,
            span_ms: (span_s * 1000.0) as u32,
        })
    }
}

fn pings(count: u32) -> Phase {
    Phase {
        path: Path::Up,
        pattern: Pattern::Pings {
            count,
            interval_us: PING_US,
        },
    }
}

/// Returns the time between packets of the sparse stream in microseconds: about twelve packets of the
/// main stream at a slow bottleneck.
fn sparse_us(packet_s: f64) -> u32 {
    (12.0 * packet_s * 1e6).clamp(20_000.0, 150_000.0) as u32
}
