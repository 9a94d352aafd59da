//! The cases of ns-3's `codel-queue-disc` test suite, and consequences of RFC 8289.

use super::*;
use crate::rig::Rig;
use goodqueue_types::Ecn::{Capable0, NotCapable};
use goodqueue_types::{Ecn, Span};

const EXCEEDED: DropReason = DropReason::TargetExceeded;
const THRESHOLD: DropReason = DropReason::Forced;

/// Times of the dequeues: twice the target, two intervals later, and twice that time.
const FIRST: Span = Span::from_millis(10);
const SECOND: Span = Span::from_millis(210);
const THIRD: Span = Span::from_millis(420);

fn ns3(ecn: bool, ce_threshold: Option<Span>) -> Rig<Codel> {
    let mut config = CodelConfig::ns3(Limit::Packets(500));
    config.codel.ecn = ecn;
    config.codel.ce_threshold = ce_threshold;
    Rig::new(&config)
}

#[test]
fn packets_beyond_the_limit_are_counted_as_such() {
    for limit in [Limit::Packets(500), Limit::Bytes(500_000)] {
        let mut rig = Rig::new(&CodelConfig::ns3(limit));
        rig.enqueue(503, 1000, NotCapable);
        assert_eq!((rig.waiting(), rig.drops(DropReason::Overlimit)), (500, 3));
    }
}

#[test]
fn without_delay_all_leave_in_order() {
    let mut rig = Rig::new(&CodelConfig::linux(Limit::Packets(1500)));
    rig.enqueue(6, 1000, NotCapable);
    for number in 0..6 {
        assert_eq!(rig.dequeue().map(|packet| packet.number), Some(number));
    }
    assert_eq!((rig.dequeue(), rig.verdicts.len()), (None, 0));
}

#[test]
fn drops_have_the_times_of_ns3() {
    let mut rig = ns3(false, None);
    rig.enqueue(20, 1000, NotCapable);
    rig.at(FIRST).dequeue();
    assert_eq!(
        (rig.waiting(), rig.drops(EXCEEDED)),
        (19, 0),
        "above, but not for long"
    );
    rig.at(SECOND).dequeue();
    assert_eq!(
        (rig.waiting(), rig.drops(EXCEEDED)),
        (17, 1),
        "above for an interval"
    );
    rig.dequeue();
    assert_eq!(
        (rig.waiting(), rig.drops(EXCEEDED)),
        (16, 1),
        "not yet time for the next"
    );
    // Drops after 210 ms are due 99.998, 50.001 and 56.250 ms after one another: three by 420
    // ms.
    rig.at(THIRD).dequeue();
    assert_eq!((rig.waiting(), rig.drops(EXCEEDED)), (12, 4));
}

#[test]
fn the_rfc_drops_as_many_by_its_own_spacing() {
    let mut rig = Rig::new(&CodelConfig::rfc8289(Limit::Packets(500)));
    rig.enqueue(20, 1000, NotCapable);
    for at in [FIRST, SECOND, THIRD] {
        rig.at(at).dequeue();
    }
    // 210 + 100 = 310, + 70.711 = 380.7, + 57.735 = 438.4 ms: two drops by 420 ms.
    assert_eq!((rig.waiting(), rig.drops(EXCEEDED)), (14, 3));
}

#[test]
fn marks_replace_drops_if_ecn_is_enabled() {
    let mut rig = ns3(true, None);
    rig.enqueue(20, 1000, Capable0);
    rig.at(FIRST).dequeue();
    rig.at(SECOND).dequeue();
    assert_eq!((rig.waiting(), rig.marks(EXCEEDED)), (18, 1));
    assert_eq!(rig.dequeue().map(|packet| packet.ecn), Some(Capable0));
    assert_eq!(
        rig.at(THIRD).dequeue().map(|packet| packet.ecn),
        Some(Ecn::Experienced)
    );
    assert_eq!((rig.waiting(), rig.marks(EXCEEDED)), (16, 2));
    assert_eq!((rig.verdicts.len(), rig.marks(THRESHOLD)), (2, 0));
}

#[test]
fn packets_that_are_not_ecn_capable_are_dropped() {
    let mut rig = ns3(true, None);
    rig.enqueue(20, 1000, NotCapable);
    rig.at(FIRST).dequeue();
    rig.at(SECOND).dequeue();
    assert_eq!((rig.waiting(), rig.drops(EXCEEDED)), (17, 1));
}

#[test]
fn a_threshold_marks_packets_that_the_control_law_does_not_mark() {
    // In ns-3's case 3, three packets are ECN-capable and seventeen are not.
    let mut rig = ns3(true, Some(Span::from_millis(2)));
    rig.enqueue(3, 1000, Capable0);
    rig.enqueue(17, 1000, NotCapable);
    rig.at(FIRST).dequeue();
    assert_eq!((rig.marks(EXCEEDED), rig.marks(THRESHOLD)), (0, 1));
    rig.at(SECOND).dequeue();
    assert_eq!(
        (rig.marks(EXCEEDED), rig.marks(THRESHOLD)),
        (1, 1),
        "one mark, one report"
    );
    rig.dequeue();
    assert_eq!((rig.marks(EXCEEDED), rig.marks(THRESHOLD)), (1, 2));
    rig.at(THIRD).dequeue();
    assert_eq!((rig.marks(EXCEEDED), rig.marks(THRESHOLD)), (1, 2));
    // Drops after 210 ms come at 310, 360 and 416.2 ms.
    assert_eq!((rig.waiting(), rig.drops(EXCEEDED)), (13, 3));
}

