//! The language of scenario files: the tree of values, typed reading of tables, units, errors, and
//! the keys with their schema. It knows nothing of networks.

pub mod bounds;
pub mod document;
pub mod error;
pub mod field;
pub mod file;
pub mod plain;
pub mod python;
pub mod queue;
pub mod reader;
pub mod reference;
pub mod schema;
pub mod spec;
pub mod text;
pub mod trace;
pub mod units;
pub mod value;
