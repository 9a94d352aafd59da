//! A hierarchy of classes that share a rate and lend each other what they do not need (Linux `htb`).

mod bucket;
mod layout;
mod params;
mod ring;
mod tree;
mod waiting;

#[cfg(test)]
mod tests;

pub use params::{HtbClass, HtbConfig};
pub use tree::Htb;
