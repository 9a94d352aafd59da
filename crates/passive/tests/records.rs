//! Flow records as nfdump prints them.

use goodqueue_passive::records::{Options, Summary, read};

/// Records of four CUBIC flows and their control connections (tests/data/captures/cubic4-before.pcap.xz), by
/// `nfpcapd -e 10,15` and nfdump 1.7.1. The active timeout of 10 s splits the flows of 10.2 s.
const CSV: &str = include_str!("records/cubic4.csv");
const JSON: &str = include_str!("records/cubic4.json");

fn summary(text: &str, options: Options) -> Result<Summary, String> {
    read(&mut text.as_bytes(), options).map_err(|error| error.to_string())
}

#[test]
fn split_records_of_a_flow_are_one_flow() {
    for text in [CSV, JSON] {
        let found = summary(text, Options::default()).unwrap();
        assert_eq!(found.records, 19);
        let [_, long, _] = &found.long;
        // Packets and bytes of the four flows by nfpcapd without an active timeout.
        assert_eq!(
            (long.group.flows, long.group.packets),
            (4, 2298 + 1827 + 636 + 559)
        );
        assert_eq!(long.group.bytes, 3_442_701 + 2_734_753 + 948_253 + 832_753);
        assert_eq!(
            (found.udp.flows, found.quic.flows, found.other.flows),
            (0, 0, 0)
        );
        assert_eq!(found.damaged, 0);
        assert!(
            (3.5..=4.0).contains(&long.mean) && long.high == 4,
            "{long:?}"
        );
    }
}

#[test]
fn both_formats_have_the_same_figures() {
    let (csv, json) = (
        summary(CSV, Options::default()),
        summary(JSON, Options::default()),
    );
    let (csv, json) = (csv.unwrap(), json.unwrap());
    assert_eq!(
        (csv.tcp, csv.acks, csv.short),
        (json.tcp, json.acks, json.short)
    );
    assert_eq!(csv.sizes, json.sizes);
    // The CSV of this version has whole seconds.
    assert!(
        (csv.span_s - json.span_s).abs() < 1.0,
        "{} {}",
        csv.span_s,
        json.span_s
    );
}

/// The form that nfdump has since 1.7.5.
const LATER: &str = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
     2026-01-01 00:00:00.000,00:00:10.000,TCP,10.0.0.1,40000,10.0.1.1,443,1000,1500000,1\n\
     2026-01-01 00:00:05.000,5.000,TCP,2001:db8::1,40000,2001:db8::2,443,1000,1500000,1\n\
     2026-01-01 00:00:02.000,00:00:08.000,UDP,10.0.0.2,50000,10.0.1.1,443,500,600000,1\n\
     2026-01-01 00:00:00.000,00:00:10.000,UDP,10.0.0.3,50000,10.0.1.1,53,10,800,1\n\
     2026-01-01 00:00:01.000,00:00:01.000,6,10.0.0.4,50000,10.0.1.1,80,10,8400,1\n\
     2026-01-01 00:00:01.000,00:00:01.000,TCP,10.0.1.1,80,10.0.0.4,50000,10,520,1\n\
     2026-01-01 00:00:01.000,00:00:01.000,ICMP,10.0.0.4,0,10.0.1.1,8.0,1,84,1\n";

#[test]
fn the_later_form_of_csv_is_read() {
    let found = summary(LATER, Options::default()).unwrap();
    assert_eq!((found.span_s, found.damaged), (10.0, 0));
    let flows = [
        found.tcp,
        found.quic,
        found.udp,
        found.other,
        found.acks,
        found.short,
    ];
    assert_eq!(flows.map(|group| group.flows), [3, 1, 1, 1, 1, 1]);
    // Two flows of 10 and 5 s over TCP, and one of 8 s over QUIC.
    let [_, long, _] = &found.long;
    assert_eq!((long.group.flows, long.high), (3, 3));
    assert!((long.mean - 2.3).abs() < 1e-9, "{}", long.mean);
    // 10 packets with 40 bytes of headers.
    assert_eq!(found.sizes[0], (8000, 0.25));
    assert_eq!(found.sizes.last(), Some(&(1_460_000, 1.0)));
}

/// Returns a direction of 20,000 packets with this protocol, these addresses and mean packet size.
fn direction(protocol: &str, six: bool, packet_bytes: u64) -> String {
    let ends = if six {
        "2001:db8::1,40000,2001:db8::2,443"
    } else {
        "10.0.0.1,40000,10.0.1.1,443"
    };
    let bytes = 20_000 * packet_bytes;
    format!("2026-01-01 00:00:00.000,00:00:10.000,{protocol},{ends},20000,{bytes},1\n")
}

#[test]
fn directions_of_acknowledgements_are_no_flows() {
    // ACKs of TCP have 20 bytes, and 12 with timestamps, beyond IP's 20 or 40. Those of QUIC have 8 bytes of UDP
    // and about 25 to 60 of QUIC (RFC 9000). Data of both have about 1,200 to 1,500.
    for (protocol, six, packet_bytes, is_flow) in [
        ("TCP", false, 40, false),
        ("TCP", false, 52, false),
        ("TCP", true, 72, false),
        ("UDP", false, 61, false),
        ("UDP", false, 90, false),
        ("UDP", true, 95, false),
        ("TCP", false, 576, true),
        ("UDP", true, 1280, true),
        ("UDP", false, 300, true),
    ] {
        let names = LATER.lines().next().unwrap();
        let text = format!("{names}\n{}", direction(protocol, six, packet_bytes));
        let found = summary(&text, Options::default()).unwrap();
        let flows = u64::from(is_flow);
        let counted = (found.long[1].group.flows, found.acks.flows);
        assert_eq!(counted, (flows, 1 - flows), "{protocol} {packet_bytes}");
    }
}

#[test]
fn sampled_records_are_multiplied() {
    let options = Options {
        sampling: 100,
        ..Options::default()
    };
    let found = summary(LATER, options).unwrap();
    assert_eq!(found.long[1].group.packets, 100 * (1000 + 1000 + 500 + 10));
}

#[test]
fn damaged_records_are_counted_and_other_files_refused() {
    let damaged = LATER.replace("10,8400", "ten,8400") + "\n2026-01-0";
    assert_eq!(summary(&damaged, Options::default()).unwrap().damaged, 2);
    let cut = &JSON[..JSON.len() / 2];
    assert_eq!(summary(cut, Options::default()).unwrap().damaged, 1);
    for (text, message) in [
        ("", "no flow records"),
        ("[]", "no flow records"),
        ("a,b,c\n1,2,3\n", "no column \"ts\""),
        ("{\"a\": 1}", "record 1"),
        (
            "ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt\nNo matching flows\n",
            "is no flow record",
        ),
    ] {
        let error = summary(text, Options::default()).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let long_line = "x".repeat(100_000);
    assert!(summary(&long_line, Options::default()).is_err());
    assert!(summary(&format!("{{\"a\": \"{long_line}\"}}"), Options::default()).is_err());
}
