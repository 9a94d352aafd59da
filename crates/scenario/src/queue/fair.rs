//! Disciplines that keep flows apart.

use super::{Keys, delay};
use crate::error::Checked;
use crate::reader::Reader;
use crate::setting::{ReadFrom, Visitor, words};
use goodqueue_queue::{
    CakeConfig, CakeDiffserv, CakeFirstInterval, CakeIsolation, ComparedBacklog, DrrConfig,
    FqCodelConfig, FqPieConfig, Limit, SfqConfig,
};
use goodqueue_types::{Cells, Framing};

words! {
    ComparedBacklog { "whole" = Whole, "own" = Own }
    CakeDiffserv {
        "besteffort" = BestEffort,
        "precedence" = Precedence,
        "diffserv3" = Diffserv3,
        "diffserv4" = Diffserv4,
        "diffserv8" = Diffserv8,
    }
    CakeIsolation {
        "flowblind" = FlowBlind,
        "srchost" = SrcHost,
        "dsthost" = DstHost,
        "hosts" = Hosts,
        "flows" = Flows,
        "dual-srchost" = DualSrcHost,
        "dual-dsthost" = DualDstHost,
        "triple-isolate" = TripleIsolate,
    }
    CakeFirstInterval { "none" = None, "whole" = Whole }
    CakeCells { "noatm" = None, "atm" = Atm, "ptm" = Ptm }
}

/// Kernel memory; the largest number is no limit.
fn visit_memory(v: &mut impl Visitor, bytes: &mut u64) -> Checked<()> {
    let mut limit = (*bytes < u64::MAX).then_some(*bytes);
    v.visit("memory_limit", &mut limit)?;
    *bytes = limit.unwrap_or(u64::MAX);
    Ok(())
}

impl Keys for DrrConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            quantum,
            flows,
            headdrop,
        } = config;
        v.visit("limit", limit)?;
        v.visit("quantum", quantum)?;
        v.visit("flows", flows)?;
        v.visit("headdrop", headdrop)
    }
}

impl Keys for SfqConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            quantum,
            divisor,
            flows,
            depth,
            headdrop,
            perturb,
        } = config;
        v.visit("limit", limit)?;
        v.visit("quantum", quantum)?;
        v.visit("divisor", divisor)?;
        v.visit("flows", flows)?;
        v.visit("depth", depth)?;
        v.visit("headdrop", headdrop)?;
        v.visit("perturb", perturb)
    }
}

impl Keys for FqCodelConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            flows,
            quantum,
            drop_batch,
            memory_limit,
            codel,
            compared_backlog,
            set_ways,
        } = config;
        v.visit("limit", limit)?;
        v.visit("flows", flows)?;
        v.visit("quantum", quantum)?;
        v.visit("drop_batch", drop_batch)?;
        visit_memory(v, memory_limit)?;
        Keys::visit(v, codel)?;
        v.visit("compared_backlog", compared_backlog)?;
        v.visit("set_ways", set_ways)
    }
}

/// Reads `fq_pie`.
pub(super) fn read_fq_pie(table: &Reader<'_>) -> Checked<FqPieConfig> {
    let mut config = FqPieConfig {
        pie: delay::pie_params(table)?,
        ..FqPieConfig::linux(Limit::Packets(10_240))
    };
    FqPieConfig::visit(&mut ReadFrom(table), &mut config)?;
    Ok(config)
}

impl Keys for FqPieConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            flows,
            quantum,
            pie,
        } = config;
        v.visit("limit", limit)?;
        v.visit("flows", flows)?;
        v.visit("quantum", quantum)?;
        Keys::visit(v, pie)
    }
}

/// Cells by the words of `cake`.
#[derive(Clone, Copy)]
pub(crate) enum CakeCells {
    None,
    Atm,
    Ptm,
}

impl From<Cells> for CakeCells {
    fn from(cells: Cells) -> Self {
        match cells {
            Cells::None => Self::None,
            Cells::Atm => Self::Atm,
            Cells::Ptm => Self::Ptm,
        }
    }
}

impl From<CakeCells> for Cells {
    fn from(atm: CakeCells) -> Self {
        match atm {
            CakeCells::None => Self::None,
            CakeCells::Atm => Self::Atm,
            CakeCells::Ptm => Self::Ptm,
        }
    }
}

/// Reads `cake`; it counts the link's own framing unless it is told another.
pub(super) fn read_cake(table: &Reader<'_>) -> Checked<CakeConfig> {
    let mut config = CakeConfig::linux(None);
    let own = ["overhead", "mpu", "atm"];
    if own.iter().any(|key| table.get(key).is_some()) {
        config.framing = Some(Framing::default());
    }
    CakeConfig::visit(&mut ReadFrom(table), &mut config)?;
    Ok(config)
}

impl Keys for CakeConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            bandwidth,
            diffserv,
            isolation,
            rtt,
            framing,
            memory_limit,
            limit,
            ingress,
            mtu,
            first_interval,
        } = config;
        v.visit("bandwidth", bandwidth)?;
        v.visit("diffserv", diffserv)?;
        v.visit("isolation", isolation)?;
        v.visit("rtt", rtt)?;
        if let Some(Framing {
            overhead,
            minimum,
            cells,
        }) = framing
        {
            v.visit("overhead", overhead)?;
            v.visit("mpu", minimum)?;
            let mut atm = CakeCells::from(*cells);
            v.visit("atm", &mut atm)?;
            *cells = atm.into();
        }
        v.visit("memory_limit", memory_limit)?;
        v.visit("limit", limit)?;
        v.visit("ingress", ingress)?;
        v.visit("mtu", mtu)?;
        v.visit("first_interval", first_interval)
    }
}
