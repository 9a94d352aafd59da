//! Dates and durations of flow records.

/// Returns the seconds since 1970 of `2026-11-22 07:37:51.077`, also with `T` and `Z`; no time zone is
/// applied, because only differences are used.
pub fn date(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    let (day, clock) = text.split_once([' ', 'T'])?;
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let valid =
        (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then_some(())?;
    let seconds = duration(clock)?;
    Some(days(year, month, day) as f64 * 86_400.0 + seconds)
}

/// Days from 1970 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// Returns the seconds of `3.000` or `00:00:03.000`, with days in front as in `1d 02:03:04.5`.
pub fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let (days, clock) = match text.split_once('d') {
        Some((days, clock)) => (days.trim().parse::<u32>().ok()?, clock.trim()),
        None => (0, text),
    };
    let mut seconds = 0.0;
    for (place, part) in clock.splitn(4, ':').enumerate() {
        let digits = part
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let value: f64 = part.parse().ok().filter(|_| digits && place < 3)?;
        seconds = seconds * 60.0 + value;
    }
    (seconds < 1e9).then_some(f64::from(days) * 86_400.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_seconds_since_1970() {
        // `date -u -d ... +%s`
        assert_eq!(date("1970-01-01 00:00:00"), Some(0.0));
        assert_eq!(date("2000-02-29 12:00:00"), Some(951_825_600.0));
        assert_eq!(date("2026-11-22T07:37:51.250Z"), Some(1_795_333_071.25));
        for wrong in [
            "",
            "2026-13-01 00:00:00",
            "2026-11-22",
            "yesterday",
            "2026-11-22 aa:00:00",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_are_seconds_or_a_clock() {
        assert_eq!(duration("3.5"), Some(3.5));
        assert_eq!(duration("00:01:03.500"), Some(63.5));
        assert_eq!(duration("1d 02:00:00.000"), Some(93_600.0));
        for wrong in ["", "-1", "1:2:3:4", "1e3", "inf"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
