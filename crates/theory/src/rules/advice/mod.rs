//! Recommendations of vendors, operators and studies.

pub mod claims;
pub mod vendor;
