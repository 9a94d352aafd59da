//! Measurements during a run, and the outcome that they fill.

pub mod delay_meter;
pub mod deliveries;
pub mod e_model;
pub mod fairness;
pub mod flow_class;
pub mod life;
pub mod link_meter;
pub mod loss_bursts;
pub mod outcome;
pub mod signals;
