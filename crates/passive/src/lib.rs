//! From a packet trace to flows, round-trip times, bottlenecks and loss bursts.
