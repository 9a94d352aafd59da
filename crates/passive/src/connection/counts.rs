//! Counts of one direction of a connection.

use crate::connection::segment_size::SegmentSize;
use crate::loss::Place;

/// Counts of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Payload bytes, without repetitions.
    pub bytes: u64,
    /// IP bytes of segments with data, including retransmissions.
    pub ip_bytes: u64,
    /// Bytes of their frames: IP bytes and the link's own headers that the capture shows.
    pub frame_bytes: u64,
    /// Number of segments with data. A super-segment counts as its segments.
    pub packets: u64,
    /// Number of segments with data as captured. A super-segment counts once.
    pub captured: u64,
    /// Bytes of their IP and TCP headers.
    pub header_bytes: u64,
    /// Number of retransmitted segments.
    pub retransmissions: u64,
    /// Number of recoveries that began with a fast retransmission.
    pub fast: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Number of retransmitted segments whose earlier copy had arrived.
    pub spurious: u64,
    /// Number of reordered packets, which came late without a retransmission.
    pub reordered: u64,
    /// Packets lost, by place.
    pub lost: [u64; Place::COUNT],
    /// Packets marked, by place: between the tapping points, or before them.
    pub marked: [u64; Place::COUNT],
    /// Segments below full size, except the last ones before a pause.
    pub small: u64,
}

impl Counts {
    /// Returns the counts for the final size of full segments. Packets that were lost or sent again
    /// are among all packets.
    #[must_use]
    pub fn settled(mut self, size: &SegmentSize) -> Self {
        let lost: u64 = self.lost.iter().sum();
        self.packets = size.packets(self.packets, self.captured).max(lost);
        let parts = [
            &mut self.retransmissions,
            &mut self.spurious,
            &mut self.reordered,
            &mut self.small,
        ];
        for part in parts {
            *part = (*part).min(self.packets);
        }
        self
    }
}
