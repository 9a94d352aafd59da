//! Distributions of sizes and of times: reading, from a file if they were measured.

use crate::language::error::Checked;
use crate::language::field::{Field, search};
use crate::language::file::{Library, NamedFile};
use crate::language::reader::Reader;
use crate::language::spec::{self, Kind};
use crate::language::trace::{TIMES, TraceError, column, lines};
use crate::language::units::{UnitError, parse_fraction, parse_size, parse_span};
use crate::language::value;
use goodqueue_sim::{Law, Points};
use goodqueue_types::parameters::{Given, Parameter, Value};

/// Size in bytes above which a file is not accepted as a measured distribution.
const LARGEST_FILE: u64 = 1 << 20;
/// Largest number of points of a measured distribution.
const MAX_POINTS: usize = 100_000;

/// Quantity of a distribution in a file: how a cell is read, and the name of its column with the unit
/// of its numbers.
struct Quantity {
    cell: fn(&str) -> Result<f64, UnitError>,
    columns: &'static [(&'static str, &'static str)],
    header: &'static str,
}

/// Sizes in bytes.
static SIZES: Quantity = Quantity {
    cell: |text| Ok(parse_size(text)? as f64),
    columns: &[
        ("size", ""),
        ("size_B", "B"),
        ("size_kB", "kB"),
        ("size_KiB", "KiB"),
        ("size_MB", "MB"),
    ],
    header: "begin with \"size,share\" for sizes with units, or say the unit, as in \"size_B,share\"",
};

/// Times in seconds.
static SPANS: Quantity = Quantity {
    cell: |text| Ok(parse_span(text)?.as_secs_f64()),
    columns: &TIMES,
    header: "begin with \"time,share\" for times with units, or say the unit, as in \"time_ms,share\"",
};

/// Reader of distributions, and the place of their files.
#[derive(Clone, Copy)]
pub(crate) struct Laws<'a>(pub Library<'a>);

impl Laws<'_> {
    /// Reads a value or a distribution.
    pub(crate) fn read(self, field: &Field<'_>) -> Checked<Law> {
        self.value(field).map(Law::from_value)
    }

    /// Reads the values that a table gives, among them distributions.
    pub(crate) fn given(self, table: &Reader<'_>, tag: &str) -> Checked<Given> {
        table.check_required()?;
        table.given_by(tag, |field| self.value(field))
    }

    /// Reads a value of any kind. A distribution in a file gets its points.
    fn value(self, field: &Field<'_>) -> Checked<Value> {
        let quantity = match law_of(field.key.kind) {
            Some(spec::Quantity::Size) => &SIZES,
            Some(_) => &SPANS,
            None => return value::read(field),
        };
        let mut value = value::read(field)?;
        let Value::Table(law) = &mut value else {
            return Ok(value);
        };
        let (_, table) = Reader::tagged(field)?;
        if law.given.has("file") {
            let file = NamedFile::read(&table, self.0, "law", LARGEST_FILE)?;
            let points = parse(&file.bytes, quantity).map_err(|error| file.problem(error))?;
            law.given = file.named();
            (law.given.0).push((&Points::KEY, Value::Points(points.into())));
        }
        table.accept(Law::from_value(value.clone()).check())?;
        Ok(value)
    }
}

/// Returns the quantity of the distributions that a kind of values contains.
fn law_of(kind: Kind) -> Option<spec::Quantity> {
    search(kind, &|kind| match kind {
        Kind::Law(quantity) => Some(quantity),
        _ => None,
    })
}

