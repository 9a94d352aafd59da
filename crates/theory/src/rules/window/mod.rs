//! Rules that follow from the course of TCP's congestion window.

pub mod bdp;
pub mod fluid;
pub mod sqrt_n;
pub mod window_decrease;
