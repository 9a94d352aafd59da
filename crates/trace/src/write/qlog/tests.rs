use super::*;
use goodqueue_types::{Rate, SackBlocks};

const FLOW: FlowId = FlowId(1);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn event(time: Time, kind: PacketEventKind, number: u64, segment: Segment) -> PacketEvent {
    let direction = match kind {
        PacketEventKind::Sent => Direction::Forward,
        _ => Direction::Reverse,
    };
    let packet = Packet {
        flow: FLOW,
        direction,
        number,
        size: 40 + segment.payload,
        body: Body::Tcp(segment),
        ..Packet::default()
    };
    PacketEvent { time, kind, packet }
}

fn data(seq: u64) -> Segment {
    Segment {
        seq,
        payload: 1000,
        flags: SegmentFlags::ACK,
        ..Segment::default()
    }
}

fn ack(ack: u64, block: Option<(u64, u64)>) -> Segment {
    let mut sack = SackBlocks::default();
    if let Some((start, end)) = block {
        assert!(sack.push(ack, start, end));
    }
    Segment {
        ack,
        flags: SegmentFlags::ACK,
        sack,
        ..Segment::default()
    }
}

/// Returns the records that a log of these steps has after its head, without separators.
fn records(only: Option<FlowId>, steps: impl FnOnce(&mut Qlog<&mut Vec<u8>>)) -> Vec<String> {
    let mut bytes = Vec::new();
    let names = ["a".to_owned(), "up \"1\"".to_owned()];
    let mut log = Qlog::new(&mut bytes, "title", &names, only).unwrap();
    steps(&mut log);
    log.finish().unwrap();
    drop(log);
    let text = String::from_utf8(bytes).unwrap();
    let mut records = text.split_terminator('\n').map(|record| {
        let rest = record.strip_prefix(SEPARATOR).expect("a separator");
        rest.to_owned()
    });
    assert!(records.next().unwrap().starts_with(
        "{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
         \"serialization_format\":\"application/qlog+json-seq\",\"title\":\"title\""
    ));
    records.collect()
}

#[test]
fn packets_have_their_number_bytes_and_time() {
    let sent = event(Time(1_234_500_000), PacketEventKind::Sent, 7, data(1001));
    assert_eq!(
        records(None, |log| log.packet(&sent).unwrap()),
        [
            "{\"time\":1.2345,\"name\":\"quic:packet_sent\",\"group_id\":\"up \\\"1\\\"\",\"data\":\
             {\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":7},\"frames\":[\
             {\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":1000,\"fin\":false,\
             \"raw\":{\"payload_length\":1000}},{\"frame_type\":\"ack\"}],\
             \"raw\":{\"length\":1040,\"payload_length\":1000}}}"
        ]
    );
}

#[test]
fn an_acknowledgement_names_the_packets_that_it_acknowledges_first() {
    let records = records(Some(FLOW), |log| {
        for number in 0..6 {
            let sent = event(
                ms(1),
                PacketEventKind::Sent,
                number,
                data(1 + 1000 * number),
            );
            log.packet(&sent).unwrap();
        }
        for (time, segment) in [
            (10, ack(1001, Some((3001, 5001)))),
            (11, ack(1001, Some((3001, 6001)))),
            (20, ack(6001, None)),
        ] {
            let received = event(ms(time), PacketEventKind::Delivered, time, segment);
            log.packet(&received).unwrap();
        }
    });
    let acked = |record: &String| {
        let (_, rest) = record.split_once("\"acked_ranges\":").unwrap();
        rest.split_once('}').unwrap().0.to_owned()
    };
    let acked: Vec<String> = records[6..].iter().map(acked).collect();
    assert_eq!(acked, ["[[0],[3,4]]", "[[5]]", "[[1,2]]"]);
}

#[test]
fn a_packet_is_lost_when_its_data_are_sent_again() {
    let again = |after_timeout| {
        records(Some(FLOW), |log| {
            for number in 0..2 {
                let sent = event(
                    ms(1),
                    PacketEventKind::Sent,
                    number,
                    data(1 + 1000 * number),
                );
                log.packet(&sent).unwrap();
            }
            let metrics = SenderMetrics {
                after_timeout,
                ..SenderMetrics::default()
            };
            log.metrics(FLOW, ms(8), &metrics).unwrap();
            let sent = event(ms(9), PacketEventKind::Sent, 2, data(1));
            log.packet(&sent).unwrap();
            // The second transmission is lost, too.
            let sent = event(ms(19), PacketEventKind::Sent, 3, data(1));
            log.packet(&sent).unwrap();
        })
    };
    for (after_timeout, trigger) in [(false, "reordering_threshold"), (true, "pto_expired")] {
        let records = again(after_timeout);
        let lost: Vec<&String> = records
            .iter()
            .filter(|record| record.contains("packet_lost"))
            .collect();
        let expected = |time, number| {
            format!(
                "{{\"time\":{time},\"name\":\"quic:packet_lost\",\"data\":{{\"header\":\
                 {{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\
                 \"trigger\":\"{trigger}\"}}}}"
            )
        };
        assert_eq!(lost, [&expected(9, 0), &expected(19, 2)]);
    }
}

#[test]
fn only_metrics_that_changed_are_written() {
    let first = SenderMetrics {
        smoothed_rtt: Some(Span::from_micros(20_500)),
        cwnd: 10_000,
        pacing_rate: Some(Rate(1_000_000)),
        ..SenderMetrics::default()
    };
    let second = SenderMetrics {
        cwnd: 12_000,
        ..first
    };
    let records = records(Some(FLOW), |log| {
        for (time, metrics) in [(1, first), (2, first), (3, second)] {
            log.metrics(FLOW, ms(time), &metrics).unwrap();
        }
        // The log is about another flow.
        log.metrics(FlowId(0), ms(4), &first).unwrap();
    });
    assert_eq!(
        records,
        [
            "{\"time\":1,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"smoothed_rtt\":20.5,\
             \"pto_count\":0,\"congestion_window\":10000,\"bytes_in_flight\":0,\
             \"packets_in_flight\":0,\"pacing_rate\":1000000}}",
            "{\"time\":3,\"name\":\"quic:recovery_metrics_updated\",\"data\":\
             {\"congestion_window\":12000}}",
        ]
    );
}

#[test]
fn memory_is_that_of_outstanding_segments() {
    let mut log = Qlog::new(io::sink(), "", &[], None).unwrap();
    for number in 0..10_000 {
        let seq = 1 + 1000 * number;
        log.packet(&event(ms(number), PacketEventKind::Sent, number, data(seq)))
            .unwrap();
        let until = ack(seq.saturating_sub(9_000), None);
        log.packet(&event(
            ms(number),
            PacketEventKind::Delivered,
            number,
            until,
        ))
        .unwrap();
    }
    let outstanding = &log.flows[&FLOW].connections[&0];
    assert_eq!(outstanding.len(), 10);
}
