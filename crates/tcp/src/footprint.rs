//! Memory that an endpoint takes besides its own size, by the sizes of the types in it.

use crate::delayed_ack::LinuxAcks;
use crate::ecn::EcnState;
use crate::ledger::Ledger;
use crate::limits::Chronograph;
use crate::reassembly::Reassembly;
use crate::receive_window::RightSizing;
use crate::records::Record;

/// Bytes on the heap of an endpoint that keeps everything an endpoint can keep, but for its
/// congestion control and the records of its segments.
pub const HEAP_BYTES: usize = size_of::<Ledger>()
    + size_of::<Chronograph>()
    + size_of::<EcnState>()
    + size_of::<Reassembly>()
    + size_of::<LinuxAcks>()
    + size_of::<RightSizing>();

/// Bytes of a sender's record of a segment in flight.
pub const RECORD_BYTES: usize = size_of::<Record>();
