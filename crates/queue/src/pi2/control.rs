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

    /// `p_C` of RFC 9332: p'², what a classic packet's loss or mark is drawn with.
    pub fn classic_probability(&self) -> f64 {
        self.prob * self.prob
    }

    /// `p_CL` of RFC 9332: k · p', what a scalable packet's mark is drawn with.
    pub fn scalable_probability(&self, coupling: f64) -> f64 {
        (self.prob * coupling).min(1.0)
    }

    /// Whether a classic packet is hit: by two draws, as RFC 9332 appendix A.1 has it.
    pub fn hits_classic(&self, random: &mut RandomStream) -> bool {
        random.unit() < self.prob && random.unit() < self.prob
    }

    /// Whether a scalable packet is hit: with probability k · p'.
    pub fn hits_scalable(&self, random: &mut RandomStream, coupling: f64) -> bool {
        random.unit() < self.scalable_probability(coupling)
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
        "coupling_factor",
        format!("a coupling factor of {coupling}; RFC 9332 section 4.1 has 2"),
        "write a factor from 1 to 255, as in coupling_factor = 2",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(prob: f64) -> Pi2Vars {
        Pi2Vars {
            prob,
            ..Pi2Vars::new(&Pi2Params::linux())
        }
    }

    #[test]
    fn the_coupling_is_that_of_rfc_9332() {
        // p' = 0.1 and k = 2: p_CL = 0.2, p_C = 0.01; so p_C = (p_CL / k)^2.
        let vars = with(0.1);
        assert!((vars.scalable_probability(2.0) - 0.2).abs() < 1e-15);
        assert!((vars.classic_probability() - 0.01).abs() < 1e-15);
        let mut random = RandomStream::new(1, "test", 0);
        let n = 1_000_000;
        let mut share = |hits: &mut dyn FnMut(&mut RandomStream) -> bool| {
            f64::from((0..n).map(|_| u32::from(hits(&mut random))).sum::<u32>()) / f64::from(n)
        };
        // Within four standard deviations.
        assert!((share(&mut |random| vars.hits_scalable(random, 2.0)) - 0.2).abs() < 0.0016);
        assert!((share(&mut |random| vars.hits_classic(random)) - 0.01).abs() < 0.0004);
        assert!(!with(0.5).is_overloaded(2.0) && with(0.51).is_overloaded(2.0));
        assert!((with(0.9).scalable_probability(2.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn updates_are_proportional_and_integral() {
        // RFC 9332 appendix A.1 by hand: 0.16015625 and 3.19921875 a second, 20 ms over the target
        // at once, then 5 ms more.
        let params = Pi2Params::linux();
        let delay = Span::from_millis(35);
        let first = next_probability(&params, 0.0, delay, Span::ZERO);
        assert!((first - 0.115_175_781_25).abs() < 1e-12, "{first}");
        let second = next_probability(&params, first, Span::from_millis(40), delay);
        assert!((second - 0.135_175_781_25).abs() < 1e-12, "{second}");
        assert!(next_probability(&params, 1e-4, Span::ZERO, Span::ZERO) <= 0.0);
    }

    #[test]
    fn updates_see_the_delay_of_their_own_time() {
        // A packet that came at 10 ms has waited 6, 22 and 38 ms at the updates before 50 ms.
        let params = Pi2Params::linux();
        let mut vars = Pi2Vars::new(&params);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        vars.catch_up(&params, at(50), Some(at(10)), 1.0);
        let mut expected = 0.0;
        for (delay, last) in [(6, 0), (22, 6), (38, 22)] {
            let millis = Span::from_millis;
            expected = next_probability(&params, expected, millis(delay), millis(last));
        }
        assert!((vars.probability() - expected).abs() < 1e-15 && expected > 0.1);
        // A year of idleness costs no time.
        vars.catch_up(&params, at(1_000_000_000), None, 1.0);
        assert!(vars.probability() <= 0.0);
        vars.catch_up(&params, at(15_000_000_000), None, 1.0);
    }
}
