//! Options of shapers and priorities.

use super::{Options, Read};
use crate::error::shorten;
use crate::tc::refuse;
use crate::tc::units::{integer, rate, size, time};
use goodqueue_queue::{Limit, PrioConfig, PrioMap, QueueConfig, TbfConfig, TbfPeak};
use goodqueue_types::Rate;

pub(super) fn tbf(
    options: &mut Options<'_>,
    children: &[(&str, QueueConfig)],
    notes: &mut Vec<String>,
) -> Read<TbfConfig> {
    let mut config = TbfConfig {
        rate: Rate(0),
        burst: 0,
        peak: None,
        inner: Box::new(QueueConfig::drop_tail(Limit::Unlimited)),
    };
    let (mut peak, mut mtu, mut latency, mut limit) = (None, None, None, None);
    while let Some(word) = options.next() {
        match word {
            "rate" => config.rate = rate(options.value(word)?)?,
            "burst" | "buffer" | "maxburst" => config.burst = cells(options.value(word)?)?,
            "peakrate" => peak = Some(rate(options.value(word)?)?),
            "mtu" | "minburst" => mtu = Some(cells(options.value(word)?)?),
            "lat" | "latency" => latency = Some((word, time(options.value(word)?)?)),
            "limit" => limit = Some(Limit::Bytes(size(options.value(word)?)?)),
            "mpu" | "overhead" if size(options.value(word)?)? == 0 => {}
            "linklayer" if options.value(word)? == "ethernet" => {}
            _ => {
                return options.unknown(
                    word,
                    &["rate", "burst", "peakrate", "mtu", "latency", "limit"],
                );
            }
        }
    }
    config.peak = match (peak, mtu) {
        (Some(rate), Some(mtu)) => Some(TbfPeak { rate, mtu }),
        (Some(_), None) => return refuse("peakrate needs an mtu", "add mtu and its value"),
        (None, _) => None,
    };
    let of_latency = |(word, latency)| {
        if word == "lat" {
            notes.push(
                "tc shows the latency to three digits: the limit may differ by half a per cent"
                    .to_owned(),
            );
        }
        config.limit_of_latency(latency)
    };
    let inner = match (children, limit.or(latency.map(of_latency))) {
        ([(_, inner)], _) => inner.clone(),
        ([], Some(limit)) => QueueConfig::drop_tail(limit),
        ([], None) => return refuse("tbf needs a limit or a latency", "add one of them"),
        _ => return refuse("tbf has one child", "give its line and its child's"),
    };
    config.inner = Box::new(inner);
    Ok(config)
}

/// `10Kb`, or with details `10Kb/8`.
fn cells(text: &str) -> Read<u64> {
    size(text.split('/').next().unwrap_or(text))
}

const BANDS: &str = "tc has from 2 to 16, which priomap counts from 0";

pub(super) fn prio(
    options: &mut Options<'_>,
    children: &[(&str, QueueConfig)],
    notes: &mut Vec<String>,
) -> Read<PrioConfig> {
    let mut bands = 3;
    let PrioMap::Tos(mut map) = PrioMap::LINUX else {
        unreachable!("Linux maps types of service")
    };
    while let Some(word) = options.next() {
        match word {
            "bands" => bands = integer(options.value(word)?)?,
            "priomap" => {
                for band in &mut map {
                    *band = match integer(options.value(word)?)? {
                        number @ 0..=15 => number as u8,
                        number => return refuse(format!("there is no band {number}"), BANDS),
                    };
                }
            }
            _ => return options.unknown(word, &["bands", "priomap"]),
        }
    }
    if !(2..=16).contains(&bands) {
        return refuse(format!("prio with {bands} bands"), BANDS);
    }
    let is_band = |parent: &str, band: u32| parent.split(':').nth(1) == Some(&format!("{band:x}"));
    for (parent, _) in children {
        if !(1..=bands).any(|band| is_band(parent, band)) {
            return refuse(
                format!("\"{}\" is no parent among {bands} bands", shorten(parent)),
                "give each child's line whole, with parent 1:1 for the first band",
            );
        }
    }
    let mut queues = Vec::new();
    for band in 1..=bands {
        let child = children.iter().find(|child| is_band(child.0, band));
        queues.push(match child {
            Some((_, queue)) => queue.clone(),
            None => QueueConfig::drop_tail(Limit::Packets(1_000)),
        });
    }
    if children.len() < bands as usize {
        notes.push(
            "the queue of a band is not shown: pfifo with 1000 packets assumed, the usual txqueuelen"
                .to_owned(),
        );
    }
    Ok(PrioConfig {
        bands: queues,
        map: PrioMap::Tos(map),
    })
}
