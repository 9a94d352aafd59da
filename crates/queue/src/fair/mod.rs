//! Disciplines with a queue for each flow or band, and the parts that they share.

pub mod cake;
pub mod drr;
pub mod flows;
pub mod fpq;
pub mod fq_codel;
pub mod fq_pie;
pub mod pool;
pub mod prio;
pub mod sfq;
