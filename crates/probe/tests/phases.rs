//! Senders end in any case, and phases that ask for too much are refused.

use goodqueue_probe::{Codepoint, Feedback, Path, Pattern, Phase, Sender};

const HOLD: Pattern = Pattern::Hold {
    window: 20,
    held_us: 10_000,
    rtt_us: 20_000,
    base_ns: 0,
    pace_bps: 10_000_000,
    sparse_us: 20_000,
    codepoint: Codepoint::NotCapable,
    span_ms: 10_000,
};

const RAMP: Pattern = Pattern::Ramp {
    from_bps: 1_000_000,
    most_bps: 10_000_000,
    bytes: 1400,
    window_us: 50_000,
    sparse_us: 20_000,
    after_loss_ms: 300,
    longest_ms: 10_000,
};

/// Lets a sender send to a receiver that hears nothing. Returns the bits and the time in ns.
fn unheard(pattern: Pattern) -> (f64, i64) {
    let mut sender = Sender::new(pattern, 0);
    let (mut now, mut bits) = (0, 0.0);
    while !sender.is_done(now) {
        if let Some(out) = sender.send(now) {
            bits += f64::from(out.bytes) * 8.0;
        } else {
            let next = sender.next_send().unwrap_or(now + 1_000_000);
            now = next.max(now + 1);
        }
        assert!(now < 60_000_000_000, "the sender does not end");
    }
    (bits, now)
}

#[test]
fn a_sender_without_feedback_ends_after_three_seconds() {
    for pattern in [HOLD, RAMP] {
        let (_, time) = unheard(pattern);
        assert!(time < 4_100_000_000, "{pattern:?}: {time} ns");
    }
}

#[test]
fn a_window_limits_what_is_sent_without_feedback() {
    let (bits, _) = unheard(HOLD);
    assert!(bits < 200.0 * 1400.0 * 8.0, "{bits} bits");
}

#[test]
fn no_feedback_raises_a_ramp_above_its_largest_rate() {
    let mut sender = Sender::new(RAMP, 0);
    let (mut now, mut sent) = (0, 0_u32);
    while now < 2_000_000_000 {
        now += 100_000;
        while sender.send(now).is_some() {
            sent += 1;
        }
        let lie = Feedback {
            next: sender.sent()[0],
            received: sender.sent()[0],
            bytes: u64::MAX / 2 + now as u64,
            time: now,
            delay: 0,
        };
        sender.hear(now, lie);
    }
    assert!(
        f64::from(sent) * 1400.0 * 8.0 < 1.1 * 10e6 * 2.0,
        "{sent} packets"
    );
}

#[test]
fn feedback_about_packets_that_were_never_sent_is_ignored() {
    let mut sender = Sender::new(RAMP, 0);
    let before = format!("{sender:?}");
    let lie = Feedback {
        next: 7,
        ..Feedback::default()
    };
    sender.hear(5, lie);
    assert_eq!(format!("{sender:?}"), before);
}

#[test]
fn a_phase_that_asks_for_more_than_the_server_gives_is_refused() {
    let refused = |pattern| {
        let phase = Phase {
            path: Path::Down,
            pattern,
        };
        phase.check(10_000_000).unwrap_err().to_string()
    };
    let fast = Pattern::Pings {
        count: 1001,
        interval_us: 1000,
    };
    assert_eq!(refused(fast), "the number of pings must be from 1 to 1000");
    let trains = Pattern::Trains {
        count: 10,
        length: 100,
        interval_us: 1000,
    };
    assert!(refused(trains).contains("mean rate of the trains"));
    let endless = Pattern::Hold {
        window: 1_000_000,
        held_us: 1,
        rtt_us: 1,
        base_ns: 0,
        pace_bps: 1,
        sparse_us: 1000,
        codepoint: Codepoint::NotCapable,
        span_ms: 1,
    };
    assert!(refused(endless).contains("packets in flight"));
}
