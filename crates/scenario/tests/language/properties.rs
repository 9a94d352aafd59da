//! Any file gives a scenario that is written and read without changes, or one message.

use goodqueue_scenario::{
    Scenario, format_rate, format_size, format_span, parse_fraction, parse_limit, parse_rate,
    parse_size, parse_span,
};
use goodqueue_types::{Rate, Span};
use proptest::prelude::*;

const FILES: [&str; 6] = [
    include_str!("../../../../scenarios/bufferbloat.toml"),
    include_str!("../../../../scenarios/gijsbers-link.toml"),
    include_str!("../../../../scenarios/s1.toml"),
    include_str!("../../../../scenarios/incast.toml"),
    include_str!("../../../../scenarios/tree.toml"),
    include_str!("../../../../scenarios/back-road.toml"),
];

/// Pieces that give interesting files at a wrong place.
const PIECES: [&str; 24] = [
    "=",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "[[flow]]\n",
    "\n",
    ".",
    "-1",
    "0",
    "nan",
    "1e999",
    "\"1bdp\"",
    "\"0p\"",
    "\"10ms\"",
    "\"1000000s\"",
    "\"10Tbps\"",
    "\"1bps\"",
    "true",
    "99999999999999999999",
    "kind = \"cbr\"",
    "\u{fffd}",
    "\\",
];

/// Reads a file and checks this property.
fn check(text: &[u8], overrides: &[(String, String)]) {
    match Scenario::parse(text, "file", overrides) {
        Ok(scenario) => {
            let resolved = scenario.resolved_toml();
            let again = Scenario::parse(resolved.as_bytes(), "resolved", &[])
                .unwrap_or_else(|error| panic!("{error}\n{resolved}"));
            assert_eq!(again.resolved_toml(), resolved);
            let same = format!("{:?}", scenario.network()) == format!("{:?}", again.network());
            assert!(same, "a run changes by being written out:\n{resolved}");
            assert_eq!(scenario.buffers().len(), scenario.link_names().len());
        }
        Err(error) => {
            assert!(
                !error.message.is_empty() && !error.help.is_empty(),
                "{error}"
            );
            assert_eq!(error.to_string().lines().count(), 2, "{error}");
            let lines = text.split(|byte| *byte == b'\n').count() as u32;
            assert!(
                error.line.is_none_or(|line| (1..=lines).contains(&line)),
                "{error}"
            );
            assert!(
                error.line.is_some() || error.file.starts_with("--set"),
                "{error}"
            );
        }
    }
}

/// A shipped scenario with one stretch replaced.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    (
        0..FILES.len(),
        any::<prop::sample::Index>(),
        0usize..40,
        piece,
    )
        .prop_map(|(file, at, length, piece)| {
            let mut text = FILES[file].as_bytes().to_vec();
            let start = at.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, piece);
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&text, &[]);
    }

    #[test]
    fn random_text_never_panics(text in "[\\[\\]{}=.\"a-z0-9 \n#,_-]{0,200}") {
        check(text.as_bytes(), &[]);
    }

    #[test]
    fn mutated_scenarios_never_panic(text in mutated()) {
        check(&text, &[]);
    }

    #[test]
    fn truncated_scenarios_never_panic(file in 0..FILES.len(), at in any::<prop::sample::Index>()) {
        let text = FILES[file].as_bytes();
        check(&text[..at.index(text.len())], &[]);
    }

    #[test]
    fn random_overrides_never_panic(
        path in "(topology|flow|tcp|seed|duration|record)(\\.(0|1|bulk|tcp|rto|bottleneck|queue|limit|rate|mss|count|rtt|workload|kind)){0,4}",
        value in "[0-9]{0,4}(\\.5)?(p|bdp|ms|s|B|Mbps|%|\\[1\\]|true|\\{\\}|cbr)?",
    ) {
        check(FILES[2].as_bytes(), &[(path, value)]);
    }

    #[test]
    fn unit_parsers_never_panic(text in "\\PC{0,24}|[0-9]{0,22}\\.?[0-9]{0,22}[a-zA-Zµ% ]{0,5}") {
        let _ = (parse_rate(&text), parse_span(&text), parse_size(&text));
        let _ = (parse_limit(&text), parse_fraction(&text));
    }

    #[test]
    fn values_survive_being_written(value in 1u64..=1_000_000_000_000, zeros in 0u32..6) {
        let value = value.saturating_mul(10u64.pow(zeros));
        if value <= 10_000_000_000_000 {
            prop_assert_eq!(parse_rate(&format_rate(Rate(value))), Ok(Rate(value)));
        }
        prop_assert_eq!(parse_span(&format_span(Span(value))), Ok(Span(value)));
        if value <= 1_000_000_000_000 {
            prop_assert_eq!(parse_size(&format_size(value)), Ok(value));
        }
    }
}
