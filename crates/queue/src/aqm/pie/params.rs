//! Parameters of PIE and their checks.

use crate::Refusal;
use crate::keys::{ALPHA, BETA, DELAY_TARGET, ECN, FULL_FRAME, TUPDATE};
use goodqueue_types::parameters::{DELAY, Given, Key, Parameter, Tc, flag, fraction, words};
use goodqueue_types::{Span, Time, parameters, words};

words! {
    /// Implementation of PIE that is followed where the implementations differ.
    pub enum PieFlavour {
        /// Linux `sch_pie`. The period is rounded up to ticks of 4 ms (250 Hz), and the first update
        /// comes after 500 ms. The burst allowance shrinks with the time between departures. The
        /// probability of an idle queue decays by 1/64 per update. Above a delay of 250 ms each
        /// update adds 2 %. Nothing is dropped while less than two MTUs wait. A mark also resets the
        /// accumulated probability.
        Linux = "linux",
        /// RFC 8033. The first update comes one period after the start. The burst allowance shrinks
        /// with each update and is renewed as soon as the delay is low and the probability zero. The
        /// probability of an idle queue decays by 2 % per update. Nothing is dropped while two mean
        /// packets or fewer wait.
        Rfc8033 = "rfc8033",
        /// ns-3's `PieQueueDisc`. Updates begin at the start. The probability is zero during a
        /// burst, and a new allowance is given only after 1.5 s of low delay. Nothing is dropped
        /// while two packets or fewer wait.
        Ns3 = "ns3",
    }
}

/// `tc` counts PIE's gains in sixteenths.
const SIXTEENTHS: f64 = 16.0;

parameters! {
    /// Parameters of PIE except its limit. The defaults are those of `tc qdisc add ... pie`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieParams("pie controller") {
        target: Span = Span::from_millis(15) => DELAY_TARGET;
        tupdate: Span = Span::from_millis(15) => TUPDATE;
        alpha: f64 = 0.125 => ALPHA.in_tc(Tc::Parts("alpha", SIXTEENTHS));
        beta: f64 = 1.25 => BETA.in_tc(Tc::Parts("beta", SIXTEENTHS));
        ecn: bool = false => ECN;
        /// Probability above which even ECN-capable packets are dropped.
        ///
        /// RFC 8033 section 5.1, `mark_ecnth`.
        ecn_threshold: f64 = 0.1 => fraction().example("1").in_tc(Tc::Fixed("it is 10 %"));
        /// Small packets have proportionally smaller probabilities.
        bytemode: bool = false => flag().tc("bytemode").example("true");
        /// The delay is the backlog over a measured departure rate, not the sojourn time of the last
        /// packet.
        dq_rate_estimator: bool = false => flag()
            .in_tc(Tc::Flag("dq_rate_estimator", "no_dq_rate_estimator"))
            .example("true");
        /// Spread drops out by an accumulated probability (RFC 8033 section 5.4).
        derandomize: bool = true
            => flag().example("false").in_tc(Tc::Fixed("drops are always spread out"));
        /// A probability of 0.1 or more grows by at most 0.02 at once (RFC 8033 section 5.5).
        cap_adjustment: bool = true
            => flag().example("false").in_tc(Tc::Fixed("the probability always grows slowly"));
        /// Time for which a queue that was not congested may burst.
        max_burst: Span = Span::from_millis(150)
            => Key::new(DELAY).example("150ms").in_tc(Tc::Fixed("it is 150 ms"));
        /// In `bytemode` a packet of this size has the full probability.
        mtu: u64 = 1514 => FULL_FRAME;
        /// Implementation that sets the defaults of the other keys, and the behaviour for which no
        /// key exists.
        flavour: PieFlavour = PieFlavour::Linux => words::<PieFlavour>().example("rfc8033");
    }
}

impl PieParams {
    /// Returns the parameters of `tc qdisc add ... pie` without parameters.
    pub fn linux() -> Self {
        Self::default()
    }

    /// Returns the defaults of the flavour that a table names.
    pub(crate) fn of_flavour(given: &Given) -> Self {
        match given.get("flavour").cloned().map(PieFlavour::from_value) {
            Some(PieFlavour::Rfc8033) => Self::rfc8033(),
            Some(PieFlavour::Ns3) => Self::ns3(),
            Some(PieFlavour::Linux) | None => Self::linux(),
        }
    }

    /// Returns the parameters of RFC 8033 with all its optional parts except ECN.
    pub fn rfc8033() -> Self {
        Self {
            flavour: PieFlavour::Rfc8033,
            ..Self::linux()
        }
    }

    /// Returns the parameters of ns-3's `PieQueueDisc` with its defaults.
    pub fn ns3() -> Self {
        Self {
            derandomize: false,
            mtu: 1000,
            flavour: PieFlavour::Ns3,
            ..Self::linux()
        }
    }

    /// Checks that the parameters can work together.
    ///
    /// # Errors
    /// Returns the parameter at fault, the reason, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        refuse_gains(self.target, self.tupdate, self.alpha, self.beta)?;
        if !(0.0..=1.0).contains(&self.ecn_threshold) {
            return Err(Refusal::new(
                "ecn_threshold",
                format!("{} is not a probability", self.ecn_threshold),
                "write a probability from 0 to 1, as in ecn_threshold = 0.1",
            ));
        }
        if self.mtu == 0 {
            return Err(Refusal::new(
                "mtu",
                "a packet of no bytes",
                "write the bytes of a full frame, as in mtu = \"1514B\"",
            ));
        }
        Ok(())
    }

    /// Returns the time between updates. Linux rounds `tupdate` up to its ticks.
    pub fn period(&self) -> Span {
        const JIFFY: Span = Span::from_millis(4);
        match self.flavour {
            PieFlavour::Linux => JIFFY * self.tupdate.0.div_ceil(JIFFY.0),
            PieFlavour::Rfc8033 | PieFlavour::Ns3 => self.tupdate,
        }
    }

    /// Returns the time of the first update after the queue was created.
    pub fn first_update(&self) -> Time {
        match self.flavour {
            PieFlavour::Linux => Time::ZERO + Span::from_millis(500),
            PieFlavour::Rfc8033 => Time::ZERO + self.tupdate,
            PieFlavour::Ns3 => Time::ZERO,
        }
    }
}

/// Refuses a proportional-integral controller that cannot work.
///
/// # Errors
/// Returns the parameter at fault, the reason, and what to write instead.
pub fn refuse_gains(target: Span, tupdate: Span, alpha: f64, beta: f64) -> Result<(), Refusal> {
    for (key, span) in [("target", target), ("tupdate", tupdate)] {
        if span < Span::from_micros(1) || span > Span::from_secs(100) {
            return Err(Refusal::new(
                key,
                format!("{key} must lie between 1 us and 100 s"),
                format!("write a duration of some milliseconds, as in {key} = \"15ms\""),
            ));
        }
    }
    for (key, gain, usual) in [("alpha", alpha, "0.125"), ("beta", beta, "1.25")] {
        if !(gain.is_finite() && gain > 0.0 && gain <= 1e6) {
            return Err(Refusal::new(
                key,
                format!("a gain of {gain}: without a positive one the controller does not act"),
                format!("write a gain per second, as in {key} = {usual}"),
            ));
        }
    }
    Ok(())
}
