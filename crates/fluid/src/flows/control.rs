//! Windows of single flows: closed forms of growth between losses, and reductions.

use crate::link::FluidControl;
use crate::whole::floor;

/// Growth per round trip of Linux's CUBIC where the curve is flat, in packets.
const LINUX_LEAST_GROWTH: f64 = 0.01;

/// Least window after a reduction, in packets (RFC 5681).
const MIN_WINDOW: f64 = 2.0;

/// One flow's window. Windows are in packets, times in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Congestion window.
    pub window: f64,
    /// Packets in flight: whole packets join as the window grows.
    pub flight: f64,
    /// Growth of the window in the round trip that began with the last update.
    pub growth: f64,
    /// Packets sent in the measured part.
    pub sent: f64,
    /// Time at which CUBIC's epoch began.
    pub epoch: f64,
    /// The plateau of CUBIC's curve, and the seconds from the beginning of the epoch to it.
    pub plateau: f32,
    /// See `plateau`.
    pub k: f32,
    /// Window that Reno would have (RFC 9438 section 4.3).
    pub reno: f32,
    /// Window at the last loss.
    pub prior: f32,
    /// The last burst of losses that hit the flow.
    pub burst: u32,
    /// Reductions in the measured part.
    pub events: u32,
    /// Share of its packets that a train keeps in recovery.
    pub kept: f32,
    /// Lost packets whose loss the sender has not detected.
    pub missing: f32,
    /// Packets that a pause has yet to leave out.
    pub pause: f32,
    /// Trains until the sender detects a loss; 0 without a loss.
    pub unknown: u16,
    /// Trains until recovery ends.
    pub recovers: u16,
    /// Trains until the whole window has been reduced.
    pub reduces: u16,
    /// Trains until the last packet that the present event lost has been repaired.
    pub repaired: u16,
    /// Trains until growth is computed anew.
    pub grows: u16,
}

impl Flow {
    /// Takes back one of the flow's `trains`, of `before` packets. Returns the new number of
    /// packets, and true if the sender detects a loss by these ACKs.
    #[inline]
    pub fn pass(
        &mut self,
        control: &FluidControl,
        trains: u16,
        before: f64,
        round: &Round,
    ) -> (f64, bool) {
        let mut known = false;
        self.repaired = self.repaired.saturating_sub(1);
        if self.unknown > 0 {
            self.unknown -= 1;
            if self.unknown == 0 {
                control.reduce(self, round.whole_segments);
                self.missing = 0.0;
                let wanted = (self.window - round.held).max(1.0);
                let kept = (wanted / self.flight.max(1.0)).min(1.0);
                if round.proportional {
                    self.kept = kept as f32;
                } else {
                    self.kept = 1.0;
                    self.pause = (self.flight * (1.0 - kept)) as f32;
                }
                self.events += 1;
                // Recovery ends when the last retransmission is acknowledged.
                self.recovers = self.repaired.max(trains);
                self.reduces = trains;
                known = true;
            }
        }
        let after = if self.recovers > 0 {
            self.recovers -= 1;
            if self.recovers == 0 {
                control.begin_epoch(self, round.now);
                self.grows = 0;
            }
            let left_out = before.min(f64::from(self.pause));
            self.pause -= left_out as f32;
            let kept = if self.reduces > 0 {
                self.reduces -= 1;
                f64::from(self.kept)
            } else {
                1.0
            };
            (before - left_out) * kept
        } else {
            if self.grows == 0 {
                self.growth = control.growth(self, round);
                self.grows = trains;
            }
            self.grows -= 1;
            let acked = round.acked(self.window);
            control.advance(self, round.part, acked);
            // An ACK releases at most one packet more than it acknowledges.
            before + floor(self.room(round).max(0.0)).min(before.max(1.0))
        };
        let after = f64::from(after as f32);
        self.flight += after - before;
        (after, known)
    }

