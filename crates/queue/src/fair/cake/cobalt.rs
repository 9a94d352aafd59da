//! COBALT combines `CoDel`, for flows that respond to congestion signals, with BLUE, for flows that
//! do not.

use crate::Context;
use crate::aqm::codel::newton_step;
use crate::fair::cake::CakeFirstInterval;
use goodqueue_types::{DropReason, Packet, Span, Time};

/// Steps of BLUE's drop probability in 32-bit fixed point: up by 1/256 when the buffer overflows,
/// down by 1/4096 when the queue is empty.
const BLUE_UP: u32 = 1 << 24;
const BLUE_DOWN: u32 = 1 << 20;
/// Number of counts whose 1/√count comes from a table. From there on one Newton step gives it.
const TABLE: usize = 16;

/// Parameters of COBALT in one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltParams {
    /// Largest sojourn time that is not a standing queue. BLUE changes at most once in this time.
    pub target: Span,
    /// Time from the first signal to the second.
    pub interval: Span,
    /// Transmission time of a full frame at the tin's rate.
    pub mtu_time: Span,
    /// Table of 1/√count in 32-bit fixed point.
    inverse_roots: [u32; TABLE],
}

impl CobaltParams {
    /// Returns the parameters for a target and an interval. Both grow if a full frame takes long at
    /// the tin's rate, so that one and a half frames never count as a standing queue.
    pub fn new(target: Span, interval: Span, mtu_time: Span) -> Self {
        let wide = target.max(Span(mtu_time.0 * 3 / 2));
        let stretched = interval + wide.saturating_sub(target);
        Self {
            target: wide,
            interval: stretched.max(wide * 2),
            mtu_time,
            inverse_roots: inverse_roots(),
        }
    }
}

/// Returns the table of 1/√count. Each entry takes four Newton steps from the entry before, because
/// one step would be far off for small counts. The entries for counts 0 and 1 are the largest
/// fraction.
fn inverse_roots() -> [u32; TABLE] {
    let mut root = u32::MAX;
    let mut roots = [root; TABLE];
    for (count, entry) in roots.iter_mut().enumerate().skip(1) {
        for _ in 0..4 {
            root = newton_step(root, count as u32);
        }
        *entry = root;
    }
    roots
}

/// State of a queue that COBALT needs besides the packet that leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltQueue {
    /// True if nothing waits behind the packet.
    pub is_last: bool,
    /// Number of flows with standing queues in the tin (0 at egress).
    pub bulk_flows: u32,
}

/// COBALT's state for one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltVars {
    /// Number of signals in this state of congestion. The count falls by the same schedule by which
    /// it rose.
    count: u32,
    inverse_root: u32,
    /// Time at which the next signal is due. Before the first signal, the time until which the
    /// queue counts as active.
    drop_next: Time,
    blue_changed: Time,
    /// BLUE's drop probability in 32-bit fixed point.
    blue: u32,
    dropping: bool,
}

impl CobaltVars {
    /// Returns the state of a queue that was never used.
    pub fn new(first: CakeFirstInterval) -> Self {
        Self {
            count: 0,
            inverse_root: match first {
                CakeFirstInterval::None => 0,
                CakeFirstInterval::Whole => u32::MAX,
            },
            drop_next: Time::ZERO,
            blue_changed: Time::ZERO,
            blue: 0,
            dropping: false,
        }
    }

