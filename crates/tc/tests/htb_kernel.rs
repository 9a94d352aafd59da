//! Our `htb` beside that of Linux 6.18, which `evidence/htb/record.py` recorded.

mod kernel;

use kernel::{Replay, records, replay};

const RECORD: &str = include_str!("../../../evidence/htb/6.18.txt");

/// Every tree of the record, replayed.
fn replays() -> Vec<Replay> {
    let replays: Vec<Replay> = records(RECORD).iter().map(replay).collect();
    assert_eq!(replays.len(), 20);
    replays
}

#[test]
fn packets_leave_in_the_order_of_the_kernel_at_its_rates() {
    for (tree, replay) in replays().iter().enumerate() {
        let (same, packets) = (replay.same, replay.packets);
        let differences = replay
            .rates
            .iter()
            .map(|[kernel, ours]| (ours / kernel - 1.0).abs());
        let worst = differences.fold(0.0, f64::max);
        let (late, percent) = (replay.late, 100.0 * worst);
        println!(
            "tree {tree}: {same} of {packets} in order, {late} late, rates within {percent:.3} %"
        );
        assert_eq!(same, packets, "tree {tree}");
        assert!(worst <= 0.02, "tree {tree}: {worst}");
    }
}
