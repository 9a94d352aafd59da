//! Broken rules, to show that comparing the engines finds them.

/// A rule of the simulation, broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// One packet (or one byte) more may wait.
    LimitOffByOne,
    /// Simultaneous arrivals at a link keep the order in which they were scheduled.
    TiesByInsertion,
    /// A host's timer goes before a packet delivered at the same instant.
    TimerBeforeDelivery,
    /// What arrives at a link goes before what its host sends at the same instant.
    ArrivalBeforeWake,
    /// What arrives at a link goes before the end of a transmission at the same instant.
    ArrivalBeforeServiceEnd,
    /// Transmission times are rounded down instead of up.
    ServiceTimeRoundedDown,
    /// Framing takes no time on the wire.
    FramingForgotten,
    /// The reported backlog includes the frame in transmission.
    FrameInServiceCounted,
    /// A frame that finds the transmitter idle passes through the backlog.
    IdleLinkQueues,
    /// The drop list counts arrivals from 1.
    DropListFromOne,
    /// The drop list counts what the queue let in instead of what arrived.
    DropListBehindQueue,
    /// What happens at the very end does not happen.
    EndExcluded,
    /// An idle link sends an arrival at once, whatever its discipline.
    EveryQueueBypassed,
    /// A queue is not asked when its link becomes idle and nothing waits.
    EmptyQueueNotAsked,
    /// A queue that holds packets back is not asked again before the next arrival.
    ReadinessForgotten,
    /// What is lost after its transmission is lost before the queue, and the other way round.
    LossPlacesSwapped,
    /// Every queue has a buffer of its own.
    BuffersNotShared,
    /// Transmissions begin in outages, too.
    OutageIgnored,
    /// Packets overtake one another where jitter keeps their order.
    OrderNotKept,
    /// Chance decides on the way of a packet even if it is lost.
    ImpairedBeforeLoss,
    /// A copy waits with the packet that it is made of where that is held back.
    CopyHeldBack,
    /// Links that only delay do not.
    PureDelayForgotten,
    /// Only what queues drop is put down to their links.
    LinkLossNotBlamed,
    /// A flow's marks are not put down to any link.
    MarksNotBlamed,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 24] = [
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
        Self::ImpairedBeforeLoss,
        Self::CopyHeldBack,
        Self::PureDelayForgotten,
        Self::LinkLossNotBlamed,
        Self::MarksNotBlamed,
    ];
}
