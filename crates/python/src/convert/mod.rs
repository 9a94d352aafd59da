//! Conversions that every part of the module uses: mistakes, tables of columns, values with units.

pub mod error;
pub mod exchange;
pub mod statistics;
pub mod table;
pub mod units;
