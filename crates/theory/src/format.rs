//! Numbers in sentences, in the formats of Python: `general(x, 3)` is `{x:.3g}`.

/// Smallest decimal exponent of a number that is written without an exponent.
const MIN_EXPONENT: i32 = -4;

/// Returns a number with at most this many significant digits, as Python's format `g`: without zeros
/// at the end of its fraction, and with an exponent if it is very small or large.
pub fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return value.to_string().to_ascii_lowercase();
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a whole number");
    if (MIN_EXPONENT..digits as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

/// Returns a share as a percentage with this many decimals, as Python's format `%`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}%", 100.0 * share)
}

/// Returns the text without the zeros at the end of its fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, and what Python prints with 2, 3, 4 and 6 significant digits.
    const GENERAL: [(&str, [&str; 4]); 28] = [
        ("0.0", ["0", "0", "0", "0"]),
        ("-0.0", ["-0", "-0", "-0", "-0"]),
        ("1.0", ["1", "1", "1", "1"]),
        ("10.0", ["10", "10", "10", "10"]),
        ("99.5", ["1e+02", "99.5", "99.5", "99.5"]),
        ("99.95", ["1e+02", "100", "99.95", "99.95"]),
        ("999.5", ["1e+03", "1e+03", "999.5", "999.5"]),
        ("0.5", ["0.5", "0.5", "0.5", "0.5"]),
        ("2.5", ["2.5", "2.5", "2.5", "2.5"]),
        ("0.125", ["0.12", "0.125", "0.125", "0.125"]),
        ("0.375", ["0.38", "0.375", "0.375", "0.375"]),
        (
            "1234567.0",
            ["1.2e+06", "1.23e+06", "1.235e+06", "1.23457e+06"],
        ),
        ("1e16", ["1e+16", "1e+16", "1e+16", "1e+16"]),
        ("1e-4", ["0.0001", "0.0001", "0.0001", "0.0001"]),
        ("9.9995e-5", ["0.0001", "0.0001", "9.999e-05", "9.9995e-05"]),
        (
            "0.00012345",
            ["0.00012", "0.000123", "0.0001234", "0.00012345"],
        ),
        (
            "123456789.0",
            ["1.2e+08", "1.23e+08", "1.235e+08", "1.23457e+08"],
        ),
        ("0.30000000000000004", ["0.3", "0.3", "0.3", "0.3"]),
        ("12.25", ["12", "12.2", "12.25", "12.25"]),
        ("12.35", ["12", "12.3", "12.35", "12.35"]),
        ("1e5", ["1e+05", "1e+05", "1e+05", "100000"]),
        ("999999.5", ["1e+06", "1e+06", "1e+06", "1e+06"]),
        ("1e21", ["1e+21", "1e+21", "1e+21", "1e+21"]),
        ("2.5e-7", ["2.5e-07", "2.5e-07", "2.5e-07", "2.5e-07"]),
        ("0.025", ["0.025", "0.025", "0.025", "0.025"]),
        ("0.98", ["0.98", "0.98", "0.98", "0.98"]),
        ("-3.1416", ["-3.1", "-3.14", "-3.142", "-3.1416"]),
        ("14.125", ["14", "14.1", "14.12", "14.125"]),
    ];

    /// Shares, decimals, and what Python prints.
    const PERCENT: [(f64, usize, &str); 8] = [
        (0.98, 0, "98%"),
        (0.005, 0, "0%"),
        (0.015, 0, "2%"),
        (0.125, 1, "12.5%"),
        (0.00125, 2, "0.12%"),
        (0.0861, 1, "8.6%"),
        (0.01695, 2, "1.70%"),
        (1.0, 2, "100.00%"),
    ];

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (value, texts) in GENERAL {
            let number: f64 = value.parse().unwrap();
            let found = [2, 3, 4, 6].map(|digits| general(number, digits));
            assert_eq!(found, texts, "{value}");
        }
        for (share, decimals, text) in PERCENT {
            assert_eq!(
                percent(share, decimals),
                text,
                "{share} with {decimals} decimals"
            );
        }
        assert_eq!(general(f64::INFINITY, 3), "inf");
        assert_eq!(general(f64::NAN, 3), "nan");
    }
}