    /// Excess of the window over the sender's estimate of the packets in flight.
    fn room(&self, round: &Round) -> f64 {
        let allowed = (self.window - round.held).max(1.0);
        allowed - self.flight - f64::from(self.missing) + round.dither
    }

    /// Loses `count` of the flow's packets. The sender detects the loss when the ACKs of this train
    /// have arrived, or with `late` those of the next train, unless it detects another loss before.
    pub fn lose(&mut self, trains: u16, count: f64, late: bool) {
        self.flight -= count;
        // Packets sent before the first loss was known belong to the same event.
        if self.unknown == 0 && self.recovers + 1 < trains.max(2) {
            self.unknown = trains + u16::from(late);
        }
        if self.unknown > 0 {
            self.missing += count as f32;
            self.repaired = 2 * trains + u16::from(late);
        }
    }
}

/// Conditions of growth that are common to all flows of a class.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Present time, in seconds.
    pub now: f64,
    /// The base round-trip time and the present one, in seconds.
    pub base_rtt: f64,
    /// See `base_rtt`.
    pub rtt: f64,
    /// Share of a window in a train.
    pub part: f64,
    /// Packets per ACK if windows grow by a step per ACK; 1 if bytes are counted.
    pub per_step: f64,
    /// Packets that a receiver has, on average, and has not acknowledged yet.
    pub held: f64,
    /// Bytes of a segment, if windows grow by whole bytes.
    pub segment_bytes: Option<f64>,
    /// Largest window.
    pub max_window: f64,
    /// Shift of the window at which a packet joins, from -0.5 to 0.5 packets.
    pub dither: f64,
    /// True if the window after a reduction is cut to whole segments.
    pub whole_segments: bool,
    /// True if recovery sends in proportion to the delivered packets, and does not pause.
    pub proportional: bool,
}

impl Round {
    /// Share of a window that is acknowledged in a round trip: its whole packets, those left out that
    /// receivers hold back.
    fn acked(&self, window: f64) -> f64 {
        ((floor(window) - self.held) / window).max(0.0)
    }
}

impl FluidControl {
    /// Growth of the window in the next round trip.
    #[inline]
    pub fn growth(&self, flow: &Flow, round: &Round) -> f64 {
        let acked = round.acked(flow.window);
        let growth = match *self {
            Self::Gaimd { alpha, .. } => match round.segment_bytes {
                Some(bytes) if round.per_step > 1.0 => {
                    // RFC 5681: the window grows by whole bytes, at least by one.
                    let step = floor(alpha * bytes / flow.window).max(1.0);
                    acked * flow.window / round.per_step * step / bytes
                }
                _ => acked * alpha / round.per_step,
            },
            Self::Scalable { step, .. } => acked * step * flow.window / round.per_step,
            Self::Cubic { as_linux: true, .. } => acked * self.steps_of_linux(flow, round),
            Self::Cubic {
                c, reno_friendly, ..
            } => {
                let t = round.now - flow.epoch + round.rtt - f64::from(flow.k);
                let target = f64::from(flow.plateau) + c * t * t * t;
                let mut growth = (target - flow.window).clamp(0.0, 0.5 * flow.window);
                if reno_friendly {
                    growth = growth.max(f64::from(flow.reno) - flow.window);
                }
                acked * growth
            }
        };
        growth.min(round.max_window - flow.window).max(0.0)
    }

    /// Growth of Linux's CUBIC in a round trip, whose windows and curve are whole packets
    /// (`tcp_cubic.c`, `bictcp_update`).
    fn steps_of_linux(&self, flow: &Flow, round: &Round) -> f64 {
        let Self::Cubic {
            c, reno_friendly, ..
        } = *self
        else {
            return 0.0;
        };
        let window = floor(flow.window);
        let t = round.now - flow.epoch + round.base_rtt - f64::from(flow.k);
        let distance = floor((c * t * t * t).abs()).copysign(t);
        let mut gap = floor(f64::from(flow.plateau)) + distance - window;
        if reno_friendly {
            gap = gap.max(floor(f64::from(flow.reno)) - window);
        }
        if gap < 1.0 {
            return LINUX_LEAST_GROWTH;
        }
        window / floor(window / gap).max(2.0)
    }

