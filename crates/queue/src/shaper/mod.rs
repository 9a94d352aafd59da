//! Token buckets, which hold packets back to a rate.

pub mod bucket;
pub mod tbf;
