//! Two endpoints over a small exact network.

mod any_network;
mod inet2011_bufferbloat;
mod ns2_single_flow;
mod ns3_loss;
mod one_recovery;
mod with_and_without_records;
