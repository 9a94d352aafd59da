//! Token buckets, which hold packets back to a rate, or drop what exceeds it.

pub mod bucket;
pub mod htb;
pub mod policer;
pub mod tbf;
