//! Counts of what the readers skipped, by reason.

/// Reason for skipping a part of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// Invalid bytes between records, counted in bytes.
    DamagedBytes,
    /// The file ends within a record.
    CutRecord,
    /// A pcapng block that neither holds a packet nor describes any.
    OtherBlock,
    /// A record too long to be a packet.
    OversizedRecord,
    /// A packet of an interface that the file has not described.
    UnknownInterface,
    /// A frame of a link type that goodqueue does not read.
    UnknownLinkType,
    /// A frame that is encrypted.
    Encrypted,
    /// A frame that carries another protocol than IP (ARP, LLDP, …).
    NotIp,
    /// A frame whose captured part ends within its headers.
    CutHeader,
    /// An IP or TCP header that contradicts itself.
    BadHeader,
    /// A fragment of an IP packet other than the first, which has no ports.
    LaterFragment,
    /// A line without the columns of a trace.
    BadLine,
    /// A packet whose time lies far from those of its neighbours.
    OddTime,
}

impl Skip {
    /// Number of reasons.
    pub const COUNT: usize = 13;
    /// All reasons, each at the index `skip as usize`.
    pub const ALL: [Self; Self::COUNT] = [
        Self::DamagedBytes,
        Self::CutRecord,
        Self::OtherBlock,
        Self::OversizedRecord,
        Self::UnknownInterface,
        Self::UnknownLinkType,
        Self::Encrypted,
        Self::NotIp,
        Self::CutHeader,
        Self::BadHeader,
        Self::LaterFragment,
        Self::BadLine,
        Self::OddTime,
    ];

    /// Returns the name of the reason in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DamagedBytes => "damaged_bytes",
            Self::CutRecord => "cut_record",
            Self::OtherBlock => "other_block",
            Self::OversizedRecord => "oversized_record",
            Self::UnknownInterface => "unknown_interface",
            Self::UnknownLinkType => "unknown_link_type",
            Self::Encrypted => "encrypted",
            Self::NotIp => "not_ip",
            Self::CutHeader => "cut_header",
            Self::BadHeader => "bad_header",
            Self::LaterFragment => "later_fragment",
            Self::BadLine => "bad_line",
            Self::OddTime => "odd_time",
        }
    }
}

/// Number of skipped parts for each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Skip::COUNT]);

impl Tally {
    /// Counts one occurrence of a reason.
    pub fn add(&mut self, skip: Skip) {
        self.add_many(skip, 1);
    }

    /// Counts `count` occurrences of a reason.
    pub fn add_many(&mut self, skip: Skip, count: u64) {
        self.0[skip as usize] += count;
    }

    /// Returns the count of a reason.
    pub fn count(&self, skip: Skip) -> u64 {
        self.0[skip as usize]
    }

    /// Iterates over the reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Skip, u64)> + '_ {
        let counts = Skip::ALL.into_iter().zip(self.0);
        counts.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_at_its_index() {
        for (index, skip) in Skip::ALL.into_iter().enumerate() {
            assert_eq!(skip as usize, index, "{}", skip.name());
        }
    }
}
