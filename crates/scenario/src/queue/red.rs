//! Disciplines that drop at random before they must.

use super::Keys;
use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::setting::{ReadFrom, Setting, Visitor, WriteTo, words};
use crate::spec::{ADAPTATIONS, FPQ_CONTROLS, Kind, Variants};
use goodqueue_queue::{
    BlueConfig, FpqConfig, FpqControl, Limit, LinuxRedConfig, RedAdaptation, RedConfig, RedLink,
    RedUnit, target_loss,
};

words! {
    RedUnit { "packets" = Packets, "bytes" = Bytes }
}

/// The limit, which must be given.
fn limit(table: &Reader<'_>) -> Checked<Limit> {
    Limit::read(&table.require("limit")?)
}

/// Reads Linux's `red`; what is not given follows from the limit, as in `tc`.
pub(super) fn read_red(table: &Reader<'_>) -> Checked<LinuxRedConfig> {
    let place = table.place();
    let bytes = match limit(table)? {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => packets.saturating_mul(place.frame_bytes),
        Limit::Unlimited if table.get("max").is_none() => return Err(table.missing("max")),
        Limit::Unlimited => u64::MAX,
    };
    let avpkt = table.size("avpkt")?.unwrap_or(1_000) as u32;
    let mut config = LinuxRedConfig::tc(u32::try_from(bytes).unwrap_or(u32::MAX), avpkt);
    config.bandwidth = place.rate;
    LinuxRedConfig::visit(&mut ReadFrom(table), &mut config)?;
    if table.get("min").is_none() {
        config.min = config.max / 3;
    }
    if table.get("burst").is_none() {
        config.burst = LinuxRedConfig::default_burst(config.min, config.max, config.avpkt);
    }
    Ok(config)
}

impl Keys for LinuxRedConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            min,
            max,
            avpkt,
            burst,
            probability,
            bandwidth,
            adaptive,
            ecn,
            harddrop,
            nodrop,
        } = config;
        v.visit("limit", limit)?;
        v.visit("min", min)?;
        v.visit("max", max)?;
        v.visit("avpkt", avpkt)?;
        v.visit("burst", burst)?;
        v.visit("probability", probability)?;
        v.visit("bandwidth", bandwidth)?;
        v.visit("adaptive", adaptive)?;
        v.visit("ecn", ecn)?;
        v.visit("harddrop", harddrop)?;
        v.visit("nodrop", nodrop)
    }
}

/// Reads ns-2's RED; thresholds and weight that are not given are as ns-2's automatic ones.
pub(super) fn read_ns2_red(table: &Reader<'_>) -> Checked<RedConfig> {
    let place = table.place();
    let link = RedLink {
        rate: place.rate,
        delay: place.delay,
        mean_packet: table.size("mean_packet")?.unwrap_or(500) as u32,
    };
    let mut config = RedConfig::ns2(link, limit(table)?);
    RedConfig::visit(&mut ReadFrom(table), &mut config)?;
    if config.unit == RedUnit::Packets && table.get("min").is_none() {
        config.min /= f64::from(link.mean_packet.max(1));
    }
    if table.get("max").is_none() {
        config.max = 3.0 * config.min;
    }
    Ok(config)
}

impl Keys for RedConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            unit,
            min,
            max,
            weight,
            max_probability,
            gentle,
            wait,
            by_size,
            mean_packet,
            bandwidth,
            ecn,
            mark_below,
            adaptation,
        } = config;
        v.visit("limit", limit)?;
        v.visit("unit", unit)?;
        v.visit("min", min)?;
        v.visit("max", max)?;
        v.visit("weight", weight)?;
        v.visit("max_probability", max_probability)?;
        v.visit("gentle", gentle)?;
        v.visit("wait", wait)?;
        v.visit("by_size", by_size)?;
        v.visit("mean_packet", mean_packet)?;
        v.visit("bandwidth", bandwidth)?;
        v.visit("ecn", ecn)?;
        v.visit("mark_below", mark_below)?;
        v.visit("adaptation", adaptation)
    }
}

