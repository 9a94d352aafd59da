//! Detection and repair of losses: by sequence numbers (`duplicate_acks`, `sack`) or by records of
//! segments (`ledger` and the other files).

pub(crate) mod duplicate_acks;
pub(crate) mod ledger;
pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod records;
pub(crate) mod sack;
pub(crate) mod scoreboard;
pub(crate) mod states;
pub(crate) mod undo;
