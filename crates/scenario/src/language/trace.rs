//! Files with the changes of a link's rate: Mahimahi's traces and tables of time and rate.

use crate::language::error::{nearest, shorten};
use crate::language::units::{parse_rate, parse_span};
use goodqueue_sim::{DeliveryTrace, MAX_OPPORTUNITIES};
use goodqueue_types::message::without_mark;
use goodqueue_types::{Rate, Span};

/// Size in bytes above which a file is not accepted as a trace.
pub(crate) const LARGEST_TRACE: u64 = 64 << 20;

/// Mistake in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Number of the line, from 1. None if the file as a whole is wrong.
    pub line: Option<usize>,
    /// Description of the mistake.
    pub message: String,
    /// Text to write instead.
    pub help: String,
}

impl TraceError {
    pub(crate) fn new(
        line: Option<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            line,
            message: message.into(),
            help: help.into(),
        }
    }
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}; {}", self.message, self.help),
            None => write!(f, "{}; {}", self.message, self.help),
        }
    }
}

impl std::error::Error for TraceError {}

/// Yields the non-empty lines with their numbers, without a byte order mark, line ends, surrounding
/// blanks, and comments after `#`.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<(usize, &str), TraceError>> {
    let lines = without_mark(bytes).split(|byte| *byte == b'\n').enumerate();
    lines.filter_map(|(index, line)| {
        let number = index + 1;
        let Ok(text) = std::str::from_utf8(line) else {
            let help = "save the file as plain text";
            return Some(Err(TraceError::new(Some(number), "this is no text", help)));
        };
        let text = text.trim();
        (!text.is_empty() && !text.starts_with('#')).then_some(Ok((number, text)))
    })
}

/// Reads a trace of Mahimahi: each line is the time of one opportunity to deliver a packet, in
/// whole milliseconds.
///
/// # Errors
/// Returns the first wrong line, or the reason why the file contains no trace.
pub fn parse_mahimahi(bytes: &[u8]) -> Result<DeliveryTrace, TraceError> {
    const EXAMPLE: &str = "write one time in whole milliseconds on each line, as in 12";
    let mut milliseconds: Vec<u32> = Vec::new();
    let mut at_once = 0;
    for line in lines(bytes) {
        let (number, text) = line?;
        let error = |message, help: &str| TraceError::new(Some(number), message, help);
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("\"{}\" is not a number of milliseconds", shorten(text));
            return Err(error(message, EXAMPLE));
        }
        let time: u32 = text.parse().map_err(|_| {
            let message = format!("{} milliseconds are too many", shorten(text));
            error(message, "a trace has at most 49 days")
        })?;
        let last = milliseconds.last().copied();
        if let Some(last) = last.filter(|last| *last > time) {
            let message = format!("{time} comes after {last}");
            return Err(error(message, "sort the times"));
        }
        at_once = if last == Some(time) { at_once + 1 } else { 1 };
        if at_once > MAX_OPPORTUNITIES / 2 {
            let message = format!("more than {} times {time}", MAX_OPPORTUNITIES / 2);
            return Err(error(message, "no link delivers so many packets at once"));
        }
        milliseconds.push(time);
    }
    match milliseconds.last() {
        None => Err(TraceError::new(None, "there is no time in it", EXAMPLE)),
        Some(0) => {
            let help = "the last time is when the trace begins again: write one above 0";
            Err(TraceError::new(None, "it ends at time 0", help))
        }
        Some(_) => Ok(DeliveryTrace::new(milliseconds)),
    }
}

/// Columns of time and of rate, by the names in a table's first line, with the unit of their
/// numbers.
pub(crate) const TIMES: [(&str, &str); 5] = [
    ("time", ""),
    ("time_s", "s"),
    ("time_ms", "ms"),
    ("time_us", "us"),
    ("time_ns", "ns"),
];
const RATES: [(&str, &str); 5] = [
    ("rate", ""),
    ("rate_bps", "bps"),
    ("rate_kbps", "kbps"),
    ("rate_Mbps", "Mbps"),
    ("rate_Gbps", "Gbps"),
];

