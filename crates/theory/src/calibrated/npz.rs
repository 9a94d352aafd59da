//! Arrays of a file that `numpy.savez` writes: a ZIP archive without compression.

use std::collections::HashMap;

/// Beginning of an entry of a ZIP archive.
const ENTRY: &[u8] = b"PK\x03\x04";

/// Bytes of an entry's header in a ZIP archive before its name.
const ZIP_HEADER: usize = 30;

/// Function that reads a number from its bytes.
type ReadNumber = fn(&[u8]) -> f64;

/// Bytes of an array's header before its description, in version 1 of the format.
const ARRAY_HEADER: usize = 10;

/// Returns the arrays by name, each row by row. Each entry follows the one before, without gaps.
///
/// # Errors
/// Returns what the file should have had if it is compressed or damaged, or if its numbers are neither
/// in single nor in double precision.
pub fn arrays(mut file: &[u8]) -> Result<HashMap<String, Vec<f64>>, String> {
    let mut found = HashMap::new();
    while file.starts_with(ENTRY) {
        if short(file, 8)? != 0 {
            return Err("entries without compression".to_owned());
        }
        let (name, extra) = (short(file, 26)?, short(file, 28)?);
        let start = ZIP_HEADER + name + extra;
        let data = start + ARRAY_HEADER + short(file, start + 8)?;
        let name = String::from_utf8_lossy(part(file, ZIP_HEADER, ZIP_HEADER + name)?);
        let name = name.trim_end_matches(".npy").to_owned();
        let description = String::from_utf8_lossy(part(file, start + ARRAY_HEADER, data)?);
        let (size, read) = precision(&description)
            .ok_or_else(|| format!("rows of little-endian numbers in {name}"))?;
        let end = count(&description)
            .and_then(|count| count.checked_mul(size)?.checked_add(data))
            .ok_or_else(|| format!("the shape of {name}"))?;
        let numbers = part(file, data, end)?.chunks_exact(size).map(read);
        found.insert(name, numbers.collect());
        file = &file[end..];
    }
    Ok(found)
}

fn part(file: &[u8], start: usize, end: usize) -> Result<&[u8], String> {
    file.get(start..end).ok_or_else(|| "more bytes".to_owned())
}

fn short(file: &[u8], at: usize) -> Result<usize, String> {
    let bytes = part(file, at, at + 2)?;
    Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
}

/// Returns the bytes of a number of an array and the function that reads them.
fn precision(description: &str) -> Option<(usize, ReadNumber)> {
    let has =
        |kind: &str| description.contains(&format!("'descr': '{kind}', 'fortran_order': False"));
    let single = |bytes: &[u8]| f64::from(f32::from_le_bytes(fixed(bytes)));
    let double = |bytes: &[u8]| f64::from_le_bytes(fixed(bytes));
    if has("<f4") {
        Some((4, single))
    } else if has("<f8") {
        Some((8, double))
    } else {
        None
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("chunks have the size of a number")
}

/// Returns the number of elements of an array, the product of the numbers in `'shape': (18, 32)`.
fn count(description: &str) -> Option<usize> {
    let (_, shape) = description.split_once("'shape': (")?;
    let (shape, _) = shape.split_once(')')?;
    let mut sides = shape
        .split(',')
        .map(str::trim)
        .filter(|side| !side.is_empty());
    sides.try_fold(1_usize, |count, side| count.checked_mul(side.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let mut file = ENTRY.to_vec();
        file.extend([0; 22]);
        file.extend((name.len() as u16).to_le_bytes());
        file.extend([0; 2]);
        file.extend(name.bytes());
        file.extend(b"\x93NUMPY\x01\x00");
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(data);
        file
    }

    #[test]
    fn arrays_in_both_precisions_are_read_row_by_row() {
        let mut file = entry(
            "a.npy",
            "<f4",
            "2,",
            &[1.5_f32, -2.0].map(f32::to_le_bytes).concat(),
        );
        file.extend(entry(
            "b.npy",
            "<f8",
            "1, 2",
            &[0.1, 7.0].map(f64::to_le_bytes).concat(),
        ));
        file.extend(b"PK\x01\x02 the directory");
        let found = arrays(&file).unwrap();
        assert_eq!(found["a"], [1.5, -2.0]);
        assert_eq!(found["b"], [0.1, 7.0]);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let whole = entry("a.npy", "<f4", "2,", &[0; 8]);
        for length in 5..whole.len() {
            assert!(arrays(&whole[..length]).is_err(), "{length} bytes");
        }
        assert!(arrays(&entry("a.npy", "<i4", "1,", &[0; 4])).is_err());
        assert!(arrays(&entry("a.npy", "<f8", "99999999999999999999", &[0; 8])).is_err());
    }
}
