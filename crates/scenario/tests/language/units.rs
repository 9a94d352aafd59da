//! Values with units are read as people and results write them.

use goodqueue_scenario::{
    StatedLimit, StatedSpans, parse_fraction, parse_limit, parse_rate, parse_span, parse_spans,
};
use goodqueue_types::{Rate, Span};

#[test]
fn printed_rates_are_read_again() {
    for (text, rate) in [
        ("2 Mb/s", 2_000_000),
        ("44.9 kb/s", 44_900),
        ("1Gb/s", 1_000_000_000),
        ("10Mbit/s", 10_000_000),
        ("12 b/s", 12),
        ("2Mbps", 2_000_000),
    ] {
        assert_eq!(parse_rate(text), Ok(Rate(rate)), "{text}");
    }
}

#[test]
fn printed_limits_and_times_and_shares_are_read_again() {
    assert_eq!(parse_limit("8 packets"), Ok(StatedLimit::Packets(8)));
    assert_eq!(parse_limit("1 packet"), Ok(StatedLimit::Packets(1)));
    assert_eq!(parse_limit("4.664 kB"), Ok(StatedLimit::Bytes(4_664)));
    assert_eq!(parse_limit("1.55 BDP"), Ok(StatedLimit::Bdp(1_550_000)));
    let micros = Span::from_micros(37_310);
    assert_eq!(parse_limit("37.31 ms"), Ok(StatedLimit::Time(micros)));
    assert_eq!(parse_limit("37310\u{b5}s"), Ok(StatedLimit::Time(micros)));
    assert_eq!(parse_span("37310 \u{3bc}s"), Ok(micros));
    assert_eq!(parse_fraction("99.5 %"), Ok(0.995));
}

#[test]
fn a_range_with_a_dash_is_refused_with_two_dots() {
    for text in [
        "10ms-120ms",
        "10ms - 120ms",
        "10-120ms",
        "10ms\u{2013}120ms",
        "10..120ms",
    ] {
        let error = parse_spans(text).expect_err(text);
        assert_eq!(error.help, "write \"10ms..120ms\"", "{text}");
    }
}

#[test]
fn spaces_may_surround_the_dots_and_commas_of_several_times() {
    let (short, long) = (Span::from_millis(10), Span::from_millis(120));
    for text in ["10ms..120ms", "10ms .. 120ms", "10 ms .. 120 ms"] {
        assert_eq!(
            parse_spans(text),
            Ok(StatedSpans::Range(short, long)),
            "{text}"
        );
    }
    for text in ["10ms,120ms", "10ms, 120ms"] {
        assert_eq!(
            parse_spans(text),
            Ok(StatedSpans::Listed(vec![short, long])),
            "{text}"
        );
    }
}

#[test]
fn letters_of_the_wrong_case_are_corrected_and_bytes_are_no_bits() {
    let refused = |text| parse_rate(text).expect_err(text);
    assert_eq!(refused("2 mb/s").help, "write \"2Mb/s\"");
    assert_eq!(refused("2 gbit/s").help, "write \"2Gbit/s\"");
    for text in ["2 MB/s", "2kB/s", "2 GB/s"] {
        assert_eq!(
            refused(text).message,
            "rates count bits, not bytes",
            "{text}"
        );
    }
}

#[test]
fn two_spaces_and_an_empty_unit_are_refused() {
    for text in ["2  Mb/s", "2 ", "2", "Mb/s", "2 mb/s"] {
        assert!(parse_rate(text).is_err(), "{text:?}");
    }
}
