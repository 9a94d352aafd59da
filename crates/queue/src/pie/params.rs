//! What PIE can be told, and what is refused.

use crate::Refusal;
use goodqueue_types::{Span, Time};

/// Whose PIE, where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieFlavour {
    /// RFC 8033: updates from one period after the start; the burst allowance shrinks with each
    /// update and is renewed as soon as the delay is low and the probability zero; an idle queue's
    /// probability decays by 2 % an update; no drop with two mean packets waiting or fewer.
    Rfc8033,
    /// Linux `sch_pie`: the period is rounded up to ticks of 4 ms (250 Hz), the first update comes
    /// after 500 ms; the burst allowance shrinks with the time between departures; 1/64 of decay;
    /// two percent more a step above 250 ms; no drop with less than two MTUs waiting; a mark, too,
    /// empties the accumulated probability.
    Linux,
    /// ns-3's `PieQueueDisc`: updates from the start; no probability during a burst, and a new
    /// allowance only after 1.5 s of low delay; no drop with two packets waiting or fewer.
    Ns3,
}

/// What PIE can be told, apart from its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of tc or of ns-3"
)]
pub struct PieParams {
    /// The queueing delay to hold (`target`, `QDELAY_REF`). Default 15 ms.
    pub target: Span,
    /// Time between updates (`tupdate`, `T_UPDATE`). Default 15 ms.
    pub tupdate: Span,
    /// Gain on the distance to the target, per second (`alpha`; `tc` counts sixteenths: 2).
    /// Default 0.125.
    pub alpha: f64,
    /// Gain on the change of the delay, per second (`beta`; `tc` counts sixteenths: 20). Default
    /// 1.25.
    pub beta: f64,
    /// Whether ECN-capable packets are marked instead of dropped (`ecn`). Default no.
    pub ecn: bool,
    /// Above this probability even ECN-capable packets are dropped (RFC 8033 section 5.1,
    /// `mark_ecnth`). Default 0.1.
    pub ecn_threshold: f64,
    /// Whether small packets have proportionally smaller probabilities (`bytemode`). Default no.
    pub bytemode: bool,
    /// Whether the delay is the backlog over a measured departure rate (`dq_rate_estimator`) and
    /// not the sojourn time of the packet that left last. Default no.
    pub dq_rate_estimator: bool,
    /// Whether drops are spread out by an accumulated probability (RFC 8033 section 5.4). Always in
    /// Linux; ns-3's default is no.
    pub derandomize: bool,
    /// Whether a probability of 0.1 or more grows by at most 0.02 at once (RFC 8033 section 5.5).
    /// Default yes.
    pub cap_adjustment: bool,
    /// How long a queue that was not congested may burst (`MAX_BURST`). Default 150 ms.
    pub max_burst: Span,
    /// Frame bytes of a full packet; with less than two of them waiting nothing is dropped (1514 in
    /// Linux), and in `bytemode` the size that has the full probability.
    pub mtu: u64,
    /// Whose PIE in the rest.
    pub flavour: PieFlavour,
}

impl PieParams {
    /// As `tc qdisc add ... pie` without parameters.
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

    /// RFC 8033 with all its optional parts but ECN.
    pub const fn rfc8033() -> Self {
        Self {
            flavour: PieFlavour::Rfc8033,
            ..Self::linux()
        }
    }

    /// ns-3's `PieQueueDisc` without parameters.
    pub const fn ns3() -> Self {
        Self {
            derandomize: false,
            mtu: 1000,
            flavour: PieFlavour::Ns3,
            ..Self::linux()
        }
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// The parameter, why, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        refuse_gains(self.target, self.tupdate, self.alpha, self.beta)?;
        if !(0.0..=1.0).contains(&self.ecn_threshold) {
            return Err(Refusal::new(
                "ecn_threshold",
                format!("{} is no probability", self.ecn_threshold),
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

    /// Time between updates as the timers have it.
    pub fn period(&self) -> Span {
        const JIFFY: Span = Span::from_millis(4);
        match self.flavour {
            PieFlavour::Linux => JIFFY * self.tupdate.0.div_ceil(JIFFY.0),
            PieFlavour::Rfc8033 | PieFlavour::Ns3 => self.tupdate,
        }
    }

    /// When the first update comes after the queue was made.
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
/// The parameter, why, and what to write instead.
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
