//! Sequence numbers of 32 bits as positions in a stream.

/// Positions start here, so that what lies before the first segment seen has one, too.
const START: u64 = 1 << 32;

/// Turns sequence numbers into positions, by the one nearest to the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwrap {
    last: Option<u64>,
}

impl Unwrap {
    /// The position nearest to the last one that has this number.
    pub fn position(&mut self, number: u32) -> u64 {
        let position = self.peek(number);
        self.last = Some(self.last.unwrap_or(0).max(position));
        position
    }

    /// The same, without taking note.
    pub fn peek(&self, number: u32) -> u64 {
        match self.last {
            None => START + u64::from(number),
            Some(last) => {
                let step = number.wrapping_sub(last as u32).cast_signed();
                last.saturating_add_signed(i64::from(step))
            }
        }
    }

    /// Whether any number was seen.
    pub fn has_begun(&self) -> bool {
        self.last.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        let mut unwrap = Unwrap::default();
        let first = unwrap.position(0xFFFF_FFF0);
        assert_eq!(unwrap.position(0x10), first + 0x20);
        assert_eq!(unwrap.position(0xFFFF_FFF8), first + 8);
        assert_eq!(unwrap.peek(0x20), first + 0x30);
    }
}
