use super::*;

const MSS: u32 = 1000;

fn end() -> AccurateEcn {
    AccurateEcn::new(AccEcnReports::Full)
}

/// Returns an ACK with this counter of packets and these counters of bytes, in the order ECT(1), CE,
/// ECT(0).
fn ack(count: u32, bytes: &[u32]) -> Segment {
    Segment {
        flags: SegmentFlags::ACK.with(counter_flags(count)),
        ..Segment::default()
    }
    .with_accecn(if bytes.is_empty() {
        AccEcnOption::default()
    } else {
        AccEcnOption::new(AccEcnOrder::Capable1First, bytes)
    })
}

/// Returns the number of marked packets that an ACK of so many packets without an option reports.
fn told(end: &mut AccurateEcn, count: u32, packets: u64) -> u64 {
    let acked = packets * u64::from(MSS);
    let ack = ack(count, &[]);
    end.check_first_report(&ack, acked, MSS);
    end.feedback(&ack, acked, MSS).marked / u64::from(MSS)
}

#[test]
fn counters_and_flags() {
    for count in 0..8 {
        assert_eq!(counter(counter_flags(count)), count);
    }
    // RFC 9768 section 3.2.1: the initial value 5 is AE and ECE.
    assert_eq!(counter_flags(FIRST_COUNT), AE.with(ECE));
}

/// RFC 9768 section 3.2.2.5: three bits hold up to seven marks. If an ACK covers more packets, the
/// largest possible number is assumed.
#[test]
fn the_counter_wraps() {
    let mut end = end();
    assert_eq!(told(&mut end, 5, 2), 0);
    assert_eq!(told(&mut end, 7, 2), 2);
    assert_eq!(told(&mut end, 7 + 3, 3), 3);
    assert_eq!(told(&mut end, 10 + 7, 7), 7);
    // Ten packets move the counter by one, so one or nine are marked.
    assert_eq!(told(&mut end, 18, 10), 9);
}

/// Linux: if ACKs cover more than four packets on average, ACKs are thinned and not lost, so the
/// smallest increase is assumed.
#[test]
fn thinned_acks_are_read_as_they_are() {
    assert_eq!(told(&mut end(), 5, 10), 0);
    assert_eq!(told(&mut end(), 6, 10), 1);
    let mut end = end();
    told(&mut end, 5, 1);
    assert_eq!(told(&mut end, 5, 9), 8);
}

/// RFC 9768 appendix A.2.2: a counter of bytes that has not moved rules out that the counter of
/// packets has wrapped.
#[test]
fn the_option_decides_how_often_the_counter_wrapped() {
    let marked = |bytes: u32| {
        let mut end = end();
        end.feedback(&ack(5, &[1, 0, 1001]), 1000, MSS);
        let feedback = end.feedback(&ack(5, &[1, bytes, 10_001 - bytes]), 9000, MSS);
        assert_eq!(feedback.marked, u64::from(bytes));
        end.delivered_marked()
    };
    assert_eq!((marked(0), marked(3000), marked(8000)), (0, 8, 8));
}

/// Counters have 24 bits. One that runs back is from an older ACK.
#[test]
fn byte_counters_wrap_and_may_be_old() {
    let mut end = end();
    let near = (1 << 24) - 500;
    end.peer_bytes[CE_BYTES] = near;
    let mut marked = |count, bytes| end.feedback(&ack(count, &[1, bytes]), 1000, MSS).marked;
    assert_eq!(marked(6, 500), 1000);
    assert_eq!(marked(6, near), 0);
    assert_eq!(marked(6, 1500), 2000);
}

/// Without the option the counter of packets gives an estimate, which the next option corrects.
#[test]
fn the_option_corrects_an_estimate() {
    let mut end = end();
    assert_eq!(end.feedback(&ack(6, &[1, 600, 1]), 1000, MSS).marked, 600);
    assert_eq!(told(&mut end, 7, 1), 1);
    // The second marked packet had 700 bytes, so that 300 were too many, and the third has 900.
    assert_eq!(end.feedback(&ack(8, &[1, 2200, 1]), 1000, MSS).marked, 600);
}

/// RFC 9768 section 3.2.3.2.4: an option whose first counters are 0 is not read.
#[test]
fn a_zeroed_option_is_ignored() {
    for bytes in [[0, 0, 1], [1, 0, 0]] {
        let mut end = end();
        end.on_syn_ack(&ack(0b010, &bytes), Ecn::NotCapable);
        let feedback = end.feedback(&ack(6, &[1, 500, 1]), 1000, MSS);
        assert_eq!(feedback.marked, 1000);
    }
}

/// RFC 9768 sections 3.2.2.3 and 3.2.2.4: packets are not ECN-capable if the first reports are
/// impossible.
#[test]
fn impossible_reports_end_the_use_of_ecn() {
    // Our SYN and SYN-ACK are not ECN-capable, which is the code 0b010. Codes that are not assigned
    // are accepted.
    for (code, client_is_sound, server_is_sound) in [
        (0b010, true, true),
        (0b011, false, false),
        (0b100, false, false),
        (0b110, false, false),
        (0b000, false, false),
        (0b101, true, true),
    ] {
        let (mut client, mut server) = (end(), end());
        client.on_syn_ack(&ack(code, &[]), Ecn::NotCapable);
        server.on_third_ack(&ack(code, &[]));
        let sound = (client.is_sound(), server.is_sound());
        assert_eq!(sound, (client_is_sound, server_is_sound), "{code:03b}");
    }
    let mut client = end();
    told(&mut client, 8, 1);
    assert!(!client.is_sound());
    // Later the counter may pass 0.
    let mut client = end();
    assert_eq!((told(&mut client, 7, 2), told(&mut client, 8, 1)), (2, 1));
    assert!(client.is_sound());
}

/// The sizes are those of Linux's `tcp_options_fit_accecn`: a header has 40 bytes of options, the
/// option may replace the padding of SACK blocks, and two of these remain at least.
#[test]
fn the_option_fits_beside_sack_blocks() {
    let row = |needed, blocks, stamped| {
        fit(needed, blocks, stamped).map(|fit| (fit.counters, fit.blocks, fit.bytes))
    };
    for needed in 0..=3 {
        assert_eq!(row(needed, 0, false), Some((3, 0, 12)));
        assert_eq!(row(needed, 0, true), Some((3, 0, 12)));
        assert_eq!(row(needed, 1, true), Some((3, 1, 12)));
        assert_eq!(row(needed, 3, false), Some((3, 3, 12)));
    }
    assert_eq!(row(2, 2, true), Some((2, 2, 8)));
    assert_eq!(row(3, 2, true), None);
    assert_eq!(row(2, 3, true), Some((2, 2, 8)));
    assert_eq!(row(3, 3, true), None);
    assert_eq!(row(0, 3, true), Some((0, 3, 0)));
    assert_eq!(row(3, 4, false), Some((3, 3, 12)));
    // Linux sends one counter beside four blocks. Here the option takes the room of the fourth.
    assert_eq!(row(1, 4, false), Some((3, 3, 12)));
    assert_eq!(row(0, 4, false), None);
}
