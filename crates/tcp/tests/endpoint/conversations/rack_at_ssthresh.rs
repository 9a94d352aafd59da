//! RACK (RFC 8985) with RFC 6675's window in recovery: the `rfc` profile with
//! `loss_detection = "rack"`. Segments have 1000 bytes. The handshake and round trips take 100 ms.

use crate::peer;

use crate::peer::{ACK, MSS, Peer};
use goodqueue_tcp::{CaState, DecreaseBasis, ENDLESS, InitialWindow, LossDetection, TcpConfig};

fn config() -> TcpConfig {
    peer::config(|config| {
        config.initial_window = InitialWindow::Segments(20);
        config.loss_detection = LossDetection::Rack;
    })
}

/// Returns a sender with 20 segments in flight and endless data.
fn twenty_in_flight(config: TcpConfig) -> Peer {
    let mut peer = Peer::connected(config);
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen().len(), 20);
    peer.wait(100);
    peer
}

/// Sends an ACK of the first `segments` segments with a SACK block. Returns the number of segments
/// that leave.
fn ack(peer: &mut Peer, segments: u64, (start, end): (u64, u64)) -> usize {
    let number = 1 + segments * MSS;
    let mut segment = peer.segment(1, number, ACK, 0);
    assert!(segment.sack.push(number, 1 + start * MSS, 1 + end * MSS));
    peer.say(segment).len()
}

fn state(peer: &Peer) -> (CaState, Option<u64>) {
    let info = peer.host.info();
    (info.ca_state, info.ssthresh.map(|bytes| bytes / MSS))
}

/// RFC 8985 section 3.4 and RFC 5681 section 4.3: the loss of a retransmission lowers ssthresh
/// again. It halves the data in flight, without those SACKed long ago: 20, 10, 5 segments.
#[test]
fn each_lost_retransmission_halves_the_data_in_flight() {
    let mut peer = twenty_in_flight(config());
    // Segment 0 is lost. It is sent again with 9 new ones.
    assert_eq!(ack(&mut peer, 0, (1, 20)), 10);
    assert_eq!(state(&peer), (CaState::Recovery, Some(10)));
    peer.wait(100);
    // The 9 arrived, so the retransmission is lost.
    assert_eq!(ack(&mut peer, 0, (1, 29)), 5);
    assert_eq!(state(&peer), (CaState::Recovery, Some(5)));
    peer.wait(100);
    assert_eq!(ack(&mut peer, 0, (1, 33)), 2);
    assert_eq!(state(&peer), (CaState::Recovery, Some(2)));
}

/// Two lost retransmissions of the same flight are one sign of congestion, although different ACKs
/// show them.
#[test]
fn retransmissions_lost_in_one_flight_are_one_loss_event() {
    let mut peer = twenty_in_flight(config());
    // Segments 0 and 1 are lost, and are sent again with 8 new ones.
    assert_eq!(ack(&mut peer, 0, (2, 20)), 10);
    peer.wait(99);
    ack(&mut peer, 0, (2, 24));
    assert_eq!(state(&peer), (CaState::Recovery, Some(5)));
    peer.wait(1);
    ack(&mut peer, 0, (2, 28));
    assert_eq!(state(&peer), (CaState::Recovery, Some(5)));
}

/// RFC 5681 section 3.2: segments of limited transmit do not count. Two segments leave before the
/// third SACK, and yet ssthresh is half of 20.
#[test]
fn limited_transmit_does_not_raise_ssthresh() {
    let mut peer = twenty_in_flight(config());
    for last in 2..=4 {
        ack(&mut peer, 0, (1, last));
    }
    assert_eq!(state(&peer), (CaState::Recovery, Some(10)));
}

/// If delivered segments are subtracted (ns-3), the ACK that shows the loss counts too.
#[test]
fn delivered_segments_are_subtracted_if_configured() {
    let mut config = config();
    config.details.decrease_basis = DecreaseBasis::LessDuplicates;
    let mut peer = twenty_in_flight(config);
    ack(&mut peer, 0, (1, 11));
    assert_eq!(state(&peer), (CaState::Recovery, Some(5)));
}

/// RFC 5681 section 3.1, equation 4: a timeout halves the data in flight too. The retransmission of
/// segment 0 and the 9 new segments are in flight, and no more ACKs come.
#[test]
fn a_timeout_halves_the_data_in_flight() {
    let mut peer = twenty_in_flight(config());
    ack(&mut peer, 0, (1, 20));
    assert_eq!(state(&peer), (CaState::Recovery, Some(10)));
    peer.expire();
    assert_eq!(state(&peer), (CaState::Loss, Some(5)));
}
