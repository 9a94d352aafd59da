//! Calibrated theory: published forms times corrections that were fitted to simulations.
//!
//! [`groups`] are the dimensionless inputs, [`forms()`] the published formulas that are
//! corrected, a [`Table`] has the corrections, [`Predicted`] utilisation, loss and delay with a range
//! of buffers, and [`Calibrated`] the smallest buffer that keeps the bounds, with its interval.

mod forms;
mod groups;
mod limits;
mod network;
mod npz;
mod predicted;
mod smallest;
mod table;

pub use forms::{IDLE_FLOOR, LOSS_FLOOR, forms, full_delay_s};
pub use groups::{COUNT, GROUPS, groups};
pub use limits::{COARSE, GRID_STEP, grid, limits};
pub use predicted::{FIGURES, Predicted, outside};
pub use smallest::{
    Calibrated, Figure, LIKELY, NINETY, calibrated, chances_kept, least_if, least_loss, most_busy,
    without,
};
pub use table::{Table, TableError};
