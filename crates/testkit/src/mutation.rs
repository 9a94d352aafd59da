//! Deliberate errors in the simulation's rules, which show that the comparison of the engines finds
//! them.

/// A deliberate error in one rule of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The queue accepts one packet (or one byte) more than its limit.
    LimitOffByOne,
    /// Simultaneous arrivals at a link keep the order in which they were scheduled.
    TiesByInsertion,
    /// A host's timer fires before a packet is delivered at the same instant.
    TimerBeforeDelivery,
    /// Arrivals at links are processed before hosts send at the same instant.
    ArrivalBeforeWake,
    /// A packet arrives before the end of a transmission at the same instant.
    ArrivalBeforeServiceEnd,
    /// Transmission times are rounded down instead of up.
    ServiceTimeRoundedDown,
    /// Framing takes no time on the wire.
    FramingForgotten,
    /// The reported backlog includes the frame in transmission.
    FrameInServiceCounted,
    /// A frame that finds the transmitter idle is counted in the backlog.
    IdleLinkQueues,
    /// The drop list counts arrivals from 1.
    DropListFromOne,
    /// The drop list counts the packets that the queue accepted instead of those that arrived.
    DropListBehindQueue,
    /// Events at the exact end of the run are not processed.
    EndExcluded,
    /// An idle link sends an arrival at once, whatever its discipline.
    EveryQueueBypassed,
    /// A link that becomes idle does not call its queue if nothing waits.
    EmptyQueueNotAsked,
    /// A link does not call a queue that holds packets back again before the next arrival.
    ReadinessForgotten,
    /// Losses before the queue and losses after the transmission are exchanged.
    LossPlacesSwapped,
    /// Queues do not share buffers.
    BuffersNotShared,
    /// Transmissions also begin in outages.
    OutageIgnored,
    /// Packets overtake one another although jitter keeps their order.
    OrderNotKept,
    /// Each arrival at a network card interrupts at once.
    EachArrivalInterrupts,
    /// Impairments are drawn even for a packet that is lost.
    ImpairedBeforeLoss,
    /// A duplicate of a packet that reordering holds back is held back, too.
    CopyHeldBack,
    /// Links that only delay packets do not delay them.
    PureDelayForgotten,
    /// Losses on a link are not attributed to it; only drops in its queue are.
    LinkLossNotBlamed,
    /// A flow's marks are not attributed to any link.
    MarksNotBlamed,
    /// A link obeys a PAUSE as soon as it has arrived.
    ReactionForgotten,
    /// A PAUSE interrupts the frame ahead of it.
    PauseInterrupts,
}

impl Mutation {
    /// All mutations.
    pub const ALL: [Self; 27] = [
        Self::LimitOffByOne,
        Self::TiesByInsertion,
        Self::TimerBeforeDelivery,
        Self::ArrivalBeforeWake,
        Self::ArrivalBeforeServiceEnd,
        Self::ServiceTimeRoundedDown,
        Self::FramingForgotten,
        Self::FrameInServiceCounted,
        Self::IdleLinkQueues,
        Self::DropListFromOne,
        Self::DropListBehindQueue,
        Self::EndExcluded,
        Self::EveryQueueBypassed,
        Self::EmptyQueueNotAsked,
        Self::ReadinessForgotten,
        Self::LossPlacesSwapped,
        Self::BuffersNotShared,
        Self::OutageIgnored,
        Self::OrderNotKept,
        Self::EachArrivalInterrupts,
        Self::ImpairedBeforeLoss,
        Self::CopyHeldBack,
        Self::PureDelayForgotten,
        Self::LinkLossNotBlamed,
        Self::MarksNotBlamed,
        Self::ReactionForgotten,
        Self::PauseInterrupts,
    ];
}
