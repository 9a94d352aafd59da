//! One long flow on a slow link under the `rfc` profile: no kind of recovery may cause losses that
//! trigger it again.

use goodqueue_queue::Limit;
use goodqueue_sim::{WorkloadConfig, run};
use goodqueue_tcp::{Profile, Recovery, TcpConfig};
use goodqueue_testkit::dumbbell::Dumbbell;
use goodqueue_types::{Rate, Span, Time};
use std::sync::Arc;

/// A Tahoe that responds to the duplicate ACKs of its own go-back-N resends half of all data. A
/// `NewReno` whose timeout halves an inflated flight size overshoots after every timeout.
#[test]
fn every_recovery_keeps_a_slow_link_busy_without_sending_in_vain() {
    for recovery in [
        Recovery::Tahoe,
        Recovery::Reno,
        Recovery::NewReno,
        Recovery::Sack,
    ] {
        let tcp = TcpConfig {
            recovery,
            mss: 536,
            receive_window: 100_000,
            ack_every: 1,
            ..TcpConfig::profile(Profile::Rfc)
        };
        let flow = WorkloadConfig::bulk(Arc::new(tcp), None);
        let dumbbell = Dumbbell {
            seed: 1,
            rate: Rate(1_000_000),
            access_rate: Rate(2_000_000),
            limit: Limit::Packets(50),
            round_trip: Span::from_millis(24),
            warmup: Time::ZERO + Span::from_secs(300),
            end: Time::ZERO + Span::from_secs(600),
        };
        let outcome = run(&dumbbell.network(vec![(Time::ZERO, flow)]));
        let (link, flow) = (&outcome.links[0], &outcome.flows[0]);
        assert!(link.utilization > 0.98, "{recovery:?}: {link:?}");
        assert!(link.loss_rate < 0.005, "{recovery:?}: {link:?}");
        assert!(flow.duplicate_share < 0.01, "{recovery:?}: {flow:?}");
        assert!(flow.timeouts == 0, "{recovery:?}: {flow:?}");
    }
}
