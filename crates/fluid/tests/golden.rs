//! Exact figures of a few links. A change of figures needs a new `HYBRID_VERSION` in `scenario`.

mod common;

use common::{extent, link, packets, run};
use goodqueue_fluid::{FluidControl, FluidSender};

/// Runs a link and returns its figures as text.
fn figures(
    mbps: u64,
    flows: u64,
    control: FluidControl,
    rtts_ms: &[u64],
    buffer: f64,
    sender: FluidSender,
) -> String {
    let mut link = link(mbps * 1_000_000, flows, control, rtts_ms);
    link.queue = packets(buffer);
    link.groups[0].sender = sender;
    link.groups[0].acks.bytes_counted = sender == FluidSender::LINUX;
    let outcome = run(&link, &extent(7, 2, 12));
    format!(
        "{:.9} {:.9} {} {:.9}",
        outcome.utilization,
        outcome.loss_rate,
        outcome.loss_events,
        outcome.mean_delay_s()
    )
}

#[test]
fn figures_do_not_change_unnoticed() {
    let (linux, rfc) = (
        FluidSender::LINUX,
        FluidSender {
            segment_bytes: Some(1_460),
            ..FluidSender::RFC
        },
    );
    let (reno, cubic) = (FluidControl::RENO, FluidControl::LINUX_CUBIC);
    let found = [
        figures(100, 20, cubic, &[40], 100.0, linux),
        figures(50, 8, cubic, &[20, 35, 50], 40.0, linux),
        figures(200, 30, reno, &[30], 120.0, linux),
        figures(80, 10, reno, &[20, 60], 60.0, rfc),
        figures(300, 1, FluidControl::CUBIC, &[50], 400.0, rfc),
    ];
    assert_eq!(found.join("\n"), EXPECTED.trim());
}

const EXPECTED: &str = "
1.000000000 0.003488541 226 0.009629934
0.999765831 0.004264690 123 0.007019542
0.979704308 0.005849878 618 0.003331278
0.996325550 0.001839932 82 0.005375979
0.996686985 0.000020062 1 0.009969349
";
