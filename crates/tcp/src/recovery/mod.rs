//! Detection and repair of losses: with records of segments (`ledger`, `states` and the files that
//! they use), or from sequence numbers alone (`duplicate_acks`, `sack`), which is faster. The
//! profile's switch `records` selects one of them, never the congestion control.

pub(crate) mod duplicate_acks;
pub(crate) mod ledger;
pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod records;
pub(crate) mod sack;
pub(crate) mod scoreboard;
pub(crate) mod states;
pub(crate) mod undo;
