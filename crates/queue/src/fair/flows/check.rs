//! Checks of parameters that all fair queues share.

use crate::Refusal;
use crate::fair::flows::truesize;

/// Largest number of queues that Linux's flow queues accept.
const MAX_FLOWS: u32 = 65_536;

/// Refuses a quantum of zero, with which no flow could send.
pub fn refuse_quantum(quantum: u32) -> Result<(), Refusal> {
    if quantum > 0 {
        return Ok(());
    }
    Err(Refusal::new(
        "quantum",
        "a quantum of no byte: no flow could ever send",
        "write the size of the largest frame, as in quantum = 1514",
    ))
}

/// Refuses a number of queues that Linux does not accept.
pub fn refuse_flows(flows: u32) -> Result<(), Refusal> {
    if (1..=MAX_FLOWS).contains(&flows) {
        return Ok(());
    }
    Err(Refusal::new(
        "flows",
        format!("{flows} queues"),
        "write a number of queues from 1 to 65536, as in flows = 1024",
    ))
}

/// Refuses a memory limit that is too small for one frame.
pub fn refuse_memory(memory_limit: u64, frame_bytes: u64) -> Result<(), Refusal> {
    let needed = truesize(frame_bytes);
    if needed <= memory_limit {
        return Ok(());
    }
    Err(Refusal::new(
        "memory_limit",
        format!("{memory_limit} bytes of memory hold no frame: one takes {needed}"),
        "write the kernel's default, as in memory_limit = \"32MiB\"",
    ))
}
