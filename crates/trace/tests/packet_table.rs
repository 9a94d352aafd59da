//! The table of packet events, read with the reader of the `parquet` crate.

use goodqueue_trace::write::{PacketTable, TraceWriter};
use goodqueue_types::{
    Body, Direction, DropReason, Ecn, FlowId, Hosts, LinkId, Packet, PacketEvent, PacketEventKind,
    Segment, Span, Time,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;

const LINKS: [&str; 2] = ["bottleneck", "return"];

fn flows() -> Vec<String> {
    (0..300).map(|flow| format!("bulk-{flow}")).collect()
}

/// Returns the event of a row. Rows differ in every column, and fill more than one group.
fn event(row: u64) -> PacketEvent {
    let link = LinkId((row / 3 % 2) as u32);
    let reason = DropReason::ALL[(row % DropReason::ALL.len() as u64) as usize];
    let kind = match row % 7 {
        0 => PacketEventKind::Sent,
        1 | 2 => PacketEventKind::Arrived(link),
        3 => PacketEventKind::Dropped(link, reason),
        4 => PacketEventKind::Marked(link, reason),
        5 => PacketEventKind::ServiceStarted(link, Span::from_micros(row)),
        _ => PacketEventKind::Delivered,
    };
    let is_tcp = !row.is_multiple_of(5);
    let segment = Segment {
        seq: 1460 * row,
        ack: 7 * row,
        payload: 100 * (row % 15) as u32,
        ..Segment::default()
    };
    let direction = [Direction::Forward, Direction::Reverse][(row / 11 % 2) as usize];
    PacketEvent {
        time: Time(row * 1_234_567),
        kind,
        packet: Packet {
            flow: FlowId((row * row % 300) as u32),
            direction,
            ecn: Ecn::NotCapable,
            dscp: 0,
            more_segments: 0,
            hosts: Hosts {
                client: 0,
                server: 0,
            },
            connection: 0,
            size: 40 + (row % 1461) as u32,
            number: row / 4,
            sent: Time::ZERO,
            arrived: Time::ZERO,
            body: if is_tcp {
                Body::Tcp(segment)
            } else {
                Body::Datagram
            },
        },
    }
}

/// Returns the row that the table should have for an event.
fn expected(event: &PacketEvent, flows: &[String]) -> Vec<Field> {
    let (name, link) = match event.kind {
        PacketEventKind::Sent => ("sent", None),
        PacketEventKind::Delivered => ("delivered", None),
        PacketEventKind::Arrived(link) => ("arrived", Some(link)),
        PacketEventKind::Dropped(link, _) => ("dropped", Some(link)),
        PacketEventKind::Marked(link, _) => ("marked", Some(link)),
        PacketEventKind::ServiceStarted(link, _) => ("service_started", Some(link)),
    };
    let reason = match event.kind {
        PacketEventKind::Dropped(_, reason) | PacketEventKind::Marked(_, reason) => Some(reason),
        _ => None,
    };
    let waited = match event.kind {
        PacketEventKind::ServiceStarted(_, waited) => Some(waited.as_secs_f64()),
        _ => None,
    };
    let segment = match &event.packet.body {
        Body::Tcp(segment) => Some(segment),
        _ => None,
    };
    let text = |text: &str| Field::Str(text.to_owned());
    let or_null = |field: Option<Field>| field.unwrap_or(Field::Null);
    let number = |number: Option<u64>| or_null(number.map(|number| Field::Long(number as i64)));
    let direction = match event.packet.direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    };
    vec![
        Field::Double(event.time.as_secs_f64()),
        text(name),
        or_null(link.map(|link| text(LINKS[link.0 as usize]))),
        text(&flows[event.packet.flow.0 as usize]),
        text(direction),
        number(Some(event.packet.number)),
        number(Some(u64::from(event.packet.size))),
        number(segment.map(|segment| segment.seq)),
        number(segment.map(|segment| u64::from(segment.payload))),
        number(segment.map(|segment| segment.ack)),
        or_null(reason.map(|reason| text(reason.name()))),
        or_null(waited.map(Field::Double)),
    ]
}

/// Writes events and compares the rows that the reader finds.
fn write_and_read(events: &[PacketEvent]) {
    let flows = flows();
    let file = std::env::temp_dir().join(format!(
        "goodqueue-packets-{}-{}",
        std::process::id(),
        events.len()
    ));
    let out = File::create(&file).expect("a file can be created");
    let mut table = PacketTable::new(out, &LINKS.map(str::to_owned), &flows).expect("a table");
    for event in events {
        table.packet(event).expect("an event can be written");
    }
    table.finish().expect("the table can be finished");
    let read = SerializedFileReader::new(File::open(&file).expect("the file")).expect("a table");
    std::fs::remove_file(&file).expect("the file can be removed");
    let mut rows = read.get_row_iter(None).expect("rows");
    for event in events {
        let row = rows.next().expect("a row").expect("a readable row");
        let row: Vec<Field> = row
            .get_column_iter()
            .map(|(_, field)| field.clone())
            .collect();
        assert_eq!(row, expected(event, &flows));
    }
    assert!(rows.next().is_none());
}

#[test]
fn every_row_is_read_back() {
    let events: Vec<PacketEvent> = (0..70_000).map(event).collect();
    write_and_read(&events);
}

#[test]
fn a_table_may_be_empty_or_short() {
    write_and_read(&[]);
    write_and_read(&[event(0)]);
    // No link, no reason and no wait is in these rows; one flow has all packets.
    let sent: Vec<PacketEvent> = (0..9)
        .map(|row| PacketEvent {
            time: Time(row),
            ..event(0)
        })
        .collect();
    write_and_read(&sent);
}
