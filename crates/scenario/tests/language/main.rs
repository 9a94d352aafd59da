//! Scenario files: values, keys and mistakes, and what is written of them.

mod any_queue;
mod malformed;
mod properties;
mod python;
mod queues;
mod registry;
mod studies;
mod units;
