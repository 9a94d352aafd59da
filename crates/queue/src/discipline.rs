//! The built-in disciplines as one type, so that a link's queue is known to the compiler.

use crate::{
    Backlog, Blue, BlueConfig, Codel, CodelConfig, Configuration, Context, CustomQueue, DropTail,
    DropTailConfig, DualPi2, DualPi2Config, Fpq, FpqConfig, HeadDrop, HeadDropConfig, Limit,
    LinuxRed, LinuxRedConfig, Pi2, Pi2Config, Pie, PieConfig, Prio, PrioConfig, QueueDiscipline,
    Red, RedConfig, Refusal, Step, StepConfig, Tbf, TbfConfig,
};
use goodqueue_types::{Packet, RandomStream, Time};

/// Makes the two enums and their dispatch from one list.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $kind:ident($queue:ty, $config:ty),)+) => {
        /// A queue discipline.
        #[derive(Clone, Debug)]
        pub enum Discipline {
            $($(#[$doc])* $kind($queue),)+
        }

        /// A queue discipline's parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $($(#[$doc])* $kind($config),)+
        }

        impl QueueConfig {
            /// The names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($kind)),+];

            /// The name of its kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)+
                }
            }
        }

        impl Configuration for QueueConfig {
            type Queue = Discipline;

            fn build(&self, random: &mut RandomStream) -> Discipline {
                match self {
                    $(Self::$kind(config) => Discipline::$kind(config.build(random)),)+
                }
            }

            fn limit(&self) -> Limit {
                match self {
                    $(Self::$kind(config) => config.limit(),)+
                }
            }

            fn set_limit(&mut self, limit: Limit) {
                match self {
                    $(Self::$kind(config) => config.set_limit(limit),)+
                }
            }

            fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
                match self {
                    $(Self::$kind(config) => config.check(frame_bytes),)+
                }
            }

            fn is_work_conserving(&self) -> bool {
                match self {
                    $(Self::$kind(config) => config.is_work_conserving(),)+
                }
            }
        }

        impl QueueDiscipline for Discipline {
            #[inline]
            fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
                match self {
                    $(Self::$kind(queue) => queue.enqueue(context, packet),)+
                }
            }

            #[inline]
            fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
                match self {
                    $(Self::$kind(queue) => queue.dequeue(context),)+
                }
            }

            fn next_ready(&self, now: Time) -> Option<Time> {
                match self {
                    $(Self::$kind(queue) => queue.next_ready(now),)+
                }
            }

            fn backlog(&self) -> Backlog {
                match self {
                    $(Self::$kind(queue) => queue.backlog(),)+
                }
            }

            fn is_bypassed_when_idle(&self) -> bool {
                match self {
                    $(Self::$kind(queue) => queue.is_bypassed_when_idle(),)+
                }
            }

            fn average(&self) -> Option<f64> {
                match self {
                    $(Self::$kind(queue) => queue.average(),)+
                }
            }

            fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
                Box::new(self.clone())
            }
        }
    };
}

disciplines! {
    /// First in, first out, tail drop.
    DropTail(DropTail, DropTailConfig),
    /// Deficit round robin.
    Drr(crate::Drr, crate::DrrConfig),
    /// Stochastic fairness queueing, as Linux has it.
    Sfq(crate::Sfq, crate::SfqConfig),
    /// `CoDel` for each of many queues.
    FqCodel(crate::FqCodel, crate::FqCodelConfig),
    /// PIE for each of many queues.
    FqPie(crate::FqPie, crate::FqPieConfig),
    /// A shaper with tins, host fairness and COBALT.
    Cake(crate::Cake, crate::CakeConfig),
    /// Strict priority among bands.
    Prio(Prio, PrioConfig),
    /// A token-bucket filter in front of another discipline.
    Tbf(Tbf, TbfConfig),
    /// First in, first out, head drop.
    HeadDrop(HeadDrop, HeadDropConfig),
    /// Random early detection as Floyd and Jacobson, and ns-2, have it.
    Red(Red, RedConfig),
    /// Random early detection as Linux has it.
    LinuxRed(LinuxRed, LinuxRedConfig),
    /// Flow-proportional queueing.
    Fpq(Fpq, FpqConfig),
    /// A probability driven by overflow and idleness.
    Blue(Blue, BlueConfig),
    /// Drops at the head after a standing delay.
    Codel(Codel, CodelConfig),
    /// A drop probability that holds the delay.
    Pie(Pie, PieConfig),
    /// A drop probability that is squared for classic traffic.
    Pi2(Pi2, Pi2Config),
    /// Coupled queues for low-latency and classic traffic.
    DualPi2(DualPi2, DualPi2Config),
    /// Marks beyond a threshold.
    Step(Step, StepConfig),
    /// A discipline from outside this crate.
    Custom(Box<dyn QueueDiscipline>, CustomQueue),
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

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        (**self).boxed_clone()
    }
}

impl QueueConfig {
    /// Drop tail with this limit.
    pub fn drop_tail(limit: Limit) -> Self {
        Self::DropTail(DropTailConfig { limit })
    }
}
