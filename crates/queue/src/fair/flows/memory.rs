//! The kernel memory that a packet would take.

/// Returns the bytes of kernel memory that Linux books for a frame (`skb->truesize`): 256 bytes of
/// `sk_buff`, and a buffer for the frame and 320 bytes of `skb_shared_info`, whose size is a power
/// of two. A full Ethernet frame takes 2,304 bytes and an ACK 768. Drivers that receive into pages
/// book more.
#[inline]
pub fn truesize(frame_bytes: u64) -> u64 {
    256 + (frame_bytes + 320).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_2304_bytes_and_an_ack_768() {
        assert_eq!((truesize(1514), truesize(66)), (2304, 768));
    }
}
