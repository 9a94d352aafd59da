//! Queue disciplines by name, with their parameters.

mod delay;
mod fair;
mod red;
mod service;

pub(crate) use fair::CakeCells;

use crate::error::Checked;
use crate::reader::{Field, Reader};
use crate::setting::{ReadFrom, Setting, Visitor, WriteTo};
use crate::spec::{Kind, QUEUES, Spec};
use goodqueue_queue::{
    BlueConfig, CodelConfig, Configuration, DropTailConfig, DrrConfig, FpqConfig, FqCodelConfig,
    HeadDropConfig, Limit, Pi2Config, QueueConfig, Refusal, SfqConfig, StepConfig,
};
use goodqueue_types::Rate;

/// A discipline's parameters by their names in the file. Implementations take them apart field by
/// field, so that the compiler names a parameter that has no key.
trait Keys {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()>;
}

/// The disciplines with their names in the file, and how the table of each is read.
macro_rules! kinds {
    ($($name:literal: $kind:ident, $read:expr;)+) => {
        fn read_kind(word: &str, table: &Reader<'_>) -> Checked<QueueConfig> {
            Ok(match word {
                $($name => QueueConfig::$kind($read(table)?),)+
                other => unreachable!("{other} is not a choice"),
            })
        }

        /// The name of a discipline; none if no file can name it.
        pub(crate) fn name(config: &QueueConfig) -> Option<&'static str> {
            match config {
                $(QueueConfig::$kind(_) => Some($name),)+
                QueueConfig::Custom(_) => None,
            }
        }

        fn visit(v: &mut impl Visitor, config: &mut QueueConfig) -> Checked<()> {
            match config {
                $(QueueConfig::$kind(config) => Keys::visit(v, config),)+
                QueueConfig::Custom(_) => Ok(()),
            }
        }
    };
}

kinds! {
    "drop_tail": DropTail, over(DropTailConfig { limit: Limit::Unlimited });
    "drop_head": HeadDrop, over(HeadDropConfig { limit: Limit::Unlimited });
    "red": LinuxRed, red::read_red;
    "ns2_red": Red, red::read_ns2_red;
    "blue": Blue, over(BlueConfig::new(Limit::Unlimited));
    "fpq": Fpq, over(FpqConfig::new(Limit::Unlimited));
    "codel": Codel, over(CodelConfig::linux(Limit::Packets(1_000)));
    "pie": Pie, delay::read_pie;
    "pi2": Pi2, over(Pi2Config::new(Limit::Unlimited));
    "dualpi2": DualPi2, delay::read_dualpi2;
    "step": Step, over(StepConfig { limit: Limit::Unlimited, threshold: Limit::Unlimited });
    "drr": Drr, over(DrrConfig::new(Limit::Unlimited));
    "sfq": Sfq, over(SfqConfig::linux(Limit::Packets(127)));
    "fq_codel": FqCodel, over(FqCodelConfig::linux(Limit::Packets(10_240)));
    "fq_pie": FqPie, fair::read_fq_pie;
    "cake": Cake, fair::read_cake;
    "tbf": Tbf, service::read_tbf;
    "prio": Prio, service::read_prio;
}

/// Reads a table whose keys each change one default.
fn over<C: Keys>(default: C) -> impl FnOnce(&Reader<'_>) -> Checked<C> {
    |table| {
        let mut config = default;
        C::visit(&mut ReadFrom(table), &mut config)?;
        Ok(config)
    }
}

impl Keys for DropTailConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { limit } = config;
        v.visit("limit", limit)
    }
}

impl Keys for HeadDropConfig {
    fn visit(v: &mut impl Visitor, config: &mut Self) -> Checked<()> {
        let Self { limit } = config;
        v.visit("limit", limit)
    }
}

/// Reads the table of a queue.
pub(crate) fn read(field: &Field<'_>) -> Checked<QueueConfig> {
    let (word, table) = Reader::tagged(field)?;
    table.check_required()?;
    let config = read_kind(word, &table)?;
    let frame_bytes = table.place().frame_bytes;
    config.check(frame_bytes).map_err(|refusal| {
        let Refusal { key, message, help } = refusal;
        table.problem(key, message, help)
    })?;
    Ok(config)
}

fn spec_of(name: &str) -> &'static Spec {
    let found = QUEUES.iter().find(|variant| variant.0 == name);
    found.map_or(QUEUES[0].1, |variant| variant.1)
}

/// The rate at which a queue in front of a link of this rate drains.
pub(crate) fn drain_rate(config: &QueueConfig, link: Rate) -> Rate {
    match config {
        QueueConfig::Tbf(tbf) => tbf.rate.min(link),
        QueueConfig::Cake(cake) => cake.bandwidth.map_or(link, |rate| rate.min(link)),
        _ => link,
    }
}

/// Writes a queue with all its parameters as an inline TOML table that reads back the same; none
/// for a queue that no file can name.
pub fn queue_toml(config: &QueueConfig) -> Option<String> {
    let name = name(config)?;
    let mut table = WriteTo::new(spec_of(name));
    table.push("kind", &format!("\"{name}\""));
    let visited = visit(&mut table, &mut config.clone());
    debug_assert!(visited.is_ok(), "writing does not fail");
    Some(table.inline())
}

/// The same of a queue that came from a file.
pub(crate) fn write(config: &QueueConfig) -> String {
    let text = queue_toml(config);
    debug_assert!(text.is_some(), "{config:?} came from a file");
    text.unwrap_or_default()
}

/// A queue within a queue.
impl Setting for QueueConfig {
    fn read(field: &Field<'_>) -> Checked<Self> {
        read(field)
    }
    fn write(&self, _: Kind) -> String {
        write(self)
    }
}

impl Setting for Box<QueueConfig> {
    fn read(field: &Field<'_>) -> Checked<Self> {
        read(field).map(Self::new)
    }
    fn write(&self, _: Kind) -> String {
        write(self)
    }
}

impl Setting for Vec<QueueConfig> {
    fn read(field: &Field<'_>) -> Checked<Self> {
        field.items()?.iter().map(read).collect()
    }
    fn write(&self, _: Kind) -> String {
        let items: Vec<String> = self.iter().map(write).collect();
        format!("[{}]", items.join(", "))
    }
}
