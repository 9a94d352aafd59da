//! Captures that are built from the format specifications are read back whole, cut and damaged.

mod captures;
mod encapsulations;
mod files;
mod headers;
mod same_packets;
