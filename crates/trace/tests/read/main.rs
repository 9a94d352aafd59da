//! Captures written by the formats' texts are read back, whole, cut and damaged.

mod captures;
mod files;
mod headers;
