//! The response to a loss or a mark: the states of recovery, the pace at which the window falls
//! (PRR), and the undoing of a reduction that was spurious.

pub(crate) mod accounting;
pub(crate) mod due;
pub(crate) mod episode;
pub(crate) mod phase;
pub(crate) mod prr;
pub(crate) mod states;
pub(crate) mod undo;
pub(crate) mod window;
