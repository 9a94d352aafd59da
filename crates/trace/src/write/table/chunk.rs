//! Columns of few different values, encoded as indices of a dictionary.
//!
//! The encoder of the `parquet` crate looks up each value by its hash. Every value is already a
//! small number, so a table of numbers suffices, and the chunk consists of pages.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;

/// Value that is not in the dictionary.
const ABSENT: u32 = u32::MAX;

/// Column of a row group: one small number for each row, or none.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Index in the dictionary for each value that has been seen.
    indices: Vec<u32>,
    /// Values of the dictionary.
    dictionary: Vec<u32>,
    /// Indices of the values that are present.
    rows: Vec<u32>,
    /// 1 for each row with a value, 0 for others. Empty if no row may be without a value.
    present: Vec<u32>,
}

impl Chunk {
    /// Adds a row with a value.
    #[inline]
    pub fn push(&mut self, value: u32) {
        let at = value as usize;
        if at >= self.indices.len() {
            self.indices.resize(at + 1, ABSENT);
        }
        if self.indices[at] == ABSENT {
            self.indices[at] = self.dictionary.len() as u32;
            self.dictionary.push(value);
        }
        self.rows.push(self.indices[at]);
    }

    /// Adds a row to a column in which values may be missing.
    #[inline]
    pub fn push_optional(&mut self, value: Option<u32>) {
        self.present.push(u32::from(value.is_some()));
        if let Some(value) = value {
            self.push(value);
        }
    }

    /// Writes the column, whose values `write_value` writes in Parquet's plain encoding, and empties
    /// it.
    ///
    /// # Errors
    /// Returns an error if the group cannot be written.
    pub fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        description: &ColumnDescPtr,
        mut write_value: impl FnMut(&mut Vec<u8>, u32),
    ) -> Result<()> {
        let mut pages = TrackedWrite::new(Vec::new());
        let (mut written, mut unpacked) = (0, 0);
        let mut values = Vec::new();
        for value in self.dictionary.drain(..) {
            write_value(&mut values, value);
            self.indices[value as usize] = ABSENT;
            written += 1;
        }
        let mut writer = SerializedPageWriter::new(&mut pages);
        let size = values.len();
        let dictionary = Page::DictionaryPage {
            buf: values.into(),
            num_values: written,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let dictionary = writer.write_page(CompressedPage::new(dictionary, size))?;
        unpacked += dictionary.uncompressed_size;
        let is_optional = description.max_def_level() > 0;
        let count = if is_optional {
            &self.present
        } else {
            &self.rows
        }
        .len();
        let data = self.data(is_optional, bits(written));
        let size = data.len();
        let data = Page::DataPage {
            buf: data.into(),
            num_values: count as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let data = writer.write_page(CompressedPage::new(data, size))?;
        unpacked += data.uncompressed_size;
        self.rows.clear();
        self.present.clear();
        let metadata = ColumnChunkMetaData::builder(description.clone())
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(vec![
                Encoding::PLAIN,
                Encoding::RLE,
                Encoding::RLE_DICTIONARY,
            ])
            .set_total_compressed_size(pages.bytes_written() as i64)
            .set_total_uncompressed_size(unpacked as i64)
            .set_num_values(count as i64)
            .set_data_page_offset(data.offset as i64)
            .set_dictionary_page_offset(Some(dictionary.offset as i64))
            .build()?;
        let closed = ColumnCloseResult {
            bytes_written: pages.bytes_written() as u64,
            rows_written: count as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        let pages = Bytes::from(pages.into_inner()?);
        group.append_column(&pages, closed)
    }

    /// Returns the data page: definition levels with their length, the width of an index in bits, and
    /// the indices.
    fn data(&self, is_optional: bool, width: u32) -> Vec<u8> {
        let mut data = Vec::with_capacity(self.rows.len() * width as usize / 8 + 64);
        if is_optional {
            data.extend([0; 4]);
            pack(&mut data, &self.present, 1);
            let length = (data.len() - 4) as u32;
            data[..4].copy_from_slice(&length.to_le_bytes());
        }
        data.push(width as u8);
        pack(&mut data, &self.rows, width);
        data
    }
}

/// Returns the number of bits that an index below `count` needs.
fn bits(count: u32) -> u32 {
    count
        .saturating_sub(1)
        .checked_ilog2()
        .map_or(0, |log| log + 1)
}

/// Appends numbers of `width` bits as a run of Parquet's hybrid encoding: one value and its number if
/// all are equal, else all values, padded to a multiple of eight.
fn pack(out: &mut Vec<u8>, values: &[u32], width: u32) {
    let Some(first) = values.first() else {
        return;
    };
    if values.iter().all(|value| value == first) {
        varint(out, (values.len() as u64) << 1);
        let bytes = width.div_ceil(8) as usize;
        out.extend(&first.to_le_bytes()[..bytes]);
        return;
    }
    let groups = values.len().div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    let end = out.len() + groups * width as usize;
    let (mut word, mut filled) = (0_u64, 0);
    for value in values {
        word |= u64::from(*value) << filled;
        filled += width;
        if filled >= 32 {
            out.extend((word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    out.extend(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
    out.resize(end, 0);
}

/// Appends a number in base 128, least significant digit first.
fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Parquet's description of the encoding: the numbers 0 to 7 in three bits.
    #[test]
    fn numbers_are_packed_as_in_the_description_of_the_format() {
        let mut out = Vec::new();
        pack(&mut out, &[0, 1, 2, 3, 4, 5, 6, 7], 3);
        assert_eq!(out, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn equal_numbers_are_one_run() {
        let mut out = Vec::new();
        pack(&mut out, &[5; 200], 3);
        assert_eq!(out, [0b1001_0000, 0b11, 5]);
        out.clear();
        pack(&mut out, &[0; 4], 0);
        assert_eq!(out, [8]);
    }

    #[test]
    fn a_run_is_padded_to_eight_numbers() {
        let mut out = Vec::new();
        pack(&mut out, &[1, 0, 1], 1);
        assert_eq!(out, [3, 0b101]);
        out.clear();
        pack(&mut out, &[300, 1], 9);
        assert_eq!(out, [3, 44, 3, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_index_has_as_many_bits_as_it_needs() {
        let counts = [0, 1, 2, 3, 4, 5, 256, 257];
        assert_eq!(counts.map(bits), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
