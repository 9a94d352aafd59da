//! Parameters of PIE and their checks.

use crate::Refusal;
use goodqueue_types::{Span, Time};

/// Implementation of PIE that is followed where the implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieFlavour {
    /// RFC 8033. The first update comes one period after the start. The burst allowance shrinks
    /// with each update and is renewed as soon as the delay is low and the probability zero. The
    /// probability of an idle queue decays by 2 % per update. Nothing is dropped while two mean
    /// packets or fewer wait.
    Rfc8033,
    /// Linux `sch_pie`. The period is rounded up to ticks of 4 ms (250 Hz), and the first update
    /// comes after 500 ms. The burst allowance shrinks with the time between departures. The
    /// probability of an idle queue decays by 1/64 per update. Above a delay of 250 ms each update
    /// adds 2 %. Nothing is dropped while less than two MTUs wait. A mark also resets the
    /// accumulated probability.
    Linux,
    /// ns-3's `PieQueueDisc`. Updates begin at the start. The probability is zero during a burst,
    /// and a new allowance is given only after 1.5 s of low delay. Nothing is dropped while two
    /// packets or fewer wait.
    Ns3,
}

/// Parameters of PIE except its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of tc or of ns-3"
)]
pub struct PieParams {
    /// Queueing delay at which the controller holds the queue (`target`, `QDELAY_REF`). Default 15
    /// ms.
    pub target: Span,
    /// Time between updates (`tupdate`, `T_UPDATE`). Default 15 ms.
    pub tupdate: Span,
    /// Gain on the difference to the target, per second (`alpha`; `tc` counts sixteenths: 2).
    /// Default 0.125.
    pub alpha: f64,
    /// Gain on the change of the delay, per second (`beta`; `tc` counts sixteenths: 20). Default
    /// 1.25.
    pub beta: f64,
    /// True if ECN-capable packets are marked instead of dropped (`ecn`). Default false.
    pub ecn: bool,
    /// Probability above which even ECN-capable packets are dropped (RFC 8033 section 5.1,
    /// `mark_ecnth`). Default 0.1.
    pub ecn_threshold: f64,
    /// True if small packets have proportionally smaller probabilities (`bytemode`). Default false.
    pub bytemode: bool,
    /// True if the queueing delay is computed as the backlog divided by a measured departure rate
    /// (`dq_rate_estimator`), false if it is the sojourn time of the last packet that left. Default
    /// false.
    pub dq_rate_estimator: bool,
    /// True if an accumulated probability spreads the drops out (RFC 8033 section 5.4). Always true
    /// in Linux; ns-3's default is false.
    pub derandomize: bool,
    /// True if a probability of 0.1 or more grows by at most 0.02 per update (RFC 8033 section
    /// 5.5). Default true.
    pub cap_adjustment: bool,
    /// Time for which a queue without congestion may burst (`MAX_BURST`). Default 150 ms.
    pub max_burst: Span,
    /// Frame bytes of a full packet (1514 in Linux). Nothing is dropped while less than two of them
    /// wait. In `bytemode` a packet of this size has the full probability.
    pub mtu: u64,
    /// Implementation that is followed in all other respects.
    pub flavour: PieFlavour,
}

impl PieParams {
    /// Returns the parameters of `tc qdisc add ... pie` without parameters.
    pub const fn linux() -> Self {
        Self {
            target: Span::from_millis(15),
            tupdate: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            ecn_threshold: 0.1,
            bytemode: false,
            dq_rate_estimator: false,
            derandomize: true,
            cap_adjustment: true,
            max_burst: Span::from_millis(150),
            mtu: 1514,
            flavour: PieFlavour::Linux,
        }
    }

    /// Returns the parameters of RFC 8033 with all its optional parts except ECN.
    pub const fn rfc8033() -> Self {
        Self {
            flavour: PieFlavour::Rfc8033,
            ..Self::linux()
        }
    }

    /// Returns the parameters of ns-3's `PieQueueDisc` with its defaults.
    pub const fn ns3() -> Self {
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
