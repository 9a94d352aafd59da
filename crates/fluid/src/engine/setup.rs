//! The state that a run begins with, made from its link.

use std::collections::BTreeMap;

use goodqueue_types::Span;

use crate::engine::tally::Tally;
use crate::engine::{Calm, Engine};
use crate::flows::class::{Class, Shape};
use crate::link::{FlowGroup, FluidLink, flows_at};
use crate::noise::Noise;
use crate::queue::fifo::Fifo;
use crate::queue::law::Law;

/// Least number of slots in the shortest round-trip time, where `MIN_PER_SLOT` allows it.
const SLOTS_PER_RTT: f64 = 32.0;
/// Least number of slots in which the link sends a full buffer.
const SLOTS_PER_BUFFER: f64 = 8.0;

/// Fewest packets that the link sends in a slot.
const MIN_PER_SLOT: f64 = 0.5;

/// Time in which a packet is sent at the bottleneck and on both access links, which are ten times as
/// fast, in transmissions at the bottleneck.
const TRANSMISSIONS: f64 = 1.2;

/// Trains of a window if all flows have the same round-trip time.
const TRAINS_TOGETHER: usize = 3;
/// Trains of a window if round-trip times differ.
const TRAINS_MIXED: usize = 2;

/// Least number of trains of a class, so that the losses of one flow have their place in the round
/// trip.
const MIN_TRAINS: usize = 16;

/// Standard deviations by which the queue may rise above its level at the end of a slot. The deviation
/// is that of the number of packets that arrive at random times in a part of the slot.
const RANDOM_TIMES: f64 = 3.0;

/// The largest unit that Linux hands to a device, in packets.
const LARGEST_UNIT: f64 = 44.0;

impl Engine {
    /// Makes the state in which a run begins: flows near their stationary windows.
    pub fn new(link: &FluidLink, seed: u64) -> Self {
        let packets_per_s = link.packets_per_second();
        let transmission_s = TRANSMISSIONS / packets_per_s;
        let buffer = link.queue.packets();
        let slot_s = slot_s(link, transmission_s);
        let per_slot = slot_s * packets_per_s;
        let queue_slots = libm::ceil(buffer / per_slot) as usize + 4;
        let window = fair_window(link, transmission_s);

        let mut noise = Noise::new(seed, "fluid");
        let mut classes = Vec::new();
        let mut margin = 0.0_f64;
        for (number, group) in link.groups.iter().enumerate() {
            let counts = by_slots(group, |rtt| {
                libm::round((rtt.as_secs_f64() + transmission_s) / slot_s) as usize
            });
            let together = link.groups.len() == 1 && counts.len() == 1;
            let unit = unit(group, window, link.mean_rtt_s());
            for (rtt_slots, entries) in counts {
                let flows = entries.iter().map(|(_, flows)| flows).sum::<usize>();
                let trains = if together {
                    TRAINS_TOGETHER
                } else {
                    TRAINS_MIXED
                };
                let trains = trains.max(MIN_TRAINS.div_ceil(flows));
                let spread = if together {
                    unit
                } else {
                    RANDOM_TIMES * (unit * per_slot).sqrt()
                };
                margin = margin.max(unit + 1.0 + spread);
                let shape = Shape {
                    group: number,
                    entries,
                    rtt_slots,
                    rtt_s: rtt_slots as f64 * slot_s,
                    queue_slots,
                    window,
                    trains,
                    unit,
                    together,
                };
                classes.push(Class::new(group, shape, &mut noise));
            }
        }
        let places = classes.len() + 1;
        Self {
            slot_s,
            per_slot,
            packets_per_s,
            buffer,
            margin,
            background: link.background.share * per_slot,
            background_burst: link.background.burst_packets,
            law: Law::new(&link.queue, &mut noise),
            fifo: Fifo::new(places, queue_slots),
            batch: vec![0.0; places],
            served: vec![0.0; places],
            noise,
            bursts: Vec::new(),
            early: 0.0,
            late: 0.0,
            slot: 0,
            leapt_s: 0.0,
            tally: Tally::new(buffer, packets_per_s, link.mean_rtt_s()),
            calm: Calm::default(),
            classes,
        }
    }
}

/// The length of a slot: a whole number in the shortest round-trip time.
fn slot_s(link: &FluidLink, transmission_s: f64) -> f64 {
    let shortest_s = entries(link)
        .map(|(_, rtt_s)| rtt_s + transmission_s)
        .fold(f64::INFINITY, f64::min);
    let packets = shortest_s * link.packets_per_second();
    let wished = (packets / SLOTS_PER_RTT)
        .min(link.queue.packets() / SLOTS_PER_BUFFER)
        .max(MIN_PER_SLOT);
    shortest_s / libm::ceil(packets / wished).max(1.0)
}

/// The window with which all flows together fill the link and leave its queue empty.
fn fair_window(link: &FluidLink, transmission_s: f64) -> f64 {
    let per_window: f64 = entries(link)
        .map(|(flows, rtt_s)| flows / (rtt_s + transmission_s))
        .sum();
    (1.0 - link.background.share) * link.packets_per_second() / per_window
}

/// Packets that a sender hands to its link at once: two for a delayed ACK; with Linux's segmentation
/// offload what the pace of 1.2 windows per round trip sends in 2⁻¹⁰ s; one if the sender is paced.
fn unit(group: &FlowGroup, window: f64, rtt_s: f64) -> f64 {
    if group.paced {
        1.0
    } else if group.sender.segmentation_offload {
        (1.2 * window / rtt_s / 1024.0).clamp(group.acks.packets, LARGEST_UNIT)
    } else {
        group.acks.packets
    }
}

/// The flows and the base round-trip time in seconds of each entry of the groups.
fn entries(link: &FluidLink) -> impl Iterator<Item = (f64, f64)> + '_ {
    link.groups.iter().flat_map(|group| {
        group.rtts.iter().enumerate().map(|(place, rtt)| {
            let flows = flows_at(group.count, group.rtts.len(), place);
            (flows as f64, rtt.as_secs_f64())
        })
    })
}

/// The entries of a group by their round-trip time in slots, each with its flows.
fn by_slots(
    group: &FlowGroup,
    slots: impl Fn(Span) -> usize,
) -> BTreeMap<usize, Vec<(usize, usize)>> {
    let mut classes: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (place, rtt) in group.rtts.iter().enumerate() {
        let flows = flows_at(group.count, group.rtts.len(), place) as usize;
        if flows > 0 {
            classes.entry(slots(*rtt)).or_default().push((place, flows));
        }
    }
    classes
}
