//! Queues of devices. Linux's `tc`: its lines as our parameters, and ours as its commands. `SONiC`: the
//! buffers of its queues.
//!
//! Sizes include headers: the kernel counts a packet with its 14-byte Ethernet header (not the frame
//! check sequence, preamble or gap), so bytes of `tc` are bytes here on a link with `framing =
//! "14B"`. For a link with other framing, commands scale queue sizes and a shaper's rates by the
//! largest packet, so that as many of them fit and pass; the commands of CAKE contain the framing.
//! A packet limit counts one segment here; the kernel counts one aggregate of up to 64 KiB if
//! offload is on.

mod device;
mod entry;
mod foreign;
mod htb;
mod json;
mod read;
mod sonic;
mod switch;
mod tree;
mod units;
mod unusual;
mod write;

use goodqueue_queue::{Configuration, QueueConfig, Refusal};
use goodqueue_types::Framing;
use goodqueue_types::message::UnitError;

pub use device::{DeviceQueue, read_device};
pub use entry::Counters;
pub use sonic::{SwitchQueue, read_switch_queue};
pub use switch::{Switch, read_switch};
pub use tree::parse_qdisc;
pub use write::qdisc_commands;

/// Bytes of the link layer that the kernel counts.
pub const ETHERNET_HEADER: u32 = 14;

/// A queue as `tc` describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Qdisc {
    /// Its parameters.
    pub queue: QueueConfig,
    /// Parameters that the line does not show, and the assumed values.
    pub notes: Vec<String>,
}

/// Sets the framing of CAKE to that of the link, if the kernel would count another and the queue has
/// none of its own.
pub fn state_framing(queue: &mut QueueConfig, framing: Framing) {
    match queue {
        QueueConfig::Cake(cake) if framing != Framing::bytes(ETHERNET_HEADER) => {
            cake.framing.0.get_or_insert(framing);
        }
        QueueConfig::Tbf(tbf) => state_framing(&mut tbf.inner.0, framing),
        QueueConfig::Prio(prio) => {
            for band in &mut prio.bands {
                state_framing(band, framing);
            }
        }
        QueueConfig::Htb(htb) => {
            let queues = htb
                .classes
                .iter_mut()
                .filter_map(|class| class.queue.as_mut());
            queues.for_each(|queue| state_framing(queue, framing));
        }
        _ => {}
    }
}

/// Checks a queue for frames of up to this size, as the parser of scenarios does.
///
/// # Errors
/// The parameter that does not fit the others, why, and what to write instead.
pub fn check_queue(queue: &QueueConfig, frame_bytes: u64) -> Result<(), UnitError> {
    queue.check(frame_bytes).or_else(|refusal| {
        let Refusal { key, message, help } = refusal;
        refuse(format!("{key}: {message}"), help)
    })
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, UnitError> {
    Err(UnitError::new(message, help))
}