/// Reads points of a distribution function: values, and the share that is no larger.
fn parse(bytes: &[u8], quantity: &Quantity) -> Result<Vec<(f64, f64)>, TraceError> {
    let mut unit = None;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_line = None;
    for line in lines(bytes) {
        let (number, text) = line?;
        last_line = Some(number);
        let error = |message: String, help: &str| TraceError::new(Some(number), message, help);
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let [value, share] = cells[..] else {
            let message = format!("{} columns instead of two", cells.len());
            return Err(error(message, "write a value and a share, as in 10kB,25%"));
        };
        let Some(unit) = unit else {
            let known = column(value, quantity.columns);
            let header = |message| error(message, quantity.header);
            unit = Some(known.map_err(header)?);
            column(share, &[("share", "")]).map_err(header)?;
            continue;
        };
        let value = (quantity.cell)(&format!("{value}{unit}"))
            .map_err(|wrong| error(wrong.message, &wrong.help))?;
        let share = parse_fraction(share).map_err(|wrong| error(wrong.message, &wrong.help))?;
        let last = points.last().copied().unwrap_or((-1.0, -1.0));
        if value < last.0 || share < last.1 || (value, share) == last {
            let message = "this point does not rise above the one before".to_owned();
            let help = "sort the lines: neither values nor shares fall, and no line comes twice";
            return Err(error(message, help));
        }
        if points.len() == MAX_POINTS {
            let message = format!("more than {MAX_POINTS} points");
            return Err(error(message, "leave some out"));
        }
        points.push((value, share));
    }
    match points.last() {
        None => Err(TraceError::new(
            None,
            "there is no point in it",
            quantity.header,
        )),
        Some((_, share)) if *share < 1.0 => {
            let message = format!("the shares end at {share}");
            Err(TraceError::new(
                last_line,
                message,
                "the last share is 1: of all",
            ))
        }
        Some(_) => Ok(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_points_are_in_the_cells_or_in_the_first_line() {
        let expected = vec![(1_000.0, 0.25), (2_000.0, 0.25), (1e6, 1.0)];
        let with_units = b"size,share\n1kB,25%\n2kB,0.25\n1MB,1\n";
        assert_eq!(parse(with_units, &SIZES), Ok(expected.clone()));
        let columns = b"# flows\nsize_kB , share\r\n1,0.25\r\n2,.25\r\n1000,100%\r\n";
        assert_eq!(parse(columns, &SIZES), Ok(expected));
        let times = b"time_ms,share\n0,0.1\n1500,1";
        assert_eq!(parse(times, &SPANS), Ok(vec![(0.0, 0.1), (1.5, 1.0)]));
    }

    #[test]
    fn a_mistake_in_a_file_of_a_law_is_reported_with_its_line() {
        let error = |text: &str| parse(text.as_bytes(), &SIZES).unwrap_err();
        let header = error("size_kb,share\n1,1\n");
        assert_eq!(header.line, Some(1));
        assert!(header.message.contains("did you mean"), "{header}");
        assert_eq!(error("size,cdf\n1kB,1\n").line, Some(1));
        assert_eq!(error("time,share\n1s,1\n").line, Some(1));
        assert_eq!(error("size,share\n1,1\n").line, Some(2));
        assert_eq!(error("size,share\n1kB,1,1\n").line, Some(2));
        assert_eq!(error("size,share\n1kB,-1\n").line, Some(2));
        assert_eq!(error("size,share\n1kB,101%\n").line, Some(2));
        assert_eq!(error("size,share\n\n1kB,nan\n").line, Some(3));
        assert_eq!(error("size,share\n1kB,0.5\n1kB,0.5\n2kB,1\n").line, Some(3));
        assert_eq!(error("size,share\n2kB,0.5\n1kB,1\n").line, Some(3));
        assert_eq!(error("size,share\n1kB,0.5\n2kB,0.4\n").line, Some(3));
        let short = error("size,share\n1kB,0.5\n2kB,0.9\n# end\n");
        assert_eq!(short.line, Some(3));
        assert!(short.message.contains("end at 0.9"), "{short}");
        assert_eq!(error("size,share\n").line, None);
        assert_eq!(error("").line, None);
        let rows: Vec<String> = (1..=MAX_POINTS + 1).map(|n| format!("{n},0.5")).collect();
        let long = error(&format!("size_B,share\n{}\n", rows.join("\n")));
        assert_eq!(long.line, Some(MAX_POINTS + 2));
    }
}