    /// Raises BLUE's probability and enters the dropping state, because the queue lost a packet to
    /// the memory limit.
    pub fn queue_full(&mut self, params: &CobaltParams, now: Time) {
        if now - self.blue_changed > params.target {
            self.blue = self.blue.saturating_add(BLUE_UP);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Lowers BLUE's probability and the count, because the queue is served and found empty.
    pub fn queue_empty(&mut self, params: &CobaltParams, now: Time) {
        if self.blue > 0 && now - self.blue_changed > params.target {
            self.blue = self.blue.saturating_sub(BLUE_DOWN);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step_down(params);
        }
    }

    /// Returns true if the state of an empty queue has not decayed yet.
    pub fn is_decaying(&self, now: Time) -> bool {
        self.blue > 0 || self.count > 0 || now < self.drop_next
    }

    /// Marks a packet that leaves the queue, or returns the reason to drop it. The last packet of a
    /// queue is never dropped.
    pub fn decide(
        &mut self,
        params: &CobaltParams,
        context: &mut Context<'_>,
        packet: &mut Packet,
        queue: CobaltQueue,
    ) -> Option<DropReason> {
        let now = context.now;
        let was_due = self.count > 0 && now >= self.drop_next;
        // This value precedes the decision. The value is used if no signal is due.
        let mut overdue = now > self.drop_next;
        self.look(params, now, now - packet.arrived, queue.bulk_flows);
        // BLUE acts against flows that ignore marks, so it drops and never marks.
        let blue = self.blue > 0 && ((context.random.bits() >> 32) as u32) < self.blue;
        let mut reason = blue.then_some(DropReason::Early);
        if was_due && self.dropping {
            if !packet.ecn.is_capable() {
                reason = Some(DropReason::TargetExceeded);
            } else if reason.is_none() || queue.is_last {
                let _ = context.mark(packet, DropReason::TargetExceeded);
            }
            self.count = self.count.saturating_add(1);
            self.advance(params);
            overdue = now > self.drop_next;
        } else if was_due {
            while self.count > 0 && now >= self.drop_next {
                self.step_down(params);
            }
            overdue = now > self.drop_next;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(params.interval);
        } else if overdue && reason.is_none() {
            self.drop_next = now;
        }
        reason.filter(|_| !queue.is_last)
    }

    /// Sets `dropping` if the packet's sojourn time shows a standing queue. At ingress a few frames
    /// of each bulk flow are not a standing queue.
    fn look(&mut self, params: &CobaltParams, now: Time, sojourn: Span, bulk_flows: u32) {
        let frames = (2 * u64::from(bulk_flows)).max(4);
        let over = sojourn > params.target && sojourn > params.mtu_time.saturating_mul(frames);
        if over && !self.dropping {
            self.drop_next = now.saturating_add(self.distance(params));
        }
        self.dropping = over;
        if over {
            self.count = self.count.max(1);
        }
    }

    fn step_down(&mut self, params: &CobaltParams) {
        self.count -= 1;
        self.advance(params);
    }

    /// Moves the time of the next signal to interval/√count after the last, with the new count.
    fn advance(&mut self, params: &CobaltParams) {
        let root = params.inverse_roots.get(self.count as usize);
        self.inverse_root = root
            .copied()
            .unwrap_or_else(|| newton_step(self.inverse_root, self.count));
        self.drop_next = self.drop_next.saturating_add(self.distance(params));
    }

    fn distance(&self, params: &CobaltParams) -> Span {
        let product = u128::from(params.interval.0) * u128::from(self.inverse_root);
        Span((product >> 32) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::cake::CakeFirstInterval::{None as Zero, Whole};
    use crate::{BufferPool, Verdict};
    use goodqueue_types::{Ecn, Framing, RandomStream, Rate};

    fn internet() -> CobaltParams {
        CobaltParams::new(Span::from_millis(5), Span::from_millis(100), Span::ZERO)
    }

    /// Returns the decision on a packet that waited for `sojourn`, with the number of marks.
    fn decide(
        vars: &mut CobaltVars,
        now: Span,
        sojourn: Span,
        ecn: Ecn,
        random: &mut RandomStream,
    ) -> (Option<DropReason>, usize) {
        let (mut buffer, mut verdicts) = (BufferPool::unlimited(), Vec::new());
        let now = Time::ZERO + now;
        let mut context = Context {
            now,
            framing: Framing::bytes(0),
            random,
            account: buffer.account(0),
            verdicts: &mut verdicts,
            split: &mut 0,
        };
        let mut packet = Packet {
            ecn,
            arrived: Time(now.0 - sojourn.0),
            ..Packet::default()
        };
        let queue = CobaltQueue {
            is_last: false,
            bulk_flows: 0,
        };
        let reason = vars.decide(&internet(), &mut context, &mut packet, queue);
        assert!(verdicts.iter().all(|v| matches!(v, Verdict::Marked(..))));
        (reason, verdicts.len())
    }

    #[test]
    fn signals_are_an_interval_over_the_root_of_their_count_apart() {
        let mut vars = CobaltVars::new(Whole);
        vars.count = 1;
        let mut distances = vec![vars.distance(&internet())];
        for count in 2..=40_u32 {
            vars.count = count;
            let before = vars.drop_next;
            vars.advance(&internet());
            distances.push(vars.drop_next - before);
        }
        for (index, distance) in distances.into_iter().enumerate() {
            let exact = 0.1 / libm::sqrt((index + 1) as f64);
            let error = distance.as_secs_f64() / exact - 1.0;
            // Four Newton steps from 1 give 1/√2 within 5.6e-4. Beyond the table, one step per
            // signal leaves 1.5 times the square of the relative change, 1/(2·16), and less at
            // larger counts.
            let bound = if index < 15 { 6e-4 } else { 2e-3 };
            assert!(error.abs() < bound, "count {}: {error}", index + 1);
        }
    }

    /// ns-3's `CobaltQueueDiscMarkTest`: no signal at twice the target, one signal two intervals
    /// later, another at the same instant, and one at twice that time.
    #[test]
    fn ns3_first_signals() {
        let random = &mut RandomStream::new(1, "test", 0);
        for (ecn, signal) in [
            (Ecn::NotCapable, (Some(DropReason::TargetExceeded), 0)),
            (Ecn::Capable0, (None, 1)),
        ] {
            let mut vars = CobaltVars::new(Whole);
            let mut at = |millis: u64| {
                let now = Span::from_millis(millis);
                decide(&mut vars, now, now, ecn, random)
            };
            assert_eq!(at(10), (None, 0));
            assert_eq!(at(210), signal);
            assert_eq!(at(210), signal, "more than one was due");
            assert_eq!(at(420), signal);
        }
    }

    /// Linux clears the state of a new queue, so it signals at the second packet that waited too
    /// long.
    #[test]
    fn linux_does_not_wait_for_the_first_signal() {
        let random = &mut RandomStream::new(1, "test", 0);
        for (first, signal) in [(Zero, Some(DropReason::TargetExceeded)), (Whole, None)] {
            let mut vars = CobaltVars::new(first);
            let mut at = |millis: u64, sojourn: u64| {
                let (now, sojourn) = (Span::from_millis(millis), Span::from_millis(sojourn));
                decide(&mut vars, now, sojourn, Ecn::NotCapable, random).0
            };
            assert_eq!(at(10, 1), None);
            assert_eq!(at(20, 6), None);
            assert_eq!(at(21, 6), signal);
        }
    }

    #[test]
    fn the_count_falls_as_it_rose() {
        let random = &mut RandomStream::new(1, "test", 0);
        let mut vars = CobaltVars::new(Whole);
        let mut at = |millis: u64, sojourn: u64| {
            let (now, sojourn) = (Span::from_millis(millis), Span::from_millis(sojourn));
            decide(&mut vars, now, sojourn, Ecn::NotCapable, random);
            vars.count
        };
        let mut up = at(49, 1);
        for millis in 50..600 {
            up = at(millis, 20);
        }
        // The first signal comes at 150 ms, the next ones 100 ms · 1/√k apart for k from 2. The sum
        // of 1/√k is 4.32 up to k = 11 and 4.61 up to k = 12.
        assert_eq!(up, 12);
        let mut down = up;
        for millis in 600..1_200 {
            down = at(millis, 1);
        }
        assert_eq!(down, 0);
    }

    /// Signals that fell due while no packet came are skipped.
    #[test]
    fn signals_that_were_missed_are_forgotten() {
        let random = &mut RandomStream::new(1, "test", 0);
        let mut vars = CobaltVars::new(Whole);
        let mut at = |millis: u64, sojourn: u64| {
            let (now, sojourn) = (Span::from_millis(millis), Span::from_millis(sojourn));
            decide(&mut vars, now, sojourn, Ecn::Capable0, random).1
        };
        let marks = [
            (50, 1),
            (60, 20),
            (1000, 20),
            (1001, 20),
            (1002, 20),
            (1057, 20),
            (1058, 20),
        ]
        .map(|(millis, sojourn)| at(millis, sojourn));
        // The signal at 1001 ms was due at 1000 ms. The next one is due 100/√3 ms after that.
        assert_eq!(marks, [0, 0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn blue_drops_packets_of_unresponsive_flows_and_its_probability_falls_slowly() {
        let random = &mut RandomStream::new(1, "test", 0);
        let mut vars = CobaltVars::new(Whole);
        let params = internet();
        let time = |millis| Time::ZERO + Span::from_millis(millis);
        for millis in 1..=320 {
            vars.queue_full(&params, time(millis));
        }
        // BLUE's steps are more than 5 ms apart: at 6, 12, 18 … 318 ms.
        assert_eq!(vars.blue, 53 * BLUE_UP);
        let draws = 20_000;
        let mut dropped = 0;
        for _ in 0..draws {
            let (now, short) = (Span::from_millis(400), Span::ZERO);
            dropped += i32::from(
                decide(&mut vars, now, short, Ecn::Capable0, random)
                    .0
                    .is_some(),
            );
        }
        let (share, p) = (f64::from(dropped) / f64::from(draws), 53.0 / 256.0);
        let error = 4.0 * libm::sqrt(p * (1.0 - p) / f64::from(draws));
        assert!((share - p).abs() < error, "{share} {p}");
        vars.queue_empty(&params, time(401));
        vars.queue_empty(&params, time(402));
        assert_eq!(vars.blue, 53 * BLUE_UP - BLUE_DOWN);
        assert!(vars.is_decaying(time(10_000)));
    }

    #[test]
    fn slow_tins_have_wider_targets() {
        let (target, rtt) = (Span::from_millis(5), Span::from_millis(100));
        let frame = Rate(1_000_000).transmission_time(goodqueue_types::Bytes(1514));
        assert_eq!(frame, Span::from_micros(12_112));
        let params = CobaltParams::new(target, rtt, frame);
        assert_eq!(params.target, Span::from_micros(18_168));
        assert_eq!(params.interval, Span::from_micros(113_168));
        let slow = CobaltParams::new(target, rtt, frame * 10);
        assert_eq!(slow.interval, slow.target * 2);
    }
}
