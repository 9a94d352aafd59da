//! The memory that queues book their bytes on: a buffer of a port's own, or one pool shared by
//! the ports of a switch.

/// Buffer memory and who uses how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPool {
    capacity: u64,
    used: u64,
    ports: Vec<u64>,
}

impl BufferPool {
    /// A buffer of this many bytes for so many ports, each of which may take all of it.
    pub fn new(capacity: u64, ports: usize) -> Self {
        Self {
            capacity,
            used: 0,
            ports: vec![0; ports],
        }
    }

    /// One port's buffer that is never the constraint: its queue's own limit is.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, 1)
    }

    /// The account of one port.
    pub fn account(&mut self, port: usize) -> BufferAccount<'_> {
        BufferAccount { pool: self, port }
    }

    /// Bytes booked now, by all ports.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes booked now by one port.
    pub fn used_by(&self, port: usize) -> u64 {
        self.ports[port]
    }

    /// Bytes not booked.
    pub fn free(&self) -> u64 {
        self.capacity - self.used
    }

    /// Whether a port may book so many bytes more.
    fn admits(&self, _port: usize, bytes: u64) -> bool {
        bytes <= self.free()
    }
}

/// One port's share in a [`BufferPool`].
#[derive(Debug)]
pub struct BufferAccount<'a> {
    pool: &'a mut BufferPool,
    port: usize,
}

impl BufferAccount<'_> {
    /// Books a frame, or refuses it and books nothing.
    pub fn reserve(&mut self, bytes: u64) -> bool {
        let fits = self.pool.admits(self.port, bytes);
        if fits {
            self.pool.used += bytes;
            self.pool.ports[self.port] += bytes;
        }
        fits
    }

    /// Books again what was released in the same call to a queue, so that it is still free.
    pub fn restore(&mut self, bytes: u64) {
        assert!(bytes <= self.pool.free(), "restored more than was released");
        self.pool.used += bytes;
        self.pool.ports[self.port] += bytes;
    }

    /// Gives back what a frame had booked.
    pub fn release(&mut self, bytes: u64) {
        let port = &mut self.pool.ports[self.port];
        assert!(bytes <= *port, "a queue released bytes it had not booked");
        *port -= bytes;
        self.pool.used -= bytes;
    }

    /// Bytes this port has booked.
    pub fn used(&self) -> u64 {
        self.pool.ports[self.port]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_refuses_and_books_nothing() {
        let mut pool = BufferPool::new(1000, 2);
        assert!(pool.account(0).reserve(600));
        assert!(!pool.account(1).reserve(401));
        assert_eq!((pool.used(), pool.used_by(1), pool.free()), (600, 0, 400));
        pool.account(0).release(600);
        assert!(pool.account(1).reserve(1000));
    }

    #[test]
    #[should_panic(expected = "had not booked")]
    fn releasing_what_another_port_booked_is_a_broken_invariant() {
        let mut pool = BufferPool::new(10, 2);
        pool.account(0).reserve(5);
        pool.account(1).release(1);
    }
}
