//! Disciplines that hold a delay.

use super::Keys;
use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::setting::{ReadFrom, Setting, Visitor, words};
use crate::spec::Kind;
use goodqueue_queue::{
    CodelArithmetic, CodelConfig, CodelParams, CountReuse, DualPi2Config, DualScheduler, Limit,
    NextMark, Pi2Config, Pi2Params, PieConfig, PieFlavour, PieParams, StepConfig, StepThreshold,
};
use goodqueue_types::Span;

words! {
    CodelArithmetic { "linux" = Linux, "exact" = Exact }
    CountReuse { "delta" = Delta, "minus_two" = MinusTwo, "never" = Never }
    NextMark { "from_due" = FromDue, "from_now" = FromNow }
    PieFlavour { "linux" = Linux, "rfc8033" = Rfc8033, "ns3" = Ns3 }
}

impl Keys for CodelParams {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            target,
            interval,
            ecn,
            ce_threshold,
            mtu,
            arithmetic,
            reuse,
            next_mark,
        } = config;
        v.visit("target", target)?;
        v.visit("interval", interval)?;
        v.visit("ecn", ecn)?;
        v.visit("ce_threshold", ce_threshold)?;
        v.visit("mtu", mtu)?;
        v.visit("arithmetic", arithmetic)?;
        v.visit("count_reuse", reuse)?;
        v.visit("next_mark", next_mark)
    }
}

impl Keys for CodelConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { limit, codel } = config;
        v.visit("limit", limit)?;
        Keys::visit(v, codel)
    }
}

impl Keys for PieParams {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            target,
            tupdate,
            alpha,
            beta,
            ecn,
            ecn_threshold,
            bytemode,
            dq_rate_estimator,
            derandomize,
            cap_adjustment,
            max_burst,
            mtu,
            flavour,
        } = config;
        v.visit("target", target)?;
        v.visit("tupdate", tupdate)?;
        v.visit("alpha", alpha)?;
        v.visit("beta", beta)?;
        v.visit("ecn", ecn)?;
        v.visit("ecn_threshold", ecn_threshold)?;
        v.visit("bytemode", bytemode)?;
        v.visit("dq_rate_estimator", dq_rate_estimator)?;
        v.visit("derandomize", derandomize)?;
        v.visit("cap_adjustment", cap_adjustment)?;
        v.visit("max_burst", max_burst)?;
        v.visit("mtu", mtu)?;
        v.visit("flavour", flavour)
    }
}

/// The parameters of the flavour that the table names, before its other keys change them.
pub(super) fn pie_params(table: &Reader<'_>) -> Checked<PieParams> {
    let flavour = table.get("flavour");
    let flavour = flavour.map(|field| PieFlavour::read(&field)).transpose()?;
    Ok(match flavour {
        Some(PieFlavour::Rfc8033) => PieParams::rfc8033(),
        Some(PieFlavour::Ns3) => PieParams::ns3(),
        _ => PieParams::linux(),
    })
}

/// Reads `pie`.
pub(super) fn read_pie(table: &Reader<'_>) -> Checked<PieConfig> {
    let mut config = PieConfig {
        limit: Limit::Packets(1_000),
        pie: pie_params(table)?,
    };
    PieConfig::visit(&mut ReadFrom(table), &mut config)?;
    Ok(config)
}

impl Keys for PieConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { limit, pie } = config;
        v.visit("limit", limit)?;
        Keys::visit(v, pie)
    }
}

impl Keys for Pi2Params {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            target,
            tupdate,
            alpha,
            beta,
            mtu,
        } = config;
        v.visit("target", target)?;
        v.visit("tupdate", tupdate)?;
        v.visit("alpha", alpha)?;
        v.visit("beta", beta)?;
        v.visit("mtu", mtu)
    }
}

impl Keys for Pi2Config {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            pi2,
            ecn,
            coupling,
        } = config;
        v.visit("limit", limit)?;
        Keys::visit(v, pi2)?;
        v.visit("ecn", ecn)?;
        v.visit("coupling_factor", coupling)
    }
}

/// Reads `dualpi2`: its queues share the link by `classic_protection` or by `time_shift`.
pub(super) fn read_dualpi2(table: &Reader<'_>) -> Checked<DualPi2Config> {
    let mut config = DualPi2Config::linux(Limit::Packets(10_000));
    if table.get("time_shift").is_some() {
        if table.get("classic_protection").is_some() {
            let message = "\"classic_protection\" and \"time_shift\" both share out the link";
            return Err(table.problem("time_shift", message, "keep one of the two"));
        }
        config.scheduler = DualScheduler::TimeShifted { shift: Span::ZERO };
    }
    DualPi2Config::visit(&mut ReadFrom(table), &mut config)?;
    Ok(config)
}

impl Keys for DualPi2Config {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            pi2,
            step,
            least_backlog,
            coupling,
            drop_overload,
            drop_early,
            scheduler,
        } = config;
        v.visit("limit", limit)?;
        Keys::visit(v, pi2)?;
        v.visit("step_thresh", step)?;
        v.visit("min_qlen_step", least_backlog)?;
        v.visit("coupling_factor", coupling)?;
        v.visit("drop_on_overload", drop_overload)?;
        v.visit("drop_enqueue", drop_early)?;
        match scheduler {
            DualScheduler::Weighted { classic_percent } => {
                v.visit("classic_protection", classic_percent)
            }
            DualScheduler::TimeShifted { shift } => v.visit("time_shift", shift),
        }
    }
}

impl Setting for StepThreshold {
    fn read(field: &Field<'_>) -> Checked<Self> {
        match field.as_text() {
            Some(text) if text.ends_with('p') => field.packets().map(Self::Packets),
            _ => field.span().map(Self::Delay),
        }
    }
    fn write(&self, kind: Kind) -> String {
        match self {
            Self::Packets(packets) => format!("\"{packets}p\""),
            Self::Delay(span) => span.write(kind),
        }
    }
}

impl Keys for StepConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { limit, threshold } = config;
        v.visit("limit", limit)?;
        v.visit("threshold", threshold)
    }
}
