//! The controller of PI2 (De Schepper et al., "PI2: A Linearized AQM for both Classic and Scalable
//! TCP", 2016; RFC 9332 appendix A): a probability that is squared for classic traffic, so that its
//! gains need no tuning table.

use crate::Refusal;
use crate::pie::{Updates, refuse_gains};
use goodqueue_types::{RandomStream, Span, Time};

/// What the controller can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pi2Params {
    /// The queueing delay to hold (`target`). Default 15 ms.
    pub target: Span,
    /// Time between updates (`tupdate`). Default 16 ms.
    pub tupdate: Span,
    /// Gain on the distance to the target, per second (`alpha`). Default 0.16.
    pub alpha: f64,
    /// Gain on the change of the delay, per second (`beta`). Default 3.2.
    pub beta: f64,
    /// With less than two frames of so many bytes waiting, nothing is dropped or marked at random
    /// (1514 in Linux).
    pub mtu: u64,
}

impl Pi2Params {
    /// As Linux `dualpi2` has it: RFC 9332's gains for round trips of up to 100 ms, rounded to
    /// 1/256.
    pub const fn linux() -> Self {
        Self {
            target: Span::from_millis(15),
            tupdate: Span::from_millis(16),
            alpha: 41.0 / 256.0,
            beta: 819.0 / 256.0,
            mtu: 1514,
        }
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// The parameter, why, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        refuse_gains(self.target, self.tupdate, self.alpha, self.beta)
    }
}

/// The state of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Pi2Vars {
    /// p' of RFC 9332: classic traffic sees its square, scalable traffic k times it.
    prob: f64,
    last_delay: Span,
    updates: Updates,
}

impl Pi2Vars {
    /// The state of an empty queue.
    pub fn new(params: &Pi2Params) -> Self {
        Self {
            prob: 0.0,
            last_delay: Span::ZERO,
            updates: Updates::new(Time::ZERO + params.tupdate, params.tupdate),
        }
    }

    /// p'.
    pub fn probability(&self) -> f64 {
        self.prob
    }

    /// Makes the updates that are due, with the arrival of the packet that has waited longest, and a
    /// bound on the probability.
    #[inline]
    pub fn catch_up(&mut self, params: &Pi2Params, now: Time, oldest: Option<Time>, bound: f64) {
        let Self {
            prob,
            last_delay,
            updates,
        } = self;
        updates.catch_up(now, |at| {
            let delay = oldest.map_or(Span::ZERO, |oldest| at.saturating_since(oldest));
            let before = (*prob, *last_delay);
            *prob = next_probability(params, *prob, delay, *last_delay).min(bound);
            *last_delay = delay;
            (*prob, *last_delay) != before
        });
    }

    /// Whether a classic packet is hit: with probability p'².
    pub fn hits_classic(&self, random: &mut RandomStream) -> bool {
        random.unit() < self.prob && random.unit() < self.prob
    }

    /// Whether a scalable packet is hit: with probability k · p'.
    pub fn hits_scalable(&self, random: &mut RandomStream, coupling: f64) -> bool {
        random.unit() < self.prob * coupling
    }

    /// Whether marking every scalable packet would not be enough.
    pub fn is_overloaded(&self, coupling: f64) -> bool {
        self.prob * coupling > 1.0
    }
}

/// RFC 9332 appendix A.1, figure 6: a proportional-integral step.
#[must_use]
fn next_probability(params: &Pi2Params, prob: f64, delay: Span, last_delay: Span) -> f64 {
    let (delay, last) = (delay.as_secs_f64(), last_delay.as_secs_f64());
    let step = params.alpha * (delay - params.target.as_secs_f64()) + params.beta * (delay - last);
    (prob + step).clamp(0.0, 1.0)
}

/// Refuses a coupling factor that is none.
///
/// # Errors
/// If it is not positive.
pub fn refuse_coupling(coupling: f64) -> Result<(), Refusal> {
    if (1.0..=255.0).contains(&coupling) {
        return Ok(());
    }
    Err(Refusal::new(
        "coupling",
        format!("a coupling factor of {coupling}; RFC 9332 section 4.1 has 2"),
        "write a factor from 1 to 255, as in coupling = 2",
    ))
}
