//! Links and queues in runs, compared with closed forms.

mod autorate;
mod delay_queues;
mod flow_control;
mod impairments;
mod metrics;
mod pure_delay;
mod queueing_theory;
mod shared_and_varying;
