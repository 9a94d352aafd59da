//! The control law of `CoDel` (RFC 8289), separate from any queue: it decides which packets are
//! dropped or marked, and when.
//!
//! [`CodelVars`] is the state of one queue. A discipline with a thousand queues has a thousand of
//! them and one [`CodelParams`].

use super::params::{CodelArithmetic, CodelParams, CountReuse, NextMark};
use crate::Context;
use goodqueue_types::{DropReason, Packet};

/// Largest value of Linux's 16-bit 1/√count, just below one.
const REC_INV_SQRT_ONE: u16 = u16::MAX;

/// Returns x · (3 − count · x²) / 2, one Newton step towards 1/√count, in Linux's 32-bit fixed
/// point.
#[must_use]
pub fn newton_step(rec_inv_sqrt: u32, count: u32) -> u32 {
    let x = u64::from(rec_inv_sqrt);
    let rest = (3u64 << 32).wrapping_sub(u64::from(count) * ((x * x) >> 32));
    // The rest is quartered before the product and doubled after it, so that the product fits 64
    // bits.
    ((rest >> 2).wrapping_mul(x) >> 31) as u32
}

/// Takes a [`newton_step`] on the upper 16 bits. `CoDel` keeps only these; COBALT keeps all 32.
#[must_use]
pub fn newton_step_16(rec_inv_sqrt: u16, count: u32) -> u16 {
    (newton_step(u32::from(rec_inv_sqrt) << 16, count) >> 16) as u16
}

/// Returns `interval` times a 32-bit fixed-point fraction, which is the distance to the next drop.
#[must_use]
pub fn scaled_interval(interval: u64, fraction: u32) -> u64 {
    (interval * u64::from(fraction)) >> 32
}

/// Queue from which a control law drops.
pub trait CodelQueue {
    /// Removes and returns the packet that has waited longest.
    fn pop(&mut self, context: &mut Context<'_>) -> Option<Packet>;

    /// Returns the frame bytes that wait now. In `FQ-CoDel` they are those of all flows.
    fn backlog_bytes(&self) -> u64;

    /// Returns true if `ce_threshold` applies to this packet.
    fn has_threshold(&self, _packet: &Packet) -> bool {
        true
    }
}

/// State of the control law for one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelVars {
    /// Time at which dropping may begin if the sojourn time exceeds its target until then.
    first_above: Option<u64>,
    /// Time at which the next drop is due in the dropping state. The time is kept after the
    /// dropping state ends.
    pub(super) drop_next: u64,
    /// Sojourn time of the last packet that the law examined.
    delay: u64,
    /// Number of drops in this dropping state, or the count from which it resumed plus these drops.
    count: u32,
    /// Value of `count` at the start of the dropping state.
    last_count: u32,
    /// 1/√count in Linux's 16-bit fixed point.
    rec_inv_sqrt: u16,
    dropping: bool,
}

impl Default for CodelVars {
    fn default() -> Self {
        Self {
            first_above: None,
            drop_next: 0,
            delay: 0,
            count: 0,
            last_count: 0,
            rec_inv_sqrt: REC_INV_SQRT_ONE,
            dropping: false,
        }
    }
}

impl CodelVars {
    /// Returns true in the dropping state: the sojourn time has exceeded its target for an
    /// interval.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Returns the number of drops that the control law has counted.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds drops that the control law did not decide. `FQ-CoDel` reports those for its limit.
    pub fn count_drops(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }

    /// Drops the packets that the law requires and returns the next packet to transmit.
    #[inline]
    pub fn dequeue(
        &mut self,
        params: &CodelParams,
        context: &mut Context<'_>,
        queue: &mut impl CodelQueue,
    ) -> Option<Packet> {
        let now = params.units(context.now.0);
        let mut head = queue.pop(context);
        let may_drop = self.may_drop(params, now, head.as_ref(), queue);
        if !may_drop {
            self.dropping = false;
        } else if !self.dropping || now >= self.drop_next {
            return self.congested(params, now, context, queue, head);
        }
        self.mark_above_threshold(params, context, queue, head.as_mut());
        head
    }

