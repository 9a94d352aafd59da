//! Linux's `tc`: its lines as our parameters, and ours as its commands.
//!
//! Sizes include headers: the kernel counts a packet with its 14-byte Ethernet header (not the frame
//! check sequence, preamble or gap), so bytes of `tc` are bytes here on a link with `framing =
//! "14B"`. For a link with other framing, commands scale queue sizes and a shaper's rates by the
//! largest packet, so that as many of them fit and pass; the commands of CAKE contain the framing.
//! A packet limit counts one segment here; the kernel counts one aggregate of up to 64 KiB if
//! offload is on.

mod read;
mod units;
mod unusual;
mod write;

use crate::Scenario;
use crate::units::UnitError;
use goodqueue_queue::{Configuration, Limit, QueueConfig, Refusal};
use goodqueue_types::Framing;

pub use read::parse_qdisc;
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

impl Scenario {
    /// The commands that give a Linux device the queue of this link. With `fifo_in_bytes` a
    /// drop-tail queue counts bytes there even if it counts packets here: a packet limit of Linux
    /// counts aggregates.
    ///
    /// # Errors
    /// If there is no such link, or no such queue in Linux, and why.
    pub fn qdisc_commands(
        &self,
        link: &str,
        fifo_in_bytes: bool,
    ) -> Result<Vec<String>, UnitError> {
        self.check_queue(link)?;
        let frame_bytes = self.buffer(link)?.frame_bytes;
        let config = self.network().links.into_iter();
        let config = config.filter(|config| config.name == link);
        let Some(mut config) = config.last() else {
            return refuse("this link is not reported", "name another link");
        };
        let fits = |packet: &u64| config.framing.frame_bytes(*packet as u32) <= frame_bytes;
        let packet_bytes = (1..=frame_bytes).rev().find(fits).unwrap_or(frame_bytes);
        if let (QueueConfig::DropTail(fifo), true) = (&mut config.queue, fifo_in_bytes)
            && let Limit::Packets(packets) = fifo.limit
        {
            fifo.limit = Limit::Bytes(packets * frame_bytes);
        }
        let framing = config.framing;
        state_framing(&mut config.queue, framing);
        qdisc_commands(&config.queue, frame_bytes, packet_bytes)
    }
}

/// Tells CAKE the link's framing in so many words, where the kernel would count another.
fn state_framing(queue: &mut QueueConfig, framing: Framing) {
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
    Err(UnitError {
        message: message.into(),
        help: help.into(),
    })
}
