//! The counters of an agent, and their values at the start of the measurements.

use goodqueue_tcp::TimeLimited;

/// Counters whose growth since the warm-up is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    pub sent: u64,
    pub received: u64,
    pub received_ip_bytes: u64,
    pub received_payload_bytes: u64,
    pub duplicate_payload_bytes: u64,
    pub retransmissions: u64,
    pub timeouts: u64,
    pub limited: TimeLimited,
}

impl Counters {
    /// Returns the payload bytes that arrived for the first time.
    pub fn new_payload_bytes(&self) -> u64 {
        self.received_payload_bytes - self.duplicate_payload_bytes
    }

    /// Returns the growth of all counters since `then`.
    pub fn since(&self, then: &Self) -> Self {
        let (now, before) = (self.counts(), then.counts());
        let limited = std::array::from_fn(|of| self.limited[of].saturating_sub(then.limited[of]));
        Self::new(std::array::from_fn(|of| now[of] - before[of]), limited)
    }

    fn counts(&self) -> [u64; 7] {
        [
            self.sent,
            self.received,
            self.received_ip_bytes,
            self.received_payload_bytes,
            self.duplicate_payload_bytes,
            self.retransmissions,
            self.timeouts,
        ]
    }

    fn new(counts: [u64; 7], limited: TimeLimited) -> Self {
        let [
            sent,
            received,
            received_ip_bytes,
            received_payload_bytes,
            duplicate_payload_bytes,
            retransmissions,
            timeouts,
        ] = counts;
        Self {
            sent,
            received,
            received_ip_bytes,
            received_payload_bytes,
            duplicate_payload_bytes,
            retransmissions,
            timeouts,
            limited,
        }
    }
}

/// Values of counters in little memory, because every agent keeps them from the warm-up on.
#[derive(Clone, Debug)]
pub struct Baseline {
    counts: Counts,
    /// None if no cause has limited the agent, as with one that only receives.
    limited: Option<Box<TimeLimited>>,
}

#[derive(Clone, Debug)]
enum Counts {
    Narrow([u32; 7]),
    /// A count exceeds 32 bits.
    Wide(Box<[u64; 7]>),
}

impl Baseline {
    /// Keeps the present values.
    pub fn new(counters: &Counters) -> Self {
        let counts = counters.counts();
        let fit = counts.iter().all(|count| u32::try_from(*count).is_ok());
        Self {
            counts: if fit {
                Counts::Narrow(counts.map(|count| count as u32))
            } else {
                Counts::Wide(Box::new(counts))
            },
            limited: (counters.limited != TimeLimited::default())
                .then(|| Box::new(counters.limited)),
        }
    }

    /// Returns the values.
    pub fn get(&self) -> Counters {
        let counts = match &self.counts {
            Counts::Narrow(counts) => counts.map(u64::from),
            Counts::Wide(counts) => **counts,
        };
        Counters::new(counts, self.limited.as_deref().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::Span;

    #[test]
    fn any_values_are_kept() {
        let small = Counters {
            sent: 7,
            timeouts: 2,
            ..Counters::default()
        };
        let large = Counters {
            received_ip_bytes: 1 << 32,
            limited: [Span(1), Span(2), Span(3), Span(4), Span(5)],
            ..small
        };
        for counters in [small, large] {
            assert_eq!(Baseline::new(&counters).get(), counters);
        }
        let grown = large.since(&small);
        assert_eq!((grown.sent, grown.received_ip_bytes), (0, 1 << 32));
        assert_eq!(grown.limited, large.limited);
        assert!(size_of::<Baseline>() <= 48);
    }
}
