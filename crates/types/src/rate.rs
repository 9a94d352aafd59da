//! Link rates and byte counts.

use crate::Span;

/// Picoseconds that one byte takes at one bit per second.
const PICOS_PER_BYTE_AT_1BPS: u128 = 8_000_000_000_000;

/// A rate in whole bits per second. The scenario parser refuses zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Rate {
    /// Rate of a link that only delays.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// Returns the time to send `bytes`, rounded up to a picosecond, so that no frame leaves early
    /// and every frame takes some time.
    ///
    /// `bytes · 8 · 10¹²` exceeds 64 bits above 2.3 MB, so the product has 128 bits.
    #[must_use]
    pub fn transmission_time(self, bytes: Bytes) -> Span {
        let picos = (u128::from(bytes.0) * PICOS_PER_BYTE_AT_1BPS).div_ceil(u128::from(self.0));
        Span(u64::try_from(picos).unwrap_or(u64::MAX))
    }

    /// Returns the picoseconds per byte if they are a whole number, as for most real rates. Then a
    /// 64-bit product replaces the 128-bit division for frames of up to a megabyte.
    #[must_use]
    pub fn picos_per_byte(self) -> Option<u64> {
        let rate = u128::from(self.0);
        (PICOS_PER_BYTE_AT_1BPS.is_multiple_of(rate))
            .then(|| (PICOS_PER_BYTE_AT_1BPS / rate) as u64)
    }

    /// Returns the bytes that pass in `span`, which is the bandwidth-delay product, rounded down.
    #[must_use]
    pub fn bytes_in(self, span: Span) -> Bytes {
        Bytes((u128::from(self.0) * u128::from(span.0) / PICOS_PER_BYTE_AT_1BPS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_is_exact_and_survives_big_buffers() {
        let rate = Rate(1_000_000);
        assert_eq!(rate.transmission_time(Bytes(583)), Span::from_micros(4664));
        assert_eq!(rate.picos_per_byte(), Some(8_000_000));
        // 64 MB drain in 51.2 ms at 10 Gb/s.
        assert_eq!(
            Rate(10_000_000_000).transmission_time(Bytes(64_000_000)),
            Span::from_micros(51_200)
        );
        assert_eq!(Rate(3).picos_per_byte(), None);
        assert_eq!(Rate(3).transmission_time(Bytes(1)), Span(2_666_666_666_667));
    }

    #[test]
    fn bandwidth_delay_product() {
        assert_eq!(
            Rate(100_000_000).bytes_in(Span::from_millis(80)),
            Bytes(1_000_000)
        );
    }
}
