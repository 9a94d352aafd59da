//! Scenarios beside figures of others: published studies, ns-3 and Linux.

mod echo;
mod linux_kernel;
mod ns3_controls;
mod vegas;
