//! Keys that several disciplines share.

use goodqueue_types::parameters::{
    Key, Kind, LARGEST, TIMER, Tc, flag, key, limit, number, rate, size,
};

/// Discipline of a queue.
pub const KIND: Key = key(
    "kind",
    Kind::Choice(crate::QueueConfig::WORDS),
    "\"drop_tail\"",
    "codel",
    "The queue discipline; the pages in `docs/queues` say what each does.",
);

/// Largest backlog, in any unit.
pub const LIMIT: Key = limit().tc("limit").example("100p").doc(
    "The most that may wait beside the frame in transmission: packets `100p`, frame bytes `64KiB`, \
     time at the link's rate `50ms`, bandwidth-delay products `1.5bdp`, or `unlimited`.",
);

/// Marks instead of drops.
pub const ECN: Key = flag()
    .tc("ecn")
    .example("true")
    .doc("Mark ECN-capable packets instead of dropping them.");

/// Frame of a link, or a few.
pub const FRAME: Kind = Kind::Size {
    min: 1,
    max: 1_000_000_000,
};

/// Reason why `tc` cannot set the size of a full frame.
pub const DEVICE_MTU: Tc = Tc::Fixed("it is the device's, 1514 for Ethernet");

/// Number of queues that Linux's flow queues accept.
pub const QUEUES: Kind = Kind::Integer {
    min: 1,
    max: 65_536,
};

/// Number of queues into which flows are hashed.
pub const FLOWS: Key = Key::new(QUEUES)
    .tc("flows")
    .example("1024")
    .doc("Queues into which flows are hashed.");

/// Frame bytes of a round.
pub const QUANTUM: Key = size(0, 1_000_000_000)
    .tc("quantum")
    .example("300B")
    .doc("Frame bytes that each queue may send in a round.");

/// Packet that a full queue loses.
pub const HEADDROP: Key = flag()
    .tc("headdrop")
    .example("true")
    .doc("A queue that loses a packet loses its oldest, not its newest.");

/// Any size that a file may give.
pub const ANY_SIZE: Kind = Kind::Size {
    min: 0,
    max: LARGEST,
};

/// Gain of a controller, per second.
pub const GAIN: Key = number(0.0, 1_000.0);

/// Queueing delay at which a controller holds the queue.
pub const DELAY_TARGET: Key = Key::new(TIMER)
    .tc("target")
    .example("20ms")
    .doc("The queueing delay to hold.");

/// Time between two steps of a controller.
pub const TUPDATE: Key = Key::new(TIMER)
    .tc("tupdate")
    .example("16ms")
    .doc("Time between updates of the probability.");

/// Gain on the distance to the target.
pub const ALPHA: Key = GAIN
    .example("0.125")
    .doc("Gain on the distance to the target, per second.");

/// Gain on the change of the delay.
pub const BETA: Key = GAIN
    .example("1.25")
    .doc("Gain on the change of the delay, per second.");

/// Full frame of a controller that spares two of them.
pub const FULL_FRAME: Key = Key::new(FRAME)
    .in_tc(DEVICE_MTU)
    .example("1500B")
    .doc("Frame bytes of a full packet; with fewer than two waiting nothing is dropped at random.");

/// Ratio of the marking probability to the square root of the drop probability.
pub const COUPLING: Key = number(0.0, 100.0)
    .named("coupling_factor")
    .in_tc(Tc::Parts("coupling_factor", 1.0))
    .example("2")
    .doc(
        "Ratio of the mark probability of scalable traffic to the square root of the classic drop \
         probability.",
    );

/// Mean packet of a link.
pub const MEAN: Kind = Kind::Size {
    min: 1,
    max: 100_000,
};

/// Rate at which an average decays.
pub const BANDWIDTH: Key = rate()
    .tc("bandwidth")
    .default("the link's rate")
    .example("10Mbps")
    .doc("Rate at which packets are imagined to leave while the link is idle.");

/// Number without unit, up to a thousand.
pub const FACTOR: Key = number(0.0, 1_000.0);
