//! The fast engine beside the reference engine, and properties that hold on random networks.

mod bottleneck;
mod conservation;
mod custom_control;
mod determinism;
mod engines_agree;
mod figures;
mod foreign;
mod goodput;
mod in_order;
