use super::*;
use crate::{Profile, Recovery};
use goodqueue_types::Span;

struct Host {
    receiver: Receiver,
    config: TcpConfig,
    stats: TcpStats,
}

fn host(adjust: impl FnOnce(&mut TcpConfig)) -> Host {
    let mut config = TcpConfig::profile(Profile::Rfc);
    config.mss = 1000;
    config.recovery = Recovery::Sack;
    adjust(&mut config);
    let mut receiver = Receiver::new(&config);
    receiver.open();
    Host {
        receiver,
        config,
        stats: TcpStats::default(),
    }
}

impl Host {
    fn take(&mut self, seq: u64, payload: u32) -> AckDue {
        let segment = Segment {
            seq,
            ack: 1,
            window: 0,
            payload,
            header: 40,
            flags: SegmentFlags::ACK,
            sack: SackBlocks::default(),
            ..Segment::default()
        };
        self.receiver
            .on_data(Time::ZERO, &segment, &self.config, &mut self.stats);
        self.receiver.ack_due
    }

    fn blocks(&self) -> Vec<(u64, u64)> {
        self.receiver
            .sack_blocks(&self.config)
            .ranges(self.receiver.next)
            .collect()
    }
}

/// RFC 2018 section 4: the block of the segment that caused the ACK comes first, then the blocks
/// reported most recently.
#[test]
fn blocks_are_ordered_by_recency() {
    let mut host = host(|_| {});
    for seq in [2001, 4001, 6001, 8001] {
        assert_eq!(host.take(seq, 500), AckDue::NowPure);
    }
    assert_eq!(
        host.blocks(),
        [(8001, 8501), (6001, 6501), (4001, 4501), (2001, 2501)]
    );
    host.take(4501, 500);
    assert_eq!(
        host.blocks(),
        [(4001, 5001), (8001, 8501), (6001, 6501), (2001, 2501)]
    );
    // A fifth range displaces the one reported longest ago.
    host.take(10_001, 500);
    assert_eq!(
        host.blocks(),
        [(10_001, 10_501), (4001, 5001), (8001, 8501), (6001, 6501)]
    );
    // Two ranges merge into one.
    host.take(6501, 1500);
    assert_eq!(
        host.blocks(),
        [(6001, 8501), (10_001, 10_501), (4001, 5001)]
    );
}

/// The example of RFC 2018 section 5: segments of 500 bytes from 5000, of which the first of eight
/// is lost.
#[test]
fn a_growing_block() {
    let mut host = host(|_| {});
    host.receiver.next = 5000;
    for arrived in 1..8 {
        host.take(5000 + 500 * arrived, 500);
        assert_eq!(host.blocks(), [(5500, 5500 + 500 * arrived)]);
    }
    host.take(5000, 500);
    assert_eq!((host.receiver.next, host.blocks()), (9000, vec![]));
    assert_eq!(
        host.receiver.ack_due,
        AckDue::NowPure.max_urgency(AckDue::Now)
    );
}

#[test]
fn every_second_segment_is_acknowledged_or_the_timer_does() {
    let mut host = host(|_| {});
    assert_eq!(host.take(1, 1000), AckDue::Delayed);
    assert_eq!(
        host.receiver.ack_deadline,
        Time::ZERO + Span::from_millis(200)
    );
    assert_eq!(host.take(1001, 1000), AckDue::Now);
    host.receiver.ack_sent();
    assert_eq!(host.take(2001, 1000), AckDue::Delayed);
    host.receiver
        .handle_timeout(Time::ZERO + Span::from_millis(200), &host.config);
    assert_eq!(host.receiver.ack_due, AckDue::Now);
}

#[test]
fn duplicates_and_overlaps_are_counted() {
    let mut host = host(|_| {});
    host.take(1, 1000);
    assert_eq!(host.take(1, 1000), AckDue::NowPure);
    host.take(3001, 1000);
    host.take(501, 3000);
    let stats = host.stats;
    assert_eq!(
        (stats.delivered_bytes, stats.received_payload_bytes),
        (4000, 6000)
    );
    assert_eq!(stats.duplicate_payload_bytes, 2000);
}

/// RFC 1122 section 4.2.3.3: the right edge stays until it can move by min(buffer/2, MSS).
#[test]
fn the_window_opens_in_large_steps() {
    let mut host = host(|config| config.receive_window = 4000);
    host.receiver.set_reading(false);
    for segment in 0..4 {
        host.take(1 + 1000 * segment, 1000);
    }
    assert_eq!(host.receiver.advertise(&host.config), 0);
    host.receiver.ack_sent();
    assert_eq!(host.receiver.read(999, &host.config, &mut host.stats), 999);
    assert_eq!(host.receiver.advertise(&host.config), 0);
    assert_eq!(host.receiver.ack_due, AckDue::No);
    assert_eq!(host.receiver.read(1, &host.config, &mut host.stats), 1);
    assert_eq!(host.receiver.ack_due, AckDue::Now, "a window update");
    assert_eq!(host.receiver.advertise(&host.config), 1000);
    // Data beyond the window are not accepted.
    host.take(5001, 1000);
    assert_eq!(host.receiver.next, 4001);
}

/// RFC 7323: the scale fits the buffer into 16 bits, and the window advertised is a multiple of its
/// unit.
#[test]
fn windows_are_scaled() {
    let window = |buffer| {
        let mut host = host(|config| config.receive_window = buffer);
        (host.receiver.shift, host.receiver.advertise(&host.config))
    };
    assert_eq!(window(65_535), (0, 65_535));
    assert_eq!(window(100_001), (1, 100_000));
    assert_eq!(window(100_000_000), (11, 100_000_000 >> 11 << 11));
    let mut unscaled = host(|config| config.window_scaling = false);
    assert_eq!(unscaled.receiver.advertise(&unscaled.config), 65_535);
}
