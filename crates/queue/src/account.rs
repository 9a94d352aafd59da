//! The buffer a queue's bytes are booked on.

/// Bytes of buffer memory, one queue's own or shared by several ports of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferAccount {
    used: u64,
    capacity: u64,
}

impl BufferAccount {
    /// A buffer that is never the constraint: the queue's own limit is.
    pub fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// A buffer of this many bytes.
    pub fn of(capacity: u64) -> Self {
        Self { used: 0, capacity }
    }

    /// Books a frame, or refuses it and books nothing.
    pub fn reserve(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.capacity - self.used;
        if fits {
            self.used += bytes;
        }
        fits
    }

    /// Gives back what a frame had booked.
    pub fn release(&mut self, bytes: u64) {
        assert!(
            bytes <= self.used,
            "a queue released bytes it had not booked"
        );
        self.used -= bytes;
    }

    /// Bytes booked now.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes that may still be booked.
    pub fn free(&self) -> u64 {
        self.capacity - self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_account_refuses_and_books_nothing() {
        let mut account = BufferAccount::of(1000);
        assert!(account.reserve(600));
        assert!(!account.reserve(401));
        assert_eq!((account.used(), account.free()), (600, 400));
        account.release(600);
        assert!(account.reserve(1000));
    }

    #[test]
    #[should_panic(expected = "had not booked")]
    fn releasing_too_much_is_a_broken_invariant() {
        BufferAccount::of(10).release(1);
    }
}
