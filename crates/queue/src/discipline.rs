//! The registry of disciplines, with one line for each. The enums with static dispatch, the words
//! and tables of scenario files, and the disciplines of `tc` are generated from these lines.

use crate::keys::KIND;
use crate::{
    Backlog, BuiltIn, Configuration, Context, CustomQueue, DropTailConfig, Exclusive, Ignored,
    Limit, Place, Qdisc, QueueDiscipline, Refusal,
};
use goodqueue_types::parameters::{
    Declared, Given, Key, Parameter, Parameters, Spec, TableValue, Tc, Value, Variants,
    concat_keys, count_keys,
};
use goodqueue_types::{Packet, RandomStream, Rate, Time};

/// Generates the enums, their dispatch and the tables of keys from one list. `Custom`, which no file
/// can name, is added to it.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $kind:ident = $word:literal($queue:ty, $config:ty),)+) => {
        /// State of a queue discipline.
        #[derive(Clone, Debug)]
        pub enum Discipline {
            $($(#[$doc])* $kind($queue),)+
            /// A discipline that is defined outside this crate.
            Custom(Box<dyn QueueDiscipline>),
        }

        /// Parameters of a queue discipline.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $($(#[$doc])* $kind($config),)+
            /// A discipline that is defined outside this crate.
            Custom(CustomQueue),
        }

        impl QueueConfig {
            /// Names of the disciplines in scenario files.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Names of the disciplines, each with the table of its keys.
            pub const VARIANTS: Variants = &[$(
                ($word, {
                    const PARTS: &[&[Key]] = &[&[KIND], <$config as Declared>::KEYS];
                    const COUNT: usize = count_keys(PARTS);
                    const KEYS: [Key; COUNT] = concat_keys(PARTS);
                    &Spec {
                        keys: &KEYS,
                        ..*<$config>::SPEC
                    }
                }),
            )+];

            /// Returns the name of the discipline in scenario files, or none for one that no file
            /// can name.
            pub fn word(&self) -> Option<&'static str> {
                match self {
                    $(Self::$kind(_) => Some($word),)+
                    Self::Custom(_) => None,
                }
            }

            /// Creates the discipline `word` with the values that a table gives, at this place.
            ///
            /// # Errors
            /// Returns the key at fault, the reason, and what to write instead.
            pub fn read(word: &str, given: &Given, place: &Place) -> Result<Self, Refusal> {
                Ok(match word {
                    $($word => Self::$kind(BuiltIn::read(given, place)?),)+
                    other => unreachable!("{other} is none of {:?}", Self::WORDS),
                })
            }

            /// Returns the discipline `word` with its defaults.
            pub fn defaults(word: &str) -> Self {
                match word {
                    $($word => Self::$kind(Default::default()),)+
                    other => unreachable!("{other} is none of {:?}", Self::WORDS),
                }
            }

            /// Returns the key of a rate that replaces the link's in the limits of the table of
            /// `word`, or none.
            pub fn rate_key(word: &str) -> Option<&'static str> {
                match word {
                    $($word => <$config as BuiltIn>::RATE_KEY,)+
                    _ => None,
                }
            }

            /// Returns the keys of which the table of `word` may have only one.
            pub fn exclusive(word: &str) -> Exclusive {
                match word {
                    $($word => <$config as BuiltIn>::EXCLUSIVE,)+
                    other => unreachable!("{other} is none of {:?}", Self::WORDS),
                }
            }

            /// Returns the names of Linux's disciplines, each with the name of ours.
            pub fn qdiscs() -> impl Iterator<Item = (&'static str, &'static str)> {
                let all = [$((<$config as BuiltIn>::QDISC, $word)),+].into_iter();
                all.filter_map(|(qdisc, word)| match qdisc {
                    Qdisc::Named(name) => Some((name, word)),
                    Qdisc::None(..) => None,
                })
            }

            /// Returns Linux's discipline with these parameters.
            pub fn qdisc(&self) -> Qdisc {
                match self {
                    $(Self::$kind(config) => BuiltIn::qdisc(config),)+
                    Self::Custom(_) => Qdisc::None(
                        "this discipline has no equivalent in Linux",
                        "choose another kind to export",
                    ),
                }
            }

            /// Returns the option of `tc` for a key of the discipline.
            pub fn tc(&self, key: &Key) -> Tc {
                match self {
                    $(Self::$kind(_) => <$config as BuiltIn>::tc(key),)+
                    Self::Custom(_) => key.tc,
                }
            }

            /// Returns the options of `tc` that have no effect here.
            pub fn ignored(&self) -> &'static [Ignored] {
                match self {
                    $(Self::$kind(_) => <$config as BuiltIn>::IGNORED,)+
                    Self::Custom(_) => &[],
                }
            }
        }

        impl Parameters for QueueConfig {
            fn keys(&self) -> &'static [Key] {
                match self {
                    $(Self::$kind(config) => Parameters::keys(config),)+
                    Self::Custom(config) => Parameters::keys(config),
                }
            }

            fn get(&self, key: &str) -> Option<Value> {
                match self {
                    $(Self::$kind(config) => Parameters::get(config, key),)+
                    Self::Custom(config) => Parameters::get(config, key),
                }
            }

            fn set(&mut self, key: &str, value: Value) {
                match self {
                    $(Self::$kind(config) => Parameters::set(config, key, value),)+
                    Self::Custom(config) => Parameters::set(config, key, value),
                }
            }
        }

        impl Configuration for QueueConfig {
            type Queue = Discipline;

            fn build(&self, random: &mut RandomStream) -> Discipline {
                match self {
                    $(Self::$kind(config) => Discipline::$kind(config.build(random)),)+
                    Self::Custom(config) => Discipline::Custom(config.build(random)),
                }
            }

            fn limit(&self) -> Limit {
                match self {
                    $(Self::$kind(config) => config.limit(),)+
                    Self::Custom(config) => config.limit(),
                }
            }

            fn set_limit(&mut self, limit: Limit) {
                match self {
                    $(Self::$kind(config) => config.set_limit(limit),)+
                    Self::Custom(config) => config.set_limit(limit),
                }
            }

            fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
                match self {
                    $(Self::$kind(config) => config.check(frame_bytes),)+
                    Self::Custom(config) => config.check(frame_bytes),
                }
            }

            fn is_work_conserving(&self) -> bool {
                match self {
                    $(Self::$kind(config) => config.is_work_conserving(),)+
                    Self::Custom(config) => config.is_work_conserving(),
                }
            }

            fn table_bytes(&self) -> usize {
                match self {
                    $(Self::$kind(config) => config.table_bytes(),)+
                    Self::Custom(config) => config.table_bytes(),
                }
            }

            fn drain_rate(&self, link: Rate) -> Rate {
                match self {
                    $(Self::$kind(config) => config.drain_rate(link),)+
                    Self::Custom(config) => config.drain_rate(link),
                }
            }
        }

        impl QueueDiscipline for Discipline {
            #[inline]
            fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
                match self {
                    $(Self::$kind(queue) => queue.enqueue(context, packet),)+
                    Self::Custom(queue) => queue.enqueue(context, packet),
                }
            }

            #[inline]
            fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
                match self {
                    $(Self::$kind(queue) => queue.dequeue(context),)+
                    Self::Custom(queue) => queue.dequeue(context),
                }
            }

            fn next_ready(&self, now: Time) -> Option<Time> {
                match self {
                    $(Self::$kind(queue) => queue.next_ready(now),)+
                    Self::Custom(queue) => queue.next_ready(now),
                }
            }

            fn backlog(&self) -> Backlog {
                match self {
                    $(Self::$kind(queue) => queue.backlog(),)+
                    Self::Custom(queue) => queue.backlog(),
                }
            }

            fn is_bypassed_when_idle(&self) -> bool {
                match self {
                    $(Self::$kind(queue) => queue.is_bypassed_when_idle(),)+
                    Self::Custom(queue) => queue.is_bypassed_when_idle(),
                }
            }

            fn average(&self) -> Option<f64> {
                match self {
                    $(Self::$kind(queue) => queue.average(),)+
                    Self::Custom(queue) => queue.average(),
                }
            }

            fn set_rate(&mut self, rate: Rate) {
                match self {
                    $(Self::$kind(queue) => queue.set_rate(rate),)+
                    Self::Custom(queue) => queue.set_rate(rate),
                }
            }
        }
    };
}