    /// Grows the window by the part of a round trip that has passed since the last update.
    #[inline]
    pub fn advance(&self, flow: &mut Flow, part: f64, acked: f64) {
        flow.window += flow.growth * part;
        if let Self::Cubic {
            beta,
            reno_friendly: true,
            as_linux,
            ..
        } = *self
        {
            let alpha = if !as_linux && flow.reno >= flow.prior {
                1.0
            } else {
                3.0 * (1.0 - beta) / (1.0 + beta)
            };
            flow.reno += (alpha * acked * part) as f32;
        }
    }

    /// Reduces the window for a loss that became known. The packets in flight are rounded down to
    /// whole packets. If `whole_segments` is true, so is the remaining window.
    pub fn reduce(&self, flow: &mut Flow, whole_segments: bool) {
        let before = flow.window;
        let beta = self.beta();
        if let Self::Cubic {
            fast_convergence,
            as_linux,
            ..
        } = *self
        {
            let (now, then) = if as_linux {
                (floor(before), floor(f64::from(flow.plateau)))
            } else {
                (before, f64::from(flow.plateau))
            };
            let lower = fast_convergence && now < then;
            let factor = if lower { 0.5 * (1.0 + beta) } else { 1.0 };
            flow.plateau = (before * factor) as f32;
            flow.prior = before as f32;
        }
        flow.growth = 0.0;
        let left = floor(before) * beta;
        let left = if whole_segments { floor(left) } else { left };
        flow.window = left.max(MIN_WINDOW).min(before);
    }

    /// Begins congestion avoidance, after recovery.
    pub fn begin_epoch(&self, flow: &mut Flow, now: f64) {
        if let Self::Cubic { c, .. } = *self {
            flow.epoch = now;
            let below = (f64::from(flow.plateau) - flow.window).max(0.0);
            flow.k = libm::cbrt(below / c) as f32;
            flow.plateau = flow.plateau.max(flow.window as f32);
            flow.reno = flow.window as f32;
        }
    }

    /// Seconds from one loss to the next of a flow whose window is `top` packets at a loss and whose
    /// round-trip time is then `rtt_s`.
    pub fn epoch_s(&self, top: f64, rtt_s: f64, per_step: f64) -> f64 {
        let lost = top * (1.0 - self.beta());
        match *self {
            Self::Gaimd { alpha, .. } => lost * per_step / alpha * rtt_s,
            Self::Scalable { step, beta } => -libm::log(beta) * per_step / step * rtt_s,
            Self::Cubic {
                c,
                beta,
                reno_friendly,
                ..
            } => {
                let by_curve = libm::cbrt(lost / c);
                let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
                let as_reno = lost / alpha * rtt_s;
                if reno_friendly {
                    by_curve.min(as_reno)
                } else {
                    by_curve
                }
            }
        }
    }

    /// Returns a flow between two losses whose window is `mean` on average, at a `place` of its epoch
    /// from 0 to 1.
    pub fn somewhere(&self, mean: f64, place: f64, max_window: f64) -> Flow {
        let beta = self.beta();
        let top = 2.0 * mean / (1.0 + beta);
        let mut flow = Flow {
            window: top * (beta + (1.0 - beta) * place),
            plateau: top as f32,
            prior: top as f32,
            ..Flow::default()
        };
        if let Self::Cubic { c, .. } = *self {
            let k = libm::cbrt(top * (1.0 - beta) / c);
            let left = k * (1.0 - place);
            flow.k = k as f32;
            flow.epoch = -k * place;
            flow.window = top - c * left * left * left;
            flow.reno = flow.window as f32;
        }
        flow.window = flow.window.min(max_window).max(MIN_WINDOW);
        flow
    }
}
