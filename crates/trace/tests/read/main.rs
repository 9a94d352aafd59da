//! Captures that are built from the format specifications are read back whole, cut and damaged.

mod captures;
mod files;
mod headers;
