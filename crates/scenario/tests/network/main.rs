//! Networks that scenario files describe: links, shapes, workloads, and what limits their flows.

mod hybrid;
mod interfaces;
mod labels;
mod links;
mod loads;
mod marking;
mod pure_delay;
mod scenarios;
mod topologies;
