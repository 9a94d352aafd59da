//! The table of all packet events of a run, in Parquet.

mod chunk;

use crate::write::TraceWriter;
use crate::write::table::chunk::Chunk;
use goodqueue_types::{Body, Direction, DropReason, LinkId, PacketEvent, PacketEventKind};
use parquet::basic::Compression;
use parquet::data_type::{DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group. Only the rows of the current group are in memory.
const ROWS: usize = 1 << 16;

const SCHEMA: &str = "
message packets {
    REQUIRED DOUBLE time_s;
    REQUIRED BYTE_ARRAY event (UTF8);
    OPTIONAL BYTE_ARRAY link (UTF8);
    REQUIRED BYTE_ARRAY flow (UTF8);
    REQUIRED BYTE_ARRAY direction (UTF8);
    REQUIRED INT64 number;
    REQUIRED INT64 size_bytes;
    OPTIONAL INT64 sequence;
    OPTIONAL INT64 payload_bytes;
    OPTIONAL INT64 acknowledgement;
    OPTIONAL BYTE_ARRAY drop_reason (UTF8);
    OPTIONAL DOUBLE waited_s;
}";

/// Writer of the table. Times are in seconds. `link` is missing at hosts, `sequence`,
/// `payload_bytes` and `acknowledgement` for other packets than TCP's, `drop_reason` unless a packet
/// was dropped or marked, and `waited_s` unless its transmission began.
pub struct PacketTable<W: Write + Send> {
    out: SerializedFileWriter<W>,
    links: Vec<String>,
    flows: Vec<String>,
    rows: Rows,
}

/// Columns of the current group. Columns with few different values hold the numbers of these
/// values.
#[derive(Debug, Default)]
struct Rows {
    times: Vec<f64>,
    events: Chunk,
    links: Chunk,
    flows: Chunk,
    directions: Chunk,
    numbers: Vec<i64>,
    sizes: Chunk,
    sequences: Optional<i64>,
    payloads: Chunk,
    acknowledgements: Optional<i64>,
    reasons: Chunk,
    waits: Optional<f64>,
}

/// Column in which values may be missing.
#[derive(Debug, Default)]
struct Optional<T> {
    values: Vec<T>,
    /// Parquet's definition levels: 1 for each row with a value, 0 for others.
    present: Vec<i16>,
}

impl<T> Optional<T> {
    #[inline]
    fn push(&mut self, value: Option<T>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.values.clear();
        self.present.clear();
    }
}

impl Rows {
    #[inline]
    fn push(&mut self, event: &PacketEvent) {
        let packet = &event.packet;
        let segment = match &packet.body {
            Body::Tcp(segment) => Some(segment),
            _ => None,
        };
        self.times.push(event.time.as_secs_f64());
        self.events.push(event_of(event));
        self.links.push_optional(link_of(event).map(|link| link.0));
        self.flows.push(packet.flow.0);
        let is_reverse = packet.direction != Direction::Forward;
        self.directions.push(u32::from(is_reverse));
        self.numbers.push(packet.number as i64);
        self.sizes.push(packet.size);
        self.sequences
            .push(segment.map(|segment| segment.seq as i64));
        self.payloads
            .push_optional(segment.map(|segment| segment.payload));
        self.acknowledgements
            .push(segment.map(|segment| segment.ack as i64));
        self.reasons.push_optional(match event.kind {
            PacketEventKind::Dropped(_, reason) | PacketEventKind::Marked(_, reason) => {
                Some(reason as u32)
            }
            _ => None,
        });
        self.waits.push(match event.kind {
            PacketEventKind::ServiceStarted(_, waited) => Some(waited.as_secs_f64()),
            _ => None,
        });
    }
}

impl<W: Write + Send> PacketTable<W> {
    /// Creates a writer for a run with these names of links and flows, by their numbers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn new(out: W, links: &[String], flows: &[String]) -> io::Result<Self> {
        // Only times are sorted, so only their range tells a reader which groups it needs.
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_statistics_enabled("time_s".into(), EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        let schema = parse_message_type(SCHEMA).map_err(cause)?;
        let properties = Arc::new(properties.build());
        let out = SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(cause)?;
        Ok(Self {
            out,
            links: links.to_vec(),
            flows: flows.to_vec(),
            rows: Rows::default(),
        })
    }

    /// Writes the current rows as a group.
    fn write_group(&mut self) -> Result<()> {
        let Self {
            out,
            links,
            flows,
            rows,
        } = self;
        let columns = out.schema_descr().columns().to_vec();
        let mut group = out.next_row_group()?;
        let link = |out: &mut Vec<u8>, at: u32| text(out, &links[at as usize]);
        let flow = |out: &mut Vec<u8>, at: u32| text(out, &flows[at as usize]);
        let number = |out: &mut Vec<u8>, value: u32| out.extend(i64::from(value).to_le_bytes());
        let event = |out: &mut Vec<u8>, at: u32| text(out, EVENTS[at as usize]);
        let direction = |out: &mut Vec<u8>, at: u32| text(out, DIRECTIONS[at as usize]);
        let reason = |out: &mut Vec<u8>, at: u32| text(out, DropReason::ALL[at as usize].name());
        column::<DoubleType, _>(&mut group, &rows.times, None)?;
        rows.events.write(&mut group, &columns[1], event)?;
        rows.links.write(&mut group, &columns[2], link)?;
        rows.flows.write(&mut group, &columns[3], flow)?;
        rows.directions.write(&mut group, &columns[4], direction)?;
        column::<Int64Type, _>(&mut group, &rows.numbers, None)?;
        rows.sizes.write(&mut group, &columns[6], number)?;
        optional::<Int64Type, _>(&mut group, &mut rows.sequences)?;
        rows.payloads.write(&mut group, &columns[8], number)?;
        optional::<Int64Type, _>(&mut group, &mut rows.acknowledgements)?;
        rows.reasons.write(&mut group, &columns[10], reason)?;
        optional::<DoubleType, _>(&mut group, &mut rows.waits)?;
        group.close()?;
        rows.times.clear();
        rows.numbers.clear();
        Ok(())
    }
}

impl<W: Write + Send> TraceWriter for PacketTable<W> {
    fn wants(&self, _event: &PacketEvent) -> bool {
        true
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        self.rows.push(event);
        if self.rows.times.len() == ROWS {
            self.write_group().map_err(cause)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.rows.times.is_empty() {
            self.write_group().map_err(cause)?;
        }
        self.out.finish().map_err(cause)?;
        self.out.inner_mut().flush()
    }
}

/// Appends a text in Parquet's plain encoding.
fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Writes the next column. `present` has a level for each row if values may be missing.
fn column<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[D::T],
    present: Option<&[i16]>,
) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<D>().write_batch(values, present, None)?;
    column.close()
}

/// Writes the next column, in which values may be missing, and empties it.
fn optional<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &mut Optional<D::T>,
) -> Result<()> {
    column::<D, W>(group, &rows.values, Some(&rows.present))?;
    rows.clear();
    Ok(())
}

/// Names of the events, by [`event_of`].
const EVENTS: [&str; 6] = [
    "sent",
    "arrived",
    "dropped",
    "service_started",
    "delivered",
    "marked",
];

const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

fn event_of(event: &PacketEvent) -> u32 {
    match event.kind {
        PacketEventKind::Sent => 0,
        PacketEventKind::Arrived(_) => 1,
        PacketEventKind::Dropped(..) => 2,
        PacketEventKind::ServiceStarted(..) => 3,
        PacketEventKind::Delivered => 4,
        PacketEventKind::Marked(..) => 5,
    }
}

fn link_of(event: &PacketEvent) -> Option<LinkId> {
    match event.kind {
        PacketEventKind::Sent | PacketEventKind::Delivered => None,
        PacketEventKind::Arrived(link)
        | PacketEventKind::Dropped(link, _)
        | PacketEventKind::Marked(link, _)
        | PacketEventKind::ServiceStarted(link, _) => Some(link),
    }
}

fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
