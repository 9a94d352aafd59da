//! Workloads and TCP in runs, compared with ns-2, with models and with the network.

mod fast_open;
mod ns2_transmissions;
mod recoveries;
mod reno_sawtooth;
mod responsiveness;
mod sessions;
mod short_flows;
mod streams;
mod voice;
