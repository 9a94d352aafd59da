//! A sender sends segments in units of several (Linux: `tcp_write_xmit`, `tcp_tso_should_defer`).

use crate::peer::{ACK, MSS, Peer};
use goodqueue_tcp::{CongestionControlConfig, ENDLESS, InitialSsthresh, Profile, TcpConfig};
use goodqueue_types::{Segment, SegmentFlags};

/// Returns a sender in congestion avoidance with ten segments of 1000 bytes in flight and a round
/// trip of 100 ms. The pace sends less than a segment in a millisecond, so a unit is two segments.
fn sender(adjust: impl FnOnce(&mut TcpConfig)) -> Peer {
    let mut config = TcpConfig::profile(Profile::Linux);
    config.mss = MSS as u32;
    config.timestamps = None;
    config.congestion_control = CongestionControlConfig::Reno;
    config.initial_ssthresh = InitialSsthresh::Segments(10);
    adjust(&mut config);
    let mut peer = Peer::accepted(config);
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen().len(), 10);
    peer
}

/// Returns the number of segments that are sent in answer to an ACK of the first `segments`
/// segments.
fn sent_for(peer: &mut Peer, segments: u64) -> usize {
    peer.say(peer.segment(1, 1 + segments * MSS, ACK, 0)).len()
}

#[test]
fn less_than_a_unit_waits_for_an_ack_that_is_due() {
    let mut peer = sender(|_| {});
    peer.wait(100);
    // The window allows three segments. The ACK of the segment that was sent with them is due now.
    assert_eq!(sent_for(&mut peer, 3), 2);
    assert_eq!(sent_for(&mut peer, 4), 2);
    // A single segment does not wait, because no segment was sent in the last millisecond.
    peer.wait(2);
    assert_eq!(sent_for(&mut peer, 5), 1);
}

#[test]
fn nothing_waits_for_an_ack_that_is_far() {
    let mut peer = sender(|_| {});
    // The next ACK is expected a smoothed round trip after its segment was sent, 8.75 ms from now.
    peer.wait(90);
    assert_eq!(sent_for(&mut peer, 3), 3);
}

/// Recorded on Linux 6.18 (docs/calibrate.md): the last segment of a unit of two has PSH, a single
/// segment has none.
#[test]
fn the_last_segment_of_a_unit_is_pushed() {
    let mut peer = sender(|_| {});
    peer.wait(90);
    let sent = peer.say(peer.segment(1, 1 + 3 * MSS, ACK, 0));
    let pushed: Vec<_> = sent.iter().map(is_pushed).collect();
    assert_eq!(pushed, [false, true, false]);
    // A retransmission is no unit.
    peer.wait(1000);
    let again = peer.expire().1;
    assert_eq!(again.iter().filter(|segment| is_pushed(segment)).count(), 0);
}

fn is_pushed(segment: &Segment) -> bool {
    segment.flags.contains(SegmentFlags::PSH)
}

#[test]
fn nothing_waits_without_units() {
    let mut peer = sender(|config| config.details.segmentation_offload = false);
    peer.wait(100);
    assert_eq!(sent_for(&mut peer, 3), 3);
}
