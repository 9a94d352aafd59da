use super::*;

/// Returns ten segments of 1000 bytes from 1 on.
fn ten() -> Records {
    let mut records = Records::default();
    for index in 0..10 {
        let record = Record::new(1 + 1000 * index, 1000, Time(index), 0);
        records.push(record, None);
    }
    records
}

fn lost(records: &Records) -> Vec<usize> {
    (0..records.out() as usize)
        .filter(|&index| records.get(index).is_lost())
        .collect()
}

/// A window that was large once does not take memory permanently.
#[test]
fn acknowledged_data_free_their_memory() {
    let mut records = Records::default();
    for index in 0..1000 {
        let record = Record::new(1 + index, 1, Time(index), 0);
        records.push(record, None);
    }
    assert!(records.ring.capacity() <= 1250);
    assert_eq!(records.remove_below(991, |_, _| ()), 990);
    assert_eq!((records.out(), records.get(0).seq), (10, 991));
    assert!(records.ring.capacity() <= 40);
    records.tighten();
    assert!(records.ring.capacity() <= 11);
}

/// RFC 6675: SACKed segments are not lost, and segments sent again are not lost for the same
/// reason.
#[test]
fn everything_below_is_lost_once() {
    let mut records = ten();
    records.mark_sacked(1);
    records.mark_lost_below(3001);
    assert_eq!((lost(&records), records.lost_out()), (vec![0, 2], 2));
    records.resend(0, Time(10), 0, None);
    records.mark_lost_below(5001);
    assert_eq!((lost(&records), records.in_flight()), (vec![0, 2, 3, 4], 6));
    // The retransmission of the first segment is still in flight.
    assert!(records.get(0).is_resent());
}

/// Segments 0 and 1 are sent again at once after the tenth, then an eleventh is sent, and the
/// first is sent again.
#[test]
fn transmissions_in_order_of_time() {
    let mut records = ten();
    let again = |records: &mut Records, index| {
        records.mark_lost(index);
        records.resend(index, Time(10), 0, None);
    };
    again(&mut records, 0);
    again(&mut records, 1);
    records.push(Record::new(10_001, 1000, Time(10), 0), None);
    records.resend(0, Time(11), 0, None);
    let mut visited = Vec::new();
    records.visit_by_time(|records, index| {
        visited.push(index);
        if index == 3 {
            records.mark_lost(index);
        }
        true
    });
    assert_eq!(visited, [2, 3, 4, 5, 6, 7, 8, 9, 1, 10, 0]);
    records.mark_sacked(2);
    visited.clear();
    records.visit_by_time(|_, index| {
        visited.push(index);
        index != 1
    });
    assert_eq!(visited, [4, 5, 6, 7, 8, 9, 1]);
}

/// Marks that were removed are set again by the next ACK with the same information.
#[test]
fn after_an_undo_the_count_begins_again() {
    let mut records = ten();
    records.mark_lost_below(3001);
    records.unmark_lost();
    assert_eq!(records.lost_out(), 0);
    records.mark_lost_below(3001);
    assert_eq!(lost(&records), vec![0, 1, 2]);
}
