//! Conversion of 32-bit sequence numbers to positions in a stream.

/// First position. It leaves room below for data before the first segment seen.
const START: u64 = 1 << 32;

/// Converter of sequence numbers to the position nearest to the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwrap {
    last: Option<u64>,
}

impl Unwrap {
    /// Returns the position with this number nearest to the last one, and records it as the last.
    pub fn position(&mut self, number: u32) -> u64 {
        let position = self.peek(number);
        self.last = Some(self.last.unwrap_or(0).max(position));
        position
    }

    /// Returns the position with this number nearest to the last one.
    pub fn peek(&self, number: u32) -> u64 {
        match self.last {
            None => START + u64::from(number),
            Some(last) => {
                let step = number.wrapping_sub(last as u32).cast_signed();
                last.saturating_add_signed(i64::from(step))
            }
        }
    }

    /// Returns true if a number was recorded.
    pub fn has_begun(&self) -> bool {
        self.last.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_continue_when_numbers_wrap() {
        let mut unwrap = Unwrap::default();
        let first = unwrap.position(0xFFFF_FFF0);
        assert_eq!(unwrap.position(0x10), first + 0x20);
        assert_eq!(unwrap.position(0xFFFF_FFF8), first + 8);
        assert_eq!(unwrap.peek(0x20), first + 0x30);
    }
}
