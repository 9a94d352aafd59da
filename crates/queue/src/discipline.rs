//! The built-in disciplines as one enum, so that calls to a link's queue are dispatched statically.

use crate::{
    Backlog, Blue, BlueConfig, Codel, CodelConfig, Configuration, Context, CustomQueue, DropTail,
    DropTailConfig, DualPi2, DualPi2Config, Fpq, FpqConfig, HeadDrop, HeadDropConfig, Limit,
    LinuxRed, LinuxRedConfig, Pi2, Pi2Config, Pie, PieConfig, Prio, PrioConfig, QueueDiscipline,
    Red, RedConfig, Refusal, Step, StepConfig, Tbf, TbfConfig,
};
use goodqueue_types::{Packet, RandomStream, Time};

/// Generates the two enums and their dispatch from one list.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $kind:ident($queue:ty, $config:ty),)+) => {
        /// State of a queue discipline.
        #[derive(Clone, Debug)]
        pub enum Discipline {
            $($(#[$doc])* $kind($queue),)+
        }

        /// Parameters of a queue discipline.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $($(#[$doc])* $kind($config),)+
        }

        impl QueueConfig {
            /// Names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($kind)),+];

            /// Returns the name of the discipline's kind.
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
    /// Drop tail: a FIFO that drops arrivals when it is full.
    DropTail(DropTail, DropTailConfig),
    /// Deficit round robin.
    Drr(crate::Drr, crate::DrrConfig),
    /// Stochastic fairness queueing as in Linux.
    Sfq(crate::Sfq, crate::SfqConfig),
    /// `CoDel` on each of many queues.
    FqCodel(crate::FqCodel, crate::FqCodelConfig),
    /// PIE on each of many queues.
    FqPie(crate::FqPie, crate::FqPieConfig),
    /// A shaper with tins, host fairness and COBALT.
    Cake(crate::Cake, crate::CakeConfig),
    /// Strict priority among bands.
    Prio(Prio, PrioConfig),
    /// A token-bucket filter in front of another discipline.
    Tbf(Tbf, TbfConfig),
    /// Head drop: a FIFO that drops its oldest packet when it is full.
    HeadDrop(HeadDrop, HeadDropConfig),
    /// Random early detection after Floyd and Jacobson, as in ns-2.
    Red(Red, RedConfig),
    /// Random early detection as in Linux.
    LinuxRed(LinuxRed, LinuxRedConfig),
    /// Flow-proportional queueing.
    Fpq(Fpq, FpqConfig),
    /// BLUE: a drop probability driven by overflow and idleness.
    Blue(Blue, BlueConfig),
    /// `CoDel`: drops at the head while there is a standing queue.
    Codel(Codel, CodelConfig),
    /// PIE: a drop probability that holds the queueing delay at a target.
    Pie(Pie, PieConfig),
    /// PI2: a probability that is squared for classic traffic.
    Pi2(Pi2, Pi2Config),
    /// `DualPI2`: coupled queues for low-latency and classic traffic.
    DualPi2(DualPi2, DualPi2Config),
    /// A FIFO that marks packets beyond a threshold.
    Step(Step, StepConfig),
    /// A discipline that is defined outside this crate.
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
    /// Returns drop tail with this limit.
    pub fn drop_tail(limit: Limit) -> Self {
        Self::DropTail(DropTailConfig { limit })
    }
}
