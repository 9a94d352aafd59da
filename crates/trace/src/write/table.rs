//! The table of all packet events of a run, in Parquet.

use crate::write::TraceWriter;
use goodqueue_types::{Body, Direction, LinkId, PacketEvent, PacketEventKind};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
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

/// Columns whose values hardly repeat, for which a dictionary would only take time.
const PLAIN: [&str; 4] = ["time_s", "number", "sequence", "acknowledgement"];

/// Writer of the table. Times are in seconds. `link` is missing at hosts, `sequence`,
/// `payload_bytes` and `acknowledgement` for other packets than TCP's, `drop_reason` unless a packet
/// was dropped or marked, and `waited_s` unless its transmission began.
pub struct PacketTable<W: Write + Send> {
    out: SerializedFileWriter<W>,
    links: Vec<ByteArray>,
    flows: Vec<ByteArray>,
    rows: Vec<PacketEvent>,
}

impl<W: Write + Send> PacketTable<W> {
    /// Creates a writer for a run with these names of links and flows, by their numbers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn new(out: W, links: &[String], flows: &[String]) -> io::Result<Self> {
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for column in PLAIN {
            properties = properties.set_column_dictionary_enabled(column.into(), false);
        }
        let schema = parse_message_type(SCHEMA).map_err(cause)?;
        let properties = Arc::new(properties.build());
        let out = SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(cause)?;
        let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        Ok(Self {
            out,
            links: names(links),
            flows: names(flows),
            rows: Vec::with_capacity(ROWS),
        })
    }

    /// Writes the current rows as a group.
    fn write_group(&mut self) -> Result<()> {
        let rows = &self.rows;
        let mut group = Group(self.out.next_row_group()?);
        let events = EVENTS.map(ByteArray::from);
        let directions = DIRECTIONS.map(ByteArray::from);
        let reasons = goodqueue_types::DropReason::ALL.map(|reason| reason.name().into());
        group.all::<DoubleType>(rows, |row| row.time.as_secs_f64())?;
        group.all::<ByteArrayType>(rows, |row| events[event_of(row)].clone())?;
        group.some::<ByteArrayType>(rows, |row| {
            link_of(row).map(|link| self.links[link.0 as usize].clone())
        })?;
        group.all::<ByteArrayType>(rows, |row| self.flows[row.packet.flow.0 as usize].clone())?;
        group.all::<ByteArrayType>(rows, |row| {
            directions[usize::from(row.packet.direction != Direction::Forward)].clone()
        })?;
        group.all::<Int64Type>(rows, |row| row.packet.number as i64)?;
        group.all::<Int64Type>(rows, |row| i64::from(row.packet.size))?;
        group.some::<Int64Type>(rows, |row| Some(segment_of(row)?.0))?;
        group.some::<Int64Type>(rows, |row| Some(segment_of(row)?.1))?;
        group.some::<Int64Type>(rows, |row| Some(segment_of(row)?.2))?;
        group.some::<ByteArrayType>(rows, |row: &PacketEvent| match row.kind {
            PacketEventKind::Dropped(_, reason) | PacketEventKind::Marked(_, reason) => {
                let name: &ByteArray = &reasons[reason as usize];
                Some(name.clone())
            }
            _ => None,
        })?;
        group.some::<DoubleType>(rows, |row| match row.kind {
            PacketEventKind::ServiceStarted(_, waited) => Some(waited.as_secs_f64()),
            _ => None,
        })?;
        group.0.close()?;
        self.rows.clear();
        Ok(())
    }
}

impl<W: Write + Send> TraceWriter for PacketTable<W> {
    fn wants(&self, _event: &PacketEvent) -> bool {
        true
    }

    fn packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        self.rows.push(*event);
        if self.rows.len() == ROWS {
            self.write_group().map_err(cause)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group().map_err(cause)?;
        }
        self.out.finish().map_err(cause)?;
        self.out.inner_mut().flush()
    }
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

fn event_of(event: &PacketEvent) -> usize {
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

/// Returns the sequence number, the payload and the acknowledgement number of a TCP segment.
fn segment_of(event: &PacketEvent) -> Option<(i64, i64, i64)> {
    match &event.packet.body {
        Body::Tcp(segment) => Some((
            segment.seq as i64,
            i64::from(segment.payload),
            segment.ack as i64,
        )),
        _ => None,
    }
}

/// Rows that are written column by column.
struct Group<'a, W: Write + Send>(SerializedRowGroupWriter<'a, W>);

impl<W: Write + Send> Group<'_, W> {
    /// Writes the next column, which has a value in each row.
    fn all<D: DataType>(
        &mut self,
        rows: &[PacketEvent],
        value: impl Fn(&PacketEvent) -> D::T,
    ) -> Result<()> {
        let values: Vec<D::T> = rows.iter().map(value).collect();
        self.column::<D>(&values, None)
    }

    /// Writes the next column, in which values may be missing.
    fn some<D: DataType>(
        &mut self,
        rows: &[PacketEvent],
        value: impl Fn(&PacketEvent) -> Option<D::T>,
    ) -> Result<()> {
        let mut values = Vec::with_capacity(rows.len());
        let mut present = Vec::with_capacity(rows.len());
        for row in rows {
            let value = value(row);
            present.push(i16::from(value.is_some()));
            values.extend(value);
        }
        self.column::<D>(&values, Some(&present))
    }

    fn column<D: DataType>(&mut self, values: &[D::T], present: Option<&[i16]>) -> Result<()> {
        let mut column = self.0.next_column()?.expect("the schema has this column");
        column.typed::<D>().write_batch(values, present, None)?;
        column.close()
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