    /// Drops or marks because a signal is due. Enters the dropping state or stays in it.
    #[cold]
    fn congested(
        &mut self,
        params: &CodelParams,
        now: u64,
        context: &mut Context<'_>,
        queue: &mut impl CodelQueue,
        mut head: Option<Packet>,
    ) -> Option<Packet> {
        if !self.dropping {
            let marked = Self::mark_or_drop(params, context, queue, &mut head);
            if !marked {
                self.may_drop(params, now, head.as_ref(), queue);
            }
            self.dropping = true;
            self.resume(params, now);
            self.drop_next = self.next_drop(params, now);
            return self.finish(params, context, queue, head, marked);
        }
        // With a large backlog several drops can be due at once.
        while self.dropping && now >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            self.rec_inv_sqrt = newton_step_16(self.rec_inv_sqrt, self.count);
            if Self::mark_or_drop(params, context, queue, &mut head) {
                let from = match params.next_mark {
                    NextMark::FromDue => self.drop_next,
                    NextMark::FromNow => now,
                };
                self.drop_next = self.next_drop(params, from);
                return head;
            }
            if self.may_drop(params, now, head.as_ref(), queue) {
                self.drop_next = self.next_drop(params, self.drop_next);
            } else {
                self.dropping = false;
            }
        }
        self.finish(params, context, queue, head, false)
    }

    /// Marks the head and returns true, or drops it, takes the next packet and returns false.
    fn mark_or_drop(
        params: &CodelParams,
        context: &mut Context<'_>,
        queue: &mut impl CodelQueue,
        head: &mut Option<Packet>,
    ) -> bool {
        let Some(packet) = head else { return false };
        if params.ecn && context.mark(packet, DropReason::TargetExceeded) {
            return true;
        }
        context.drop(*packet, DropReason::TargetExceeded);
        *head = queue.pop(context);
        false
    }

    /// Returns true if the packet has seen a standing queue for an interval (RFC 8289 section 5.6).
    #[inline]
    fn may_drop(
        &mut self,
        params: &CodelParams,
        now: u64,
        packet: Option<&Packet>,
        queue: &impl CodelQueue,
    ) -> bool {
        let Some(packet) = packet else {
            self.first_above = None;
            return false;
        };
        self.delay = now - params.units(packet.arrived.0);
        if self.delay < params.units(params.target.0) || queue.backlog_bytes() <= params.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + params.units(params.interval.0));
                false
            }
            Some(first) => match params.arithmetic {
                CodelArithmetic::Linux => now > first,
                CodelArithmetic::Exact => now >= first,
            },
        }
    }

    /// Sets the count at the start of a dropping state. If the last state ended a moment ago, its
    /// drop rate controlled the queue, so the new state starts near that rate.
    fn resume(&mut self, params: &CodelParams, now: u64) {
        let interval = params.units(params.interval.0);
        let since = |intervals: u64| now < self.drop_next + intervals * interval;
        let reused = match params.reuse {
            CountReuse::Delta => {
                let delta = self.count.wrapping_sub(self.last_count);
                (delta > 1 && since(16)).then_some(delta)
            }
            CountReuse::MinusTwo => (self.count > 2 && since(8)).then(|| self.count - 2),
            CountReuse::Never => None,
        };
        if let Some(count) = reused {
            self.count = count;
            self.rec_inv_sqrt = newton_step_16(self.rec_inv_sqrt, count);
        } else {
            self.count = 1;
            self.rec_inv_sqrt = REC_INV_SQRT_ONE;
        }
        self.last_count = self.count;
    }

    /// Returns the time interval/√count after `from`.
    fn next_drop(&self, params: &CodelParams, from: u64) -> u64 {
        let interval = params.units(params.interval.0);
        from + match params.arithmetic {
            CodelArithmetic::Linux => scaled_interval(interval, u32::from(self.rec_inv_sqrt) << 16),
            CodelArithmetic::Exact => {
                libm::round(interval as f64 / libm::sqrt(f64::from(self.count))) as u64
            }
        }
    }

    fn finish(
        &self,
        params: &CodelParams,
        context: &mut Context<'_>,
        queue: &impl CodelQueue,
        mut head: Option<Packet>,
        marked: bool,
    ) -> Option<Packet> {
        // A packet that is marked already is not reported twice.
        if !marked {
            self.mark_above_threshold(params, context, queue, head.as_mut());
        }
        head
    }

    #[inline]
    fn mark_above_threshold(
        &self,
        params: &CodelParams,
        context: &mut Context<'_>,
        queue: &impl CodelQueue,
        head: Option<&mut Packet>,
    ) {
        if let (Some(threshold), Some(packet)) = (params.ce_threshold, head)
            && self.delay > params.units(threshold.0)
            && queue.has_threshold(packet)
        {
            let _ = context.mark(packet, DropReason::Forced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::Span;

    fn spacing(params: CodelParams, drops: usize) -> Vec<f64> {
        let mut vars = CodelVars::default();
        vars.resume(&params, 0);
        let unit = match params.arithmetic {
            CodelArithmetic::Linux => 1.024e-3,
            CodelArithmetic::Exact => 1e-9,
        };
        let mut spacing = Vec::new();
        for _ in 0..drops {
            spacing.push(vars.next_drop(&params, 0) as f64 * unit);
            vars.count += 1;
            vars.rec_inv_sqrt = newton_step_16(vars.rec_inv_sqrt, vars.count);
        }
        spacing
    }

    fn assert_near(ours: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(ours.len(), expected.len());
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours - expected).abs() <= tolerance, "{ours} {expected}");
        }
    }

    #[test]
    fn the_rfc_spaces_drops_by_the_inverse_square_root() {
        // RFC 8289 section 3.3 gives ten drops in 502.1 ms.
        let ours = spacing(CodelParams::rfc8289(), 10);
        let expected = [100.0, 70.711, 57.735, 50.0, 44.721, 40.825, 37.796, 35.355];
        assert_near(&ours[..8], &expected, 5e-4);
        assert!((ours.iter().sum::<f64>() - 502.1).abs() < 0.05);
    }

    #[test]
    fn one_newton_step_a_drop_makes_linux_drop_sooner_at_first() {
        // These are the results of the kernel's arithmetic for 100 ms: the second interval is 29 %
        // short.
        let expected = [
            99.998, 50.001, 56.250, 48.779, 44.151, 40.406, 37.518, 35.151, 33.181, 31.504,
        ];
        // The kernel's times are whole units of 1.024 us.
        assert_near(&spacing(CodelParams::linux(), 10), &expected, 1.1e-3);
        assert_eq!(CodelParams::linux().units(Span::from_millis(5).0), 4882);
    }

    /// Returns x · (3 − count · x²) / 2 with every truncation of the kernel's, computed in 128
    /// bits.
    fn newton_in_wide_integers(rec_inv_sqrt: u16, count: u32) -> u128 {
        let x = u128::from(rec_inv_sqrt) << 16;
        let square = (x * x) >> 32;
        let rest = ((3u128 << 32) - u128::from(count) * square) >> 2;
        ((rest * x) >> 31) >> 16
    }

    #[test]
    fn newton_steps_equal_wide_arithmetic_where_ns3_compares_with_linux() {
        // ns-3's codel-queue-disc-test-suite compares 0xff, 0x7f, ... 1 for counts 1, 2, 4, ...
        // 128.
        let mut rec_inv_sqrt = 0xffu16;
        while rec_inv_sqrt > 0 {
            for count in (0..8).map(|shift| 1u32 << shift) {
                assert_eq!(
                    u128::from(newton_step_16(rec_inv_sqrt, count)),
                    newton_in_wide_integers(rec_inv_sqrt, count)
                );
            }
            rec_inv_sqrt /= 2;
        }
        // By hand: 255/65536 · 1.5 is 382.5 of 65536, less a little.
        assert_eq!(newton_step_16(0xff, 1), 382);
        assert_eq!(newton_step_16(0xffff, 2), 32769);
    }

    #[test]
    fn the_next_drop_equals_linux_for_ns3s_table() {
        // 100 ms are 97656 units, and 255/65536 of them are 379.97.
        let interval = CodelParams::linux().units(Span::from_millis(100).0);
        assert_eq!(interval, 97_656);
        let expected = [379, 189, 93, 46, 22, 10, 4, 1];
        for (shift, expected) in expected.into_iter().enumerate() {
            assert_eq!(scaled_interval(interval, (0xff >> shift) << 16), expected);
        }
    }

    #[test]
    fn newton_steps_converge_to_the_inverse_square_root() {
        let mut x = u32::MAX;
        for _ in 0..40 {
            x = newton_step(x, 7);
        }
        let expected = f64::from(7u32).sqrt().recip() * 4_294_967_296.0;
        assert!((f64::from(x) - expected).abs() < 16.0, "{x} {expected}");
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let with = |target, interval| CodelParams {
            target,
            interval,
            ..CodelParams::linux()
        };
        let key = |params: CodelParams| params.check().unwrap_err().key;
        assert!(CodelParams::linux().check().is_ok());
        assert_eq!(key(with(Span(0), Span::from_millis(1))), "target");
        assert_eq!(
            key(with(Span::from_millis(6), Span::from_millis(5))),
            "target"
        );
        assert_eq!(
            key(with(Span::from_millis(6), Span::from_secs(1001))),
            "interval"
        );
    }
}