/// Reads a table of times and rates, `time,rate` in its first line. The rate of a line holds from
/// its time until that of the next.
///
/// # Errors
/// Returns the first wrong line, or the reason why the file contains no trace.
pub fn parse_rate_csv(bytes: &[u8]) -> Result<Vec<(Span, Rate)>, TraceError> {
    const HEADER: &str = "write \"time,rate\" for values with units, or say them, as in \
                          \"time_s,rate_Mbps\"";
    let mut units = None;
    let mut steps: Vec<(Span, Rate)> = Vec::new();
    for line in lines(bytes) {
        let (number, text) = line?;
        let error = |message: String, help: &str| TraceError::new(Some(number), message, help);
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let [time, rate] = cells[..] else {
            let message = format!("{} columns instead of two", cells.len());
            return Err(error(message, "write a time and a rate, as in 1.5s,10Mbps"));
        };
        let Some((time_unit, rate_unit)) = units else {
            let time_unit = column(time, &TIMES).map_err(|message| error(message, HEADER))?;
            let rate_unit = column(rate, &RATES).map_err(|message| error(message, HEADER))?;
            units = Some((time_unit, rate_unit));
            continue;
        };
        let time = parse_span(&format!("{time}{time_unit}"))
            .map_err(|unit| error(unit.message, &unit.help))?;
        let rate = rate_or_zero(&format!("{rate}{rate_unit}"))
            .map_err(|unit| error(unit.message, &unit.help))?;
        match steps.last() {
            None if time > Span::ZERO => {
                let message = "the first time is not 0".to_owned();
                return Err(error(message, "say what the rate is from the beginning on"));
            }
            Some((last, _)) if *last >= time => {
                let message = "this time is not after the one before".to_owned();
                return Err(error(message, "sort the lines, and keep one for each time"));
            }
            _ => steps.push((time, rate)),
        }
    }
    if steps.is_empty() {
        return Err(TraceError::new(None, "there is no rate in it", HEADER));
    }
    Ok(steps)
}

/// Returns the unit that a column's name gives its numbers.
pub(crate) fn column(
    name: &str,
    columns: &[(&'static str, &'static str)],
) -> Result<&'static str, String> {
    let found = columns.iter().find(|column| column.0 == name);
    found.map(|column| column.1).ok_or_else(|| {
        let near = nearest(name, columns.iter().map(|column| column.0));
        let hint = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
        format!("\"{}\" is no column here{hint}", shorten(name))
    })
}

/// Reads a rate, which may be zero for an outage.
pub(crate) fn rate_or_zero(text: &str) -> Result<Rate, crate::UnitError> {
    let unit = text.trim_start_matches(['0', '.']);
    let zero = unit.len() < text.len() && text.starts_with('0');
    if zero
        && RATES
            .iter()
            .any(|(_, known)| *known == unit && !known.is_empty())
    {
        return Ok(Rate(0));
    }
    parse_rate(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_delivery_trace_are_milliseconds() {
        let trace = parse_mahimahi(b"0\n3\r\n\n# two at once\n3\n12").unwrap();
        assert_eq!(*trace.milliseconds.0, [0, 3, 3, 12]);
    }

    #[test]
    fn a_mistake_in_a_delivery_trace_is_reported_with_its_line() {
        let error = |text: &[u8]| parse_mahimahi(text).unwrap_err();
        assert_eq!(error(b"1\n2.5\n").line, Some(2));
        assert_eq!(error(b"1\n\n-3\n").line, Some(3));
        assert_eq!(
            error(b"5\n4").to_string(),
            "line 2: 4 comes after 5; sort the times"
        );
        assert_eq!(error(b"5\n\xff").line, Some(2));
        assert_eq!(error(b"99999999999").line, Some(1));
        assert_eq!(error(b"").line, None);
        assert_eq!(error(b"0\n0\n").line, None);
        let crowd = "7\n".repeat(250_001);
        assert_eq!(error(crowd.as_bytes()).line, Some(250_001));
    }

    #[test]
    fn units_of_rates_are_in_the_cells_or_in_the_first_line() {
        let expected = vec![
            (Span::ZERO, Rate(10_000_000)),
            (Span::from_millis(1_500), Rate(0)),
            (Span::from_secs(2), Rate(2_500_000)),
        ];
        let with_units = b"time,rate\n0s,10Mbps\n1500ms,0bps\n2s,2500kbps\n";
        assert_eq!(parse_rate_csv(with_units), Ok(expected.clone()));
        let columns = b"# a comment\ntime_s , rate_Mbps\r\n0,10\r\n1.5,0\r\n2,2.5\r\n";
        assert_eq!(parse_rate_csv(columns), Ok(expected));
    }

    #[test]
    fn a_mistake_in_a_table_of_rates_is_reported_with_its_line() {
        let error = |text: &str| parse_rate_csv(text.as_bytes()).unwrap_err();
        let header = error("time_s,rate_mbps\n0,1\n");
        assert_eq!(header.line, Some(1));
        assert!(
            header.message.contains("did you mean \"rate_Mbps\""),
            "{header}"
        );
        assert_eq!(error("time,rate\n0s,10\n").line, Some(2));
        assert_eq!(error("time,rate\n0s,10Mbps,x\n").line, Some(2));
        assert_eq!(error("time,rate\n1s,10Mbps\n").line, Some(2));
        assert_eq!(error("time_s,rate_bps\n0,1\n1,1\n1,2\n").line, Some(4));
        assert_eq!(error("time_s,rate_bps\n0,-1\n").line, Some(2));
        assert_eq!(error("time_s,rate_bps\n").line, None);
    }
}
