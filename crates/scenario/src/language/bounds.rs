//! Bounds on what a small file can make a reader keep.

use crate::language::document::{Node, Value};
use crate::language::spec::MAX_FLOWS;

/// Most links of all routes together: those of different routes, and those of all flows' routes.
pub(crate) const MAX_HOPS: u64 = 5_000_000;
pub(crate) const MAX_HOPS_OF_FLOWS: u64 = 100_000_000;
/// Most values of the tables of all links that a shape draws from one table.
pub(crate) const MAX_DRAWN: u64 = 1_000_000;

/// Bounds on reading a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBounds {
    /// Most flows.
    pub flows: u64,
    /// Most bytes of all files that the scenario names; a file counts as often as it is named.
    pub file_bytes: u64,
}

impl Default for ReadBounds {
    /// Returns the bounds of the file format.
    fn default() -> Self {
        Self {
            flows: MAX_FLOWS,
            file_bytes: 128 << 20,
        }
    }
}

/// Returns the number of values of a table, including those of tables and lists in it.
pub(crate) fn values(node: &Node) -> u64 {
    1 + match &node.value {
        Value::List(items) => items.iter().map(values).sum(),
        Value::Table(table) => table.entries.iter().map(|entry| values(&entry.node)).sum(),
        _ => 0,
    }
}
