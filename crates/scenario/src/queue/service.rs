//! Shapers and priorities in front of other disciplines.

use super::Keys;
use crate::error::Checked;
use crate::reader::Reader;
use crate::setting::{ReadFrom, Setting, Visitor};
use crate::spec::Kind;
use crate::units::LARGEST;
use goodqueue_queue::{Limit, PrioConfig, PrioMap, QueueConfig, TbfConfig, TbfPeak};
use goodqueue_types::Rate;

/// Reads `tbf`: what waits is said by one of `limit`, `latency` and `queue`.
pub(super) fn read_tbf(table: &Reader<'_>) -> Checked<TbfConfig> {
    let given = |key: &&&str| table.get(key).is_some();
    let ways: Vec<&&str> = ["limit", "latency", "queue"].iter().filter(given).collect();
    match ways[..] {
        [_] => {}
        [] => return Err(table.missing("limit")),
        [first, second, ..] => {
            let message = format!("\"{first}\" and \"{second}\" both say what may wait");
            return Err(table.problem(second, message, "keep one of the two"));
        }
    }
    let mut config = TbfConfig {
        rate: Rate(1),
        burst: 0,
        peak: read_peak(table)?,
        inner: Box::new(QueueConfig::drop_tail(Limit::Unlimited)),
    };
    let rate = table.require("rate")?.rate()?;
    // What waits, waits for tokens: its times and BDPs are those of the shaper's rate.
    let table = table.at_rate(rate);
    TbfConfig::visit(&mut ReadFrom(&table), &mut config)?;
    if let Some(limit) = table.get("limit") {
        config.inner = Box::new(QueueConfig::drop_tail(Limit::read(&limit)?));
    }
    if let Some(latency) = table.get("latency") {
        let limit = config.limit_of_latency(latency.span()?);
        if matches!(limit, Limit::Bytes(bytes) if bytes > LARGEST) {
            let message = "what the shaper passes in this time is more than a terabyte";
            return Err(latency.problem(message, "write a shorter time"));
        }
        config.inner = Box::new(QueueConfig::drop_tail(limit));
    }
    Ok(config)
}

fn read_peak(table: &Reader<'_>) -> Checked<Option<TbfPeak>> {
    match (table.get("peakrate"), table.get("mtu")) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(table.missing("peakrate")),
        (Some(_), None) => Err(table.missing("mtu")),
        (Some(rate), Some(mtu)) => Ok(Some(TbfPeak {
            rate: rate.rate()?,
            mtu: mtu.size()?,
        })),
    }
}

impl Keys for TbfConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            rate,
            burst,
            peak,
            inner,
        } = config;
        v.visit("rate", rate)?;
        v.visit("burst", burst)?;
        if let Some(TbfPeak { rate, mtu }) = peak {
            v.visit("peakrate", rate)?;
            v.visit("mtu", mtu)?;
        }
        v.visit("queue", inner)
    }
}

/// Reads `prio`: bands by `priomap` or by `dscp_map`.
pub(super) fn read_prio(table: &Reader<'_>) -> Checked<PrioConfig> {
    let mut config = PrioConfig {
        bands: Vec::new(),
        map: PrioMap::LINUX,
    };
    if table.get("dscp_map").is_some() {
        if table.get("priomap").is_some() {
            let message = "\"priomap\" and \"dscp_map\" both choose the band";
            return Err(table.problem("priomap", message, "keep one of the two"));
        }
        config.map = PrioMap::Dscp([0; 64]);
    }
    PrioConfig::visit(&mut ReadFrom(table), &mut config)?;
    Ok(config)
}

impl Keys for PrioConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { bands, map } = config;
        v.visit("bands", bands)?;
        match map {
            PrioMap::Tos(bands) => v.visit("priomap", bands),
            PrioMap::Dscp(bands) => v.visit("dscp_map", bands),
        }
    }
}

/// So many small numbers in order.
impl<const N: usize> Setting for [u8; N] {
    fn read(field: &crate::reader::Field<'_>) -> Checked<Self> {
        let mut numbers = [0; N];
        numbers.copy_from_slice(&field.numbers()?);
        Ok(numbers)
    }
    fn write(&self, _: Kind) -> String {
        format!("{self:?}")
    }
}