/// A choice with parameters of its own: a table by `kind`.
trait Choice: Sized {
    const VARIANTS: Variants;
    fn named(word: &str, field: &Field<'_>) -> Self;
    fn name(&self) -> &'static str;
    fn visit(&mut self, v: &mut impl Visitor) -> Checked<()>;

    fn read_table(field: &Field<'_>) -> Checked<Self> {
        let (word, table) = Reader::tagged(field)?;
        let mut choice = Self::named(word, field);
        choice.visit(&mut ReadFrom(&table))?;
        Ok(choice)
    }

    fn table(mut self) -> String {
        let name = self.name();
        let found = Self::VARIANTS.iter().find(|variant| variant.0 == name);
        let mut table = WriteTo::new(found.map_or(Self::VARIANTS[0].1, |variant| variant.1));
        table.push("kind", &format!("\"{name}\""));
        let visited = self.visit(&mut table);
        debug_assert!(visited.is_ok(), "writing does not fail");
        table.inline()
    }
}

impl Choice for RedAdaptation {
    const VARIANTS: Variants = ADAPTATIONS;

    fn named(word: &str, _: &Field<'_>) -> Self {
        match word {
            "feng" => Self::FENG_1999,
            _ => Self::FLOYD_2001,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Floyd { .. } => "floyd",
            Self::Feng { .. } => "feng",
        }
    }

    fn visit(&mut self, v: &mut impl Visitor) -> Checked<()> {
        match self {
            Self::Floyd {
                interval,
                increment,
                decrease,
                least,
                most,
                gentle_follows,
            } => {
                v.visit("interval", interval)?;
                v.visit("increment", increment)?;
                v.visit("decrease", decrease)?;
                v.visit("least", least)?;
                v.visit("most", most)?;
                v.visit("gentle_follows", gentle_follows)
            }
            Self::Feng { decrease, increase } => {
                v.visit("decrease", decrease)?;
                v.visit("increase", increase)
            }
        }
    }
}

impl Setting for RedAdaptation {
    fn read(field: &Field<'_>) -> Checked<Self> {
        Self::read_table(field)
    }
    fn write(&self, _: Kind) -> String {
        self.table()
    }
}

impl Choice for FpqControl {
    const VARIANTS: Variants = FPQ_CONTROLS;

    fn named(word: &str, field: &Field<'_>) -> Self {
        match (word, field.place) {
            ("red", Some(place)) => Self::Red {
                target_loss: target_loss(6.0),
                weight: 0.002,
                mean_packet: place.frame_bytes as u32,
                bandwidth: place.rate,
            },
            _ => Self::TailDrop,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::TailDrop => "tail_drop",
            Self::Red { .. } => "red",
        }
    }

    fn visit(&mut self, v: &mut impl Visitor) -> Checked<()> {
        match self {
            Self::TailDrop => Ok(()),
            Self::Red {
                target_loss,
                weight,
                mean_packet,
                bandwidth,
            } => {
                v.visit("target_loss", target_loss)?;
                v.visit("weight", weight)?;
                v.visit("mean_packet", mean_packet)?;
                v.visit("bandwidth", bandwidth)
            }
        }
    }
}

impl Setting for FpqControl {
    fn read(field: &Field<'_>) -> Checked<Self> {
        Self::read_table(field)
    }
    fn write(&self, _: Kind) -> String {
        self.table()
    }
}

impl Keys for FpqConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            packets_per_flow,
            least_packets,
            control,
            count_bits,
            count_interval,
            ecn,
        } = config;
        v.visit("limit", limit)?;
        v.visit("packets_per_flow", packets_per_flow)?;
        v.visit("least_packets", least_packets)?;
        v.visit("control", control)?;
        v.visit("count_bits", count_bits)?;
        v.visit("count_interval", count_interval)?;
        v.visit("ecn", ecn)
    }
}

impl Keys for BlueConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self {
            limit,
            threshold,
            increment,
            decrement,
            freeze_time,
            ecn,
        } = config;
        v.visit("limit", limit)?;
        v.visit("threshold", threshold)?;
        v.visit("increment", increment)?;
        v.visit("decrement", decrement)?;
        v.visit("freeze_time", freeze_time)?;
        v.visit("ecn", ecn)
    }
}
