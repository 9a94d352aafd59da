//! Disciplines that keep flows apart.

use super::Keys;
use crate::error::Checked;
use crate::setting::{Visitor, words};
use goodqueue_queue::{ComparedBacklog, DrrConfig, FqCodelConfig, SfqConfig};

words! {
    ComparedBacklog { "whole" = Whole, "own" = Own }
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
