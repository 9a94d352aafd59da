//! Links for tests.

#![allow(dead_code, reason = "each test file uses a part")]

use goodqueue_fluid::{
    Acks, Background, Extent, FlowGroup, FluidControl, FluidLink, FluidOutcome, FluidQueue,
    FluidSender, simulate,
};
use goodqueue_types::{Rate, Span};

/// Returns a link with a queue of 100 packets. The receivers of its flows delay ACKs, and the
/// senders count bytes.
pub fn link(rate_bps: u64, flows: u64, control: FluidControl, rtts_ms: &[u64]) -> FluidLink {
    FluidLink {
        rate: Rate(rate_bps),
        frame_bytes: 1_500,
        queue: packets(100.0),
        groups: vec![FlowGroup {
            name: "long".to_owned(),
            count: flows,
            rtts: rtts_ms.iter().map(|ms| Span::from_millis(*ms)).collect(),
            control,
            acks: Acks {
                packets: 2.0,
                bytes_counted: true,
            },
            sender: FluidSender::LINUX,
            paced: false,
            max_window: f64::INFINITY,
        }],
        background: Background::default(),
    }
}

/// Returns a drop-tail queue for this number of packets.
pub fn packets(packets: f64) -> FluidQueue {
    FluidQueue::DropTail { packets }
}

/// Returns the duration and the warm-up of a run, given in seconds.
pub fn extent(seed: u64, warmup_s: u64, duration_s: u64) -> Extent {
    Extent {
        seed,
        warmup: Span::from_secs(warmup_s),
        duration: Span::from_secs(duration_s),
    }
}

/// Runs the link to the end.
pub fn run(link: &FluidLink, extent: &Extent) -> FluidOutcome {
    simulate(link, extent, &mut || true).expect("nobody stops it")
}
