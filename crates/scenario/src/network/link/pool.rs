//! `[[topology.pool]]`: buffers that several links share.

use crate::language::error::{Checked, nearest, shorten};
use crate::language::reader::Reader;
use crate::language::text::plain;
use crate::language::units::format_size;
use crate::language::value;
use goodqueue_queue::{BufferPool, Sharing};
use goodqueue_sim::PoolConfig;
use goodqueue_types::parameters::Parameter;
use std::fmt::Write;

/// Reads all pools of a topology.
pub(crate) fn read(topology: &Reader<'_>) -> Checked<Vec<PoolConfig>> {
    let Some(field) = topology.get("pool") else {
        return Ok(Vec::new());
    };
    let mut pools: Vec<PoolConfig> = Vec::new();
    for table in field.tables()? {
        let pool = read_pool(&table)?;
        if pools.iter().any(|other| other.name == pool.name) {
            let message = format!("two shared buffers are called \"{}\"", pool.name);
            return Err(table.problem("name", message, "give each its own name"));
        }
        pools.push(pool);
    }
    Ok(pools)
}

fn read_pool(table: &Reader<'_>) -> Checked<PoolConfig> {
    let pool = PoolConfig::from_value(value::read_table(None, table, "")?);
    let unused = |key| {
        let policy = table.choice("policy")?.unwrap_or("dynamic");
        let message = format!("\"{key}\" has no meaning for a {policy} policy");
        Err(table.problem(key, message, "leave it out, or choose another policy"))
    };
    let is_dynamic = matches!(table.choice("policy")?, None | Some("dynamic"));
    if !is_dynamic && table.get("alpha").is_some() {
        return unused("alpha");
    }
    if pool.sharing == Sharing::Static && table.get("headroom").is_some() {
        return unused("headroom");
    }
    Ok(pool)
}

/// Reads the pool that a link uses.
pub(crate) fn of_link(link: &Reader<'_>, pools: &[PoolConfig]) -> Checked<Option<u32>> {
    let Some(field) = link.get("pool") else {
        return Ok(None);
    };
    let name = field.name()?;
    let found = pools.iter().position(|pool| pool.name == name);
    found.map(|index| Some(index as u32)).ok_or_else(|| {
        let names = pools.iter().map(|pool| pool.name.as_str());
        let help = match nearest(&name, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "add a [[topology.pool]] of this name".to_owned(),
        };
        let message = format!("there is no shared buffer \"{}\"", shorten(&name));
        field.problem(message, help)
    })
}

/// Users of a shared buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// Number of links.
    pub links: u64,
    /// Largest frame of these links, in bytes.
    pub frame_bytes: u64,
}

/// Refuses headroom that the buffers do not have, and buffers that never admit a frame.
pub(crate) fn check(topology: &Reader<'_>, pools: &[PoolConfig], uses: &[Use]) -> Checked<()> {
    let Some(field) = topology.get("pool") else {
        return Ok(());
    };
    for ((table, pool), Use { links, frame_bytes }) in field.tables()?.iter().zip(pools).zip(uses) {
        let needed = u128::from(*links) * u128::from(pool.headroom);
        if needed > u128::from(pool.capacity) {
            let message =
                format!("the headroom of all links (number: {links}) takes {needed} bytes");
            return Err(table.problem("headroom", message, "write less, or more capacity"));
        }
        let PoolConfig {
            capacity,
            sharing,
            headroom,
            cell,
            gap,
            ..
        } = *pool;
        let mut empty =
            BufferPool::shared(capacity, *links as usize, sharing, headroom).in_cells(cell, gap);
        if *links > 0 && !empty.account(0).reserve(*frame_bytes) {
            let message =
                format!("even when it is empty no frame of {frame_bytes} bytes is admitted");
            let help = "write more capacity, or for dynamic thresholds a larger alpha or headroom";
            return Err(table.problem("capacity", message, help));
        }
    }
    Ok(())
}

/// Writes a `[[topology.pool]]` that reads back the same.
pub(crate) fn write(out: &mut String, pool: &PoolConfig) {
    let capacity = plain(format_size(pool.capacity));
    let _ = writeln!(
        out,
        "\n[[topology.pool]]\nname = \"{}\"\ncapacity = {capacity}",
        pool.name
    );
    let _ = match pool.sharing {
        Sharing::Static => writeln!(out, "policy = \"static\""),
        Sharing::Complete => writeln!(out, "policy = \"complete\""),
        Sharing::Dynamic { alpha } => writeln!(out, "policy = \"dynamic\"\nalpha = {alpha:?}"),
    };
    if pool.sharing != Sharing::Static {
        let _ = writeln!(out, "headroom = {}", plain(format_size(pool.headroom)));
    }
    for (key, bytes, usual) in [("cell", pool.cell, 1), ("gap", pool.gap, 0)] {
        if bytes != usual {
            let _ = writeln!(out, "{key} = {}", plain(format_size(bytes)));
        }
    }
}
