//! A trace of ns-2 does not prove a congestion control.

use goodqueue_passive::{Control, Options, analyze_files};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

const ROUND_TRIP: f64 = 0.1;
/// Time between two packets at the link.
const GAP: f64 = 0.001;

/// A trace of one flow over the link from node 0 to node 1.
#[derive(Default)]
struct Trace {
    lines: Vec<(f64, String)>,
    id: u64,
}

impl Trace {
    fn event(&mut self, time: f64, event: char, kind: &str, number: u32) {
        let (link, ends, size) = match kind {
            "tcp" => ("0 1", "0.0 1.0", 1040),
            _ => ("1 0", "1.0 0.0", 40),
        };
        let mut text = String::new();
        let id = self.id;
        writeln!(
            text,
            "{event} {time:.6} {link} {kind} {size} ------- 1 {ends} {number} {id}"
        )
        .expect("room");
        self.lines.push((time, text));
    }

    /// Sends a segment, which is acknowledged a round trip later with this number, or dropped.
    fn send(&mut self, time: f64, number: u32, acknowledged: Option<u32>) {
        self.id += 1;
        self.event(time, '+', "tcp", number);
        let Some(ack) = acknowledged else {
            return self.event(time, 'd', "tcp", number);
        };
        self.event(time, '-', "tcp", number);
        self.event(time + ROUND_TRIP / 2.0, 'r', "tcp", number);
        self.event(time + ROUND_TRIP / 2.0, '+', "ack", ack);
        self.event(time + ROUND_TRIP, 'r', "ack", ack);
    }
}

/// Returns the trace of a sender whose `window_` is 20 segments, while its congestion window grows
/// to 28. Each loss halves the latter, so flights decrease from 20 to 14.
fn limited_sender() -> String {
    let (mut trace, mut number, mut time) = (Trace::default(), 0, 0.0);
    for _ in 0..8 {
        for flight in (14..28).map(|window| window.min(20)) {
            for part in 0..flight {
                trace.send(time + f64::from(part) * GAP, number, Some(number));
                number += 1;
            }
            time += ROUND_TRIP + GAP;
        }
        // The first segment of a flight is lost, and sent again after three duplicate ACKs.
        let lost = number;
        for part in 0..20 {
            let acknowledged = (part > 0).then_some(lost.wrapping_sub(1));
            trace.send(time + f64::from(part) * GAP, lost + part, acknowledged);
        }
        number += 20;
        time += ROUND_TRIP + 4.0 * GAP;
        trace.send(time, lost, Some(number - 1));
        time += ROUND_TRIP + GAP;
    }
    trace.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    trace.lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn no_control_is_named_for_a_trace_of_ns2() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limited.tr");
    fs::write(&path, limited_sender()).expect("a disk with room");
    let options = Options {
        path,
        ..Options::default()
    };
    let (report, _) = analyze_files(&options, |_| true).expect("a trace");
    let flow = &report.flows[0];
    // A capture with this factor would have a name.
    assert!(flow.decrease_factor.is_some_and(|factor| factor >= 0.35));
    assert_eq!(flow.control, Control::Unknown);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("no congestion control is named"))
    );
}
