//! The controller of PI2 (De Schepper et al., "PI2: A Linearized AQM for both Classic and Scalable
//! TCP", 2016; RFC 9332 appendix A). Its probability is squared for classic traffic, so its gains
//! need no tuning table.

use crate::Refusal;
use crate::aqm::pie::{Updates, refuse_gains};
use crate::keys::{ALPHA, BETA, DELAY_TARGET, FULL_FRAME, TUPDATE};
use goodqueue_types::parameters::Tc;
use goodqueue_types::{RandomStream, Span, Time, parameters};

/// `tc` counts the gains of `dualpi2` in 256ths.
const PARTS: f64 = 256.0;

parameters! {
    /// Parameters of the controller. The defaults are those of Linux `dualpi2`: RFC 9332's gains for
    /// round trips of up to 100 ms, rounded to 1/256.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pi2Params("pi2 controller") {
        target: Span = Span::from_millis(15) => DELAY_TARGET;
        tupdate: Span = Span::from_millis(16) => TUPDATE;
        alpha: f64 = 41.0 / PARTS => ALPHA.in_tc(Tc::Rounded("alpha", PARTS));
        beta: f64 = 819.0 / PARTS => BETA.in_tc(Tc::Rounded("beta", PARTS));
        mtu: u64 = 1514 => FULL_FRAME;
    }
}

impl Pi2Params {
    /// Returns the parameters of Linux `dualpi2`.
    pub fn linux() -> Self {
        Self::default()
    }

    /// Checks that the controller can work.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        refuse_gains(self.target, self.tupdate, self.alpha, self.beta)
    }
}

/// State of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Pi2Vars {
    /// Base probability, p' of RFC 9332. Classic traffic is hit with p'², scalable traffic with k ·
    /// p'.
    prob: f64,
    last_delay: Span,
    updates: Updates,
}

impl Pi2Vars {
    /// Returns the state of an empty queue.
    pub fn new(params: &Pi2Params) -> Self {
        Self {
            prob: 0.0,
            last_delay: Span::ZERO,
            updates: Updates::new(Time::ZERO + params.tupdate, params.tupdate),
        }
    }

    /// Returns the state of an empty queue with a given base probability.
    #[cfg(test)]
    pub fn with_probability(params: &Pi2Params, prob: f64) -> Self {
        Self {
            prob,
            ..Self::new(params)
        }
    }

    /// Returns the base probability p'.
    pub fn probability(&self) -> f64 {
        self.prob
    }

    /// Makes the updates that are due. `oldest` is the arrival of the packet that has waited
    /// longest, and `bound` limits the probability.
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

    /// Returns `p_CL` of RFC 9332, k · p': the probability of a mark of a scalable packet.
    pub fn scalable_probability(&self, coupling: f64) -> f64 {
        (self.prob * coupling).min(1.0)
    }

    /// Returns true if a classic packet is hit, by two draws as in RFC 9332 appendix A.1.
    pub fn hits_classic(&self, random: &mut RandomStream) -> bool {
        random.unit() < self.prob && random.unit() < self.prob
    }

    /// Returns true if a scalable packet is hit, with probability k · p'.
    pub fn hits_scalable(&self, random: &mut RandomStream, coupling: f64) -> bool {
        random.unit() < self.scalable_probability(coupling)
    }

    /// Returns true if the probability exceeds that which marks every scalable packet.
    pub fn is_overloaded(&self, coupling: f64) -> bool {
        self.prob * coupling > 1.0
    }
}

/// Returns the probability after a proportional-integral step (RFC 9332 appendix A.1, figure 6).
#[must_use]
fn next_probability(params: &Pi2Params, prob: f64, delay: Span, last_delay: Span) -> f64 {
    let (delay, last) = (delay.as_secs_f64(), last_delay.as_secs_f64());
    let step = params.alpha * (delay - params.target.as_secs_f64()) + params.beta * (delay - last);
    (prob + step).clamp(0.0, 1.0)
}

/// Refuses a coupling factor outside 1 to 255.
///
/// # Errors
/// Returns a [`Refusal`] if the factor is out of range.
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
        Pi2Vars::with_probability(&Pi2Params::linux(), prob)
    }

    #[test]
    fn the_coupling_is_that_of_rfc_9332() {
        // p' = 0.1 and k = 2 give p_CL = 0.2 and p_C = 0.01, so that p_C = (p_CL / k)^2.
        let vars = with(0.1);
        assert!((vars.scalable_probability(2.0) - 0.2).abs() < 1e-15);
        let mut random = RandomStream::new(1, "test", 0);
        let n = 1_000_000;
        let mut share = |hits: &mut dyn FnMut(&mut RandomStream) -> bool| {
            f64::from((0..n).map(|_| u32::from(hits(&mut random))).sum::<u32>()) / f64::from(n)
        };
        // The tolerances are four standard deviations.
        assert!((share(&mut |random| vars.hits_scalable(random, 2.0)) - 0.2).abs() < 0.0016);
        assert!((share(&mut |random| vars.hits_classic(random)) - 0.01).abs() < 0.0004);
        assert!(!with(0.5).is_overloaded(2.0) && with(0.51).is_overloaded(2.0));
        assert!((with(0.9).scalable_probability(2.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn updates_are_proportional_and_integral() {
        // RFC 9332 appendix A.1 by hand: gains of 0.16015625 and 3.19921875 per second, for a delay
        // 20 ms over the target at once, then 5 ms more.
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
        // A packet that arrived at 10 ms has waited 6, 22 and 38 ms at the updates before 50 ms.
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
        // Long idle times are skipped without a loop over their updates.
        vars.catch_up(&params, at(1_000_000_000), None, 1.0);
        assert!(vars.probability() <= 0.0);
        vars.catch_up(&params, at(15_000_000_000), None, 1.0);
    }
}
