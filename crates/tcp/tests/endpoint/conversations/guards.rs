//! Go-back-N sends data again that may have arrived. The duplicate ACKs that answer them must
//! neither start fast retransmits endlessly nor raise the window. Segments have 1000 bytes and
//! round trips take 100 ms.

use crate::peer;

use crate::peer::{ACK, MSS, Peer};
use goodqueue_tcp::{ENDLESS, FastRetransmitGuard, InitialWindow, Recovery, TcpConfig};

fn sender(recovery: Recovery, adjust: impl FnOnce(&mut TcpConfig)) -> Peer {
    let mut peer = Peer::connected(peer::config(|config| {
        config.recovery = recovery;
        config.limited_transmit = false;
        config.initial_window = InitialWindow::Segments(20);
        adjust(config);
    }));
    peer.host.write(ENDLESS);
    assert_eq!(peer.listen().len(), 20);
    peer.wait(100);
    peer
}

/// Sends `count` ACKs of the first `segments` segments. Returns the numbers of the segments that
/// leave.
fn acks(peer: &mut Peer, segments: u64, count: usize) -> Vec<u64> {
    let mut sent = Vec::new();
    for _ in 0..count {
        let left = peer.say(peer.segment(1, 1 + segments * MSS, ACK, 0));
        sent.extend(left.iter().map(|segment| (segment.seq - 1) / MSS));
    }
    sent
}

/// Tahoe goes back at a fast retransmit. INET's switches remove its guard, but INET's Tahoe does
/// not go back.
#[test]
fn tahoe_ignores_duplicate_acks_of_its_own_repetitions() {
    for lifted in [false, true] {
        let mut peer = sender(Recovery::Tahoe, |config| {
            config.details.fast_retransmit_guard = FastRetransmitGuard::Never;
            config.details.new_ack_lifts_guard = lifted;
        });
        assert_eq!(acks(&mut peer, 0, 3), [0]);
        peer.wait(100);
        assert_eq!(acks(&mut peer, 10, 1), [10, 11]);
        assert_eq!(acks(&mut peer, 10, 3), [0; 0], "lifted: {lifted}");
    }
}

/// RFC 5681 equation 4 halves the data in flight. After a timeout these are the data that have left
/// again, here 2 of 20 segments. Without guard, duplicate ACKs start a fast retransmit then.
#[test]
fn a_fast_retransmit_after_a_timeout_halves_the_data_sent_since() {
    let mut peer = sender(Recovery::NewReno, |config| {
        config.details.new_ack_lifts_guard = true;
    });
    peer.expire();
    peer.wait(100);
    assert_eq!(acks(&mut peer, 1, 1), [1, 2]);
    acks(&mut peer, 1, 3);
    assert_eq!(peer.host.info().ssthresh, Some(2 * MSS));
}
