//! The engine against closed forms: the saw-tooth of one Reno flow, the square-root law, CUBIC's epoch.

mod common;

use common::{extent, link, run};
use goodqueue_fluid::{FluidControl, FluidSender};

/// Utilisation of a saw-tooth with a buffer of `b` bandwidth-delay products: the window grows from
/// (1 + b) / 2 to 1 + b; below 1 the link sends a window per base round trip, above it is busy and
/// round trips are longer (Villamizar and Song 1994, integrated).
fn saw_tooth(b: f64) -> f64 {
    let low = f64::midpoint(1.0, b);
    let full = ((1.0 + b) * (1.0 + b) - low.max(1.0).powi(2)) / 2.0;
    let below = (1.0 - low).max(0.0);
    (below * (1.0 + low) / 2.0 + full) / (below + full)
}

#[test]
fn one_reno_flow_is_a_saw_tooth() {
    for sender in [FluidSender::LINUX, FluidSender::RFC] {
        for b in [0.1, 0.25, 0.5, 0.75, 1.0] {
            let mut link = link(10_000_000_000, 1, FluidControl::RENO, &[100]);
            let bdp = link.packets_per_second() * 0.1;
            link.queue = common::packets(b * bdp);
            link.groups[0].sender = sender;
            let outcome = run(&link, &extent(1, 15_000, 90_000));
            let found = outcome.utilization;
            let expected = saw_tooth(b);
            assert!((found - expected).abs() < 0.006, "{b}: {found} {expected}");
        }
    }
}

/// Between two losses of a saw-tooth 3/8 W² packets are sent where W is the window at a loss: the
/// square-root law W = √(3 / 2p) of the mean window.
#[test]
fn one_reno_flow_keeps_the_square_root_law() {
    for bdp in [500.0, 5_000.0] {
        let mut link = link((bdp * 12_000.0 / 0.05) as u64, 1, FluidControl::RENO, &[50]);
        link.queue = common::packets(bdp);
        let outcome = run(&link, &extent(1, 2_000, 20_000));
        let packets = outcome.arrivals / outcome.loss_events as f64;
        let law = 0.375 * (2.0 * bdp + 1.0).powi(2);
        assert!((packets / law - 1.0).abs() < 0.05, "{packets} {law}");
    }
}

/// Delayed ACKs without byte counting halve the growth and double the number of packets between
/// losses.
#[test]
fn a_step_per_delayed_ack_doubles_the_time_between_losses() {
    let bdp = 1_000.0;
    let mut link = link(240_000_000, 1, FluidControl::RENO, &[50]);
    link.queue = common::packets(bdp);
    link.groups[0].acks.bytes_counted = false;
    let outcome = run(&link, &extent(1, 2_000, 30_000));
    let packets = outcome.arrivals / outcome.loss_events as f64;
    let law = 0.75 * (2.0 * bdp + 1.0).powi(2);
    assert!((packets / law - 1.0).abs() < 0.05, "{packets} {law}");
}

/// CUBIC regains its plateau W after K = ∛(W (1 − β) / C) (RFC 9438, equation 2). It loses while
/// its window is within one packet of the plateau, which lasts from ∛(1 / C) before to ∛(1 / C)
/// after this time.
#[test]
fn one_cubic_flow_takes_the_time_of_its_curve() {
    let mut link = link(2_400_000_000, 1, FluidControl::CUBIC, &[20]);
    link.groups[0].control = FluidControl::Cubic {
        c: 0.4,
        beta: 0.7,
        fast_convergence: false,
        reno_friendly: false,
        as_linux: false,
    };
    link.queue = common::packets(4_000.0);
    let outcome = run(&link, &extent(1, 500, 5_000));
    let window: f64 = 8_001.0;
    let (k, within) = ((window * 0.3 / 0.4).cbrt(), (1.0_f64 / 0.4).cbrt());
    let found = outcome.measured_s / outcome.loss_events as f64;
    assert!((found - k).abs() < within, "{found} {k}");
}

/// Scalable TCP needs ln(1/β) / step round trips from one loss to the next, whatever the window.
#[test]
fn one_scalable_flow_loses_at_even_intervals() {
    let mut link = link(1_200_000_000, 1, FluidControl::SCALABLE, &[50]);
    link.queue = common::packets(100.0);
    let outcome = run(&link, &extent(1, 50, 500));
    let rounds = (1.0_f64 / 0.875).ln() / 1.01_f64.ln();
    // Windows are below the bandwidth-delay product for most of these round trips; recovery takes
    // two more.
    let found = outcome.measured_s / outcome.loss_events as f64 / 0.05;
    assert!(found > rounds && found < rounds + 4.0, "{found} {rounds}");
}