disciplines! {
    /// Drop tail: a FIFO that drops arrivals when it is full.
    DropTail = "drop_tail"(crate::DropTail, crate::DropTailConfig),
    /// Head drop: a FIFO that drops its oldest packet when it is full.
    HeadDrop = "drop_head"(crate::HeadDrop, crate::HeadDropConfig),
    /// Random early detection as in Linux.
    LinuxRed = "red"(crate::LinuxRed, crate::LinuxRedConfig),
    /// Random early detection after Floyd and Jacobson, as in ns-2.
    Red = "ns2_red"(crate::Red, crate::RedConfig),
    /// `CHOKe`: RED that drops an arrival with a waiting packet of its flow.
    Choke = "choke"(crate::Choke, crate::ChokeConfig),
    /// BLUE: a drop probability driven by overflow and idleness.
    Blue = "blue"(crate::Blue, crate::BlueConfig),
    /// Flow-proportional queueing.
    Fpq = "fpq"(crate::Fpq, crate::FpqConfig),
    /// `CoDel`: drops at the head while there is a standing queue.
    Codel = "codel"(crate::Codel, crate::CodelConfig),
    /// PIE: a drop probability that holds the queueing delay at a target.
    Pie = "pie"(crate::Pie, crate::PieConfig),
    /// PI2: a probability that is squared for classic traffic.
    Pi2 = "pi2"(crate::Pi2, crate::Pi2Config),
    /// `DualPI2`: coupled queues for low-latency and classic traffic.
    DualPi2 = "dualpi2"(crate::DualPi2, crate::DualPi2Config),
    /// A FIFO that marks packets beyond a threshold.
    Step = "step"(crate::Step, crate::StepConfig),
    /// Deficit round robin.
    Drr = "drr"(crate::Drr, crate::DrrConfig),
    /// Stochastic fairness queueing as in Linux.
    Sfq = "sfq"(crate::Sfq, crate::SfqConfig),
    /// `CoDel` on each of many queues.
    FqCodel = "fq_codel"(crate::FqCodel, crate::FqCodelConfig),
    /// PIE on each of many queues.
    FqPie = "fq_pie"(crate::FqPie, crate::FqPieConfig),
    /// A shaper with tins, host fairness and COBALT.
    Cake = "cake"(crate::Cake, crate::CakeConfig),
    /// A token-bucket filter in front of another discipline.
    Tbf = "tbf"(crate::Tbf, crate::TbfConfig),
    /// A hierarchy of classes that lend each other tokens.
    Htb = "htb"(crate::Htb, crate::HtbConfig),
    /// A token bucket that drops what it has no tokens for.
    Policer = "policer"(crate::Policer, crate::PolicerConfig),
    /// Strict priority among bands.
    Prio = "prio"(crate::Prio, crate::PrioConfig),
    /// A queue in Python, which the program that runs the scenario replaces by a `Custom` one.
    Python = "python"(Box<dyn QueueDiscipline>, crate::PythonQueueConfig),
}

/// A queue within a queue.
impl Parameter for QueueConfig {
    fn from_value(value: Value) -> Self {
        let Value::Table(table) = value else {
            unreachable!("a queue is a table")
        };
        let mut config = Self::defaults(table.word.unwrap_or(Self::WORDS[0]));
        config.apply(&table.given);
        config
    }

    fn value(&self) -> Value {
        Value::Table(TableValue {
            word: self.word(),
            given: self.all(),
        })
    }
}

impl QueueDiscipline for Box<dyn QueueDiscipline> {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        (**self).enqueue(context, packet);
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        (**self).dequeue(context)
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        (**self).next_ready(now)
    }

    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }

    fn is_bypassed_when_idle(&self) -> bool {
        (**self).is_bypassed_when_idle()
    }

    fn average(&self) -> Option<f64> {
        (**self).average()
    }
}

impl QueueConfig {
    /// Returns drop tail with this limit.
    pub fn drop_tail(limit: Limit) -> Self {
        Self::DropTail(DropTailConfig { limit })
    }
}