#[test]
fn a_threshold_alone_marks_above_itself_only() {
    // ns-3's case 4, up to the target. The threshold works without ECN from the control law.
    for ecn in [true, false] {
        let mut rig = ns3(ecn, Some(Span::from_millis(2)));
        rig.enqueue(20, 1000, Capable0);
        rig.at(Span::from_millis(1)).dequeue();
        assert_eq!(rig.marks(THRESHOLD), 0);
        rig.at(Span::from_millis(3)).dequeue();
        assert_eq!(rig.marks(THRESHOLD), 1);
        rig.at(FIRST).dequeue();
        assert_eq!((rig.marks(THRESHOLD), rig.verdicts.len()), (2, 2));
    }
}

/// Returns the time of the first drop in ms. The queue is served every millisecond after `from` and
/// every packet waits for 30 ms.
fn drop_time(rig: &mut Rig<Codel>, from: u64) -> Option<u64> {
    let before = rig.drops(EXCEEDED);
    (from..from + 400).find(|now| {
        rig.at(Span::from_millis(*now)).dequeue();
        rig.enqueue(1 + rig.drops(EXCEEDED) - before, 1000, NotCapable);
        rig.drops(EXCEEDED) > before
    })
}

#[test]
fn a_short_queue_and_a_short_delay_are_no_congestion() {
    let config = CodelConfig::linux(Limit::Packets(100));
    // One full frame behind the head is not a standing queue, however long it waits.
    let mut rig = Rig::new(&config);
    rig.enqueue(2, 1500, NotCapable);
    for at in 1..20 {
        rig.at(Span::from_millis(100 * at)).dequeue();
        rig.enqueue(1, 1500, NotCapable);
    }
    assert!(rig.verdicts.is_empty());
    // A fall below the target restarts the interval.
    let mut rig = Rig::new(&config);
    rig.enqueue(30, 1000, NotCapable);
    assert_eq!(
        drop_time(&mut rig, 20),
        Some(121),
        "strictly after the interval"
    );
    let mut rig = Rig::new(&CodelConfig::rfc8289(Limit::Packets(100)));
    rig.enqueue(30, 1000, NotCapable);
    assert_eq!(
        drop_time(&mut rig, 20),
        Some(120),
        "as soon as the interval is over"
    );
}

#[test]
fn dropping_resumes_near_the_rate_that_worked() {
    let resumed = |reuse, idle_intervals: u64| {
        let mut config = CodelConfig::rfc8289(Limit::Packets(5000));
        config.codel.reuse = reuse;
        let mut rig = Rig::new(&config);
        rig.enqueue(60, 1000, NotCapable);
        for at in 10..1000 {
            rig.at(Span::from_millis(at)).dequeue();
            rig.enqueue(60 - rig.waiting() as usize, 1000, NotCapable);
        }
        let count = rig.queue.vars.count();
        let drop_next = rig.queue.vars.drop_next;
        // The queue is emptied, so that the dropping state ends, and filled again.
        while rig.dequeue().is_some() {}
        assert!(!rig.queue.vars.is_dropping());
        let start = Span(drop_next) + config.codel.interval * idle_intervals;
        rig.at(start).enqueue(60, 1000, NotCapable);
        rig.at(start + Span::from_millis(10)).dequeue();
        rig.at(start + Span::from_millis(110)).dequeue();
        assert!(rig.queue.vars.is_dropping());
        (count, rig.queue.vars.count())
    };
    let (before, after) = resumed(CountReuse::Delta, 1);
    assert!(before > 10);
    assert_eq!(after, before - 1, "drops since the count was 1");
    assert_eq!(resumed(CountReuse::Delta, 16).1, 1, "too long ago");
    let (before, after) = resumed(CountReuse::MinusTwo, 1);
    assert_eq!(after, before - 2);
    assert_eq!(resumed(CountReuse::MinusTwo, 8).1, 1);
    assert_eq!(resumed(CountReuse::Never, 1).1, 1);
}

#[test]
fn the_next_mark_counts_from_when_this_one_was_due_or_made() {
    let marks = |next_mark| {
        let mut config = CodelConfig::rfc8289(Limit::Packets(500));
        config.codel.ecn = true;
        config.codel.next_mark = next_mark;
        let mut rig = Rig::new(&config);
        rig.enqueue(100, 1000, Capable0);
        let mut marks = Vec::new();
        // A packet leaves every 50 ms. The sojourn time exceeds the target from 20 ms on, and the
        // first mark comes at 120 ms.
        for now in (0..12).map(|packet| 20 + 50 * packet) {
            rig.at(Span::from_millis(now)).dequeue();
            if rig.marks(EXCEEDED) > marks.len() {
                marks.push(now);
            }
        }
        marks
    };
    // Marks are due at 120 + 100 = 220 and 290.7 ms, and made at 220 and 320 ms. The next one
    // follows 57.7 ms after either.
    assert_eq!(marks(NextMark::FromDue)[..4], [120, 220, 320, 370]);
    assert_eq!(marks(NextMark::FromNow)[..4], [120, 220, 320, 420]);
}
