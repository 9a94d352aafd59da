//! The window that the peer offers.

use goodqueue_types::Segment;

/// The peer's window in bytes, and the segment from which it was taken.
#[derive(Debug, Default)]
pub(crate) struct PeerWindow {
    bytes: u32,
    /// Largest window that the peer ever offered.
    largest: u32,
    seq: u64,
    ack: u64,
}

impl PeerWindow {
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    #[inline]
    pub fn largest(&self) -> u64 {
        u64::from(self.largest)
    }

    /// Takes the window of a handshake.
    pub fn set(&mut self, bytes: u32) {
        self.bytes = bytes;
        self.largest = self.largest.max(bytes);
    }

    /// Takes the window of a segment unless the segment is older than the last one taken (RFC 9293
    /// section 3.10.7.4). A segment that acknowledges more than `una` is never older, though its data
    /// may be sent again (Linux). Returns true if the window changed.
    #[inline]
    pub fn update(&mut self, una: u64, segment: &Segment) -> bool {
        let newer = segment.ack > una
            || segment.seq > self.seq
            || (segment.seq == self.seq && segment.ack >= self.ack);
        if !newer || segment.ack < una {
            return false;
        }
        self.seq = segment.seq;
        self.ack = segment.ack;
        let changed = segment.window != self.bytes;
        if changed {
            self.set(segment.window);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 section 3.10.7.4: SND.WL1 and SND.WL2 keep the window of an older segment out.
    #[test]
    fn only_a_segment_that_is_not_older_changes_the_window() {
        let segment = |seq, ack, window| Segment {
            seq,
            ack,
            window,
            ..Segment::default()
        };
        let mut window = PeerWindow::default();
        window.set(1000);
        assert!(window.update(1, &segment(10, 5, 3000)));
        assert!(!window.update(5, &segment(9, 5, 9000)), "an older segment");
        assert!(!window.update(5, &segment(10, 4, 9000)), "an older ACK");
        assert!(!window.update(5, &segment(11, 5, 3000)), "the same window");
        assert!(window.update(5, &segment(11, 5, 200)));
        assert!(
            window.update(5, &segment(2, 6, 400)),
            "data that are sent again"
        );
        assert_eq!((window.bytes(), window.largest()), (400, 3000));
    }
}
