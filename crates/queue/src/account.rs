//! The memory on which queues book their bytes: one port's own buffer, or one pool that the ports
//! of a switch share.

use goodqueue_types::parameters::{Declared, Key, Kind, Parameter, Parameters, Value, number};

/// Policy by which the ports of a switch share one buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// A port may take all bytes that are free.
    Complete,
    /// A port may take at most an equal part of the buffer.
    Static,
    /// Dynamic thresholds: a port may hold up to `alpha` times what is free (Choudhury and Hahne,
    /// "Dynamic queue length thresholds for shared-memory packet switches", 1998, equation 1).
    Dynamic {
        /// The factor, above 0; switch chips have powers of two, often from 1/128 to 8.
        alpha: f64,
    },
}

impl Default for Sharing {
    fn default() -> Self {
        Self::Dynamic { alpha: 1.0 }
    }
}

/// The sharing policy, and the factor `alpha` of dynamic thresholds.
impl Declared for Sharing {
    const KEYS: &'static [Key] = &[
        Key::new(Kind::Choice(&["dynamic", "static", "complete"]))
            .named("policy")
            .default("\"dynamic\"")
            .example("static")
            .doc(
                "`dynamic`: a link may hold up to `alpha` times what is free; `static`: an equal \
                 part; `complete`: whatever is free.",
            ),
        number(0.000_001, 1_000_000.0)
            .named("alpha")
            .default("1")
            .example("0.5")
            .doc("The factor of dynamic thresholds."),
    ];
}

impl Parameters for Sharing {
    fn keys(&self) -> &'static [Key] {
        Self::KEYS
    }

    fn get(&self, key: &str) -> Option<Value> {
        match (key, self) {
            ("policy", Self::Complete) => Some(Value::Word("complete")),
            ("policy", Self::Static) => Some(Value::Word("static")),
            ("policy", Self::Dynamic { .. }) => Some(Value::Word("dynamic")),
            ("alpha", Self::Dynamic { alpha }) => Some(alpha.value()),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        match (key, value) {
            ("policy", Value::Word("complete")) => *self = Self::Complete,
            ("policy", Value::Word("static")) => *self = Self::Static,
            ("policy", _) => *self = Self::default(),
            ("alpha", value) => {
                *self = Self::Dynamic {
                    alpha: Parameter::from_value(value),
                };
            }
            _ => {}
        }
    }
}

/// Buffer memory and who uses how much of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferPool {
    capacity: u64,
    sharing: Sharing,
    /// Bytes reserved for each port. No other port can book them.
    headroom: u64,
    /// Bytes of a cell. A frame books whole cells.
    cell: u64,
    /// Bytes of each frame that are not stored.
    gap: u64,
    used: u64,
    /// Booked bytes in excess of the ports' headroom. They are part of `used`.
    shared: u64,
    ports: Vec<u64>,
}

impl BufferPool {
    /// Creates a buffer of `capacity` bytes for `ports` ports, each of which may take all of it.
    pub fn new(capacity: u64, ports: usize) -> Self {
        Self::shared(capacity, ports, Sharing::Complete, 0)
    }

    /// Creates a buffer of `capacity` bytes for `ports` ports. Each port has `headroom` bytes of
    /// its own. The ports share the rest, and thresholds apply to this rest alone.
    ///
    /// # Panics
    /// Panics if the capacity is smaller than the headroom of all ports together.
    pub fn shared(capacity: u64, ports: usize, sharing: Sharing, headroom: u64) -> Self {
        let reserved = headroom.checked_mul(ports as u64);
        assert!(
            reserved.is_some_and(|reserved| reserved <= capacity),
            "headroom beyond the capacity"
        );
        Self {
            capacity,
            sharing,
            headroom,
            cell: 1,
            gap: 0,
            used: 0,
            shared: 0,
            ports: vec![0; ports],
        }
    }

    /// Makes every frame book whole cells for its bytes less the `gap`.
    ///
    /// # Panics
    /// Panics if a cell has no bytes.
    #[must_use]
    pub fn in_cells(mut self, cell: u64, gap: u64) -> Self {
        assert!(cell > 0, "a cell without bytes");
        (self.cell, self.gap) = (cell, gap);
        self
    }

    /// Creates a one-port buffer that never refuses a frame, so that only the queue's own limit
    /// binds.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, 1)
    }

    /// Returns the account of one port.
    #[inline]
    pub fn account(&mut self, port: usize) -> BufferAccount<'_> {
        BufferAccount { pool: self, port }
    }

    /// Returns the bytes that all ports have booked.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the bytes that one port has booked.
    #[cfg(test)]
    pub fn used_by(&self, port: usize) -> u64 {
        self.ports[port]
    }

    /// Returns the bytes that no port has booked.
    pub fn free(&self) -> u64 {
        self.capacity - self.used
    }

    /// Returns the bytes that are neither booked nor reserved as a port's headroom.
    pub fn shared_free(&self) -> u64 {
        self.capacity - self.headroom * self.ports.len() as u64 - self.shared
    }

    /// Returns the bytes of memory that a frame of `bytes` takes.
    #[inline]
    fn stored(&self, bytes: u64) -> u64 {
        let stored = bytes.saturating_sub(self.gap);
        if self.cell == 1 {
            stored
        } else {
            stored.div_ceil(self.cell) * self.cell
        }
    }

    /// Returns true if the sharing policy lets a port book `bytes` more.
    fn admits(&self, port: usize, bytes: u64) -> bool {
        if self.has_one_share() {
            return bytes <= self.capacity - self.used;
        }
        let after = self.ports[port] + bytes;
        let (held, free) = (self.beyond_headroom(after), self.shared_free());
        if held == 0 {
            return true;
        }
        let fits = held - self.beyond_headroom(self.ports[port]) <= free;
        fits && match self.sharing {
            Sharing::Complete => true,
            Sharing::Static => after <= self.capacity / self.ports.len() as u64,
            Sharing::Dynamic { alpha } => held as f64 <= alpha * free as f64,
        }
    }

    /// Returns true if the ports may book all bytes that are free, as the only port of a link's own
    /// buffer may.
    #[inline]
    fn has_one_share(&self) -> bool {
        self.headroom == 0 && self.sharing == Sharing::Complete
    }

    fn beyond_headroom(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.headroom)
    }

    #[inline]
    fn set(&mut self, port: usize, bytes: u64) {
        let before = std::mem::replace(&mut self.ports[port], bytes);
        self.used = self.used - before + bytes;
        self.shared = self.shared - self.beyond_headroom(before) + self.beyond_headroom(bytes);
    }
}

/// Access of one port to its [`BufferPool`].
#[derive(Debug)]
pub struct BufferAccount<'a> {
    pool: &'a mut BufferPool,
    port: usize,
}

impl BufferAccount<'_> {
    /// Books a frame and returns true, or returns false and books nothing.
    #[inline]
    pub fn reserve(&mut self, bytes: u64) -> bool {
        let bytes = self.pool.stored(bytes);
        let fits = self.pool.admits(self.port, bytes);
        if fits {
            self.pool.set(self.port, self.used() + bytes);
        }
        fits
    }

    /// Books a frame that the same call to a queue released before. The buffer certainly has room
    /// for it, so the sharing policy does not apply.
    pub fn restore(&mut self, bytes: u64) {
        let bytes = self.pool.stored(bytes);
        assert!(bytes <= self.pool.free(), "restored more than was released");
        self.pool.set(self.port, self.used() + bytes);
    }

    /// Returns the bytes that a frame had booked to the pool.
    #[inline]
    pub fn release(&mut self, bytes: u64) {
        let bytes = self.pool.stored(bytes);
        let used = self.used();
        assert!(bytes <= used, "a queue released bytes it had not booked");
        self.pool.set(self.port, used - bytes);
    }

    /// Returns true if this port has booked enough for a frame.
    pub fn holds(&self, bytes: u64) -> bool {
        self.pool.stored(bytes) <= self.used()
    }

    /// Returns the bytes that this port has booked.
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
    fn releasing_bytes_of_another_port_panics() {
        let mut pool = BufferPool::new(10, 2);
        pool.account(0).reserve(5);
        pool.account(1).release(1);
    }

    /// Lets every port book one frame after another until the pool accepts no more.
    fn saturate(pool: &mut BufferPool, ports: std::ops::Range<usize>, frame: u64) {
        let mut taken = true;
        while taken {
            taken = false;
            for port in ports.clone() {
                taken |= pool.account(port).reserve(frame);
            }
        }
    }

    /// Choudhury and Hahne, section III: if N ports are saturated, each holds αB / (1 + Nα) and B /
    /// (1 + Nα) stays free.
    #[test]
    fn saturated_ports_hold_the_shares_of_dynamic_thresholds() {
        for alpha in [0.125, 0.5, 1.0, 2.0, 8.0] {
            for ports in [1, 2, 4, 16] {
                // The capacity is chosen so that all shares are whole bytes.
                let free = 800;
                let each = (alpha * 800.0) as u64;
                let capacity = free + ports * each;
                for headroom in [0, 50] {
                    let reserved = headroom * ports;
                    let mut pool = BufferPool::shared(
                        capacity + reserved,
                        ports as usize,
                        Sharing::Dynamic { alpha },
                        headroom,
                    );
                    saturate(&mut pool, 0..ports as usize, 1);
                    for port in 0..ports as usize {
                        let held = pool.used_by(port);
                        assert_eq!(held, each + headroom, "α {alpha}, N {ports}");
                    }
                    assert_eq!(pool.shared_free(), free, "α {alpha}, N {ports}");
                    assert_eq!(pool.free(), free, "α {alpha}, N {ports}");
                }
            }
        }
    }

    #[test]
    fn a_port_that_wakes_finds_room_and_pushes_the_others_down_to_their_share() {
        let mut pool = BufferPool::shared(1_200, 2, Sharing::Dynamic { alpha: 1.0 }, 0);
        saturate(&mut pool, 0..1, 1);
        assert_eq!(pool.used_by(0), 600);
        // The second port finds the bytes that were kept free. The threshold sinks as it takes
        // them.
        saturate(&mut pool, 1..2, 1);
        assert_eq!((pool.used_by(1), pool.free()), (300, 300));
        // The first port is now above the threshold. The port admits no packet until it has sent
        // its excess.
        while !pool.account(0).reserve(1) {
            pool.account(0).release(1);
            saturate(&mut pool, 1..2, 1);
        }
        for port in 0..2 {
            assert!(pool.used_by(port).abs_diff(400) <= 1, "to the byte");
        }
    }

    #[test]
    fn a_static_partition_gives_every_port_its_part_and_complete_sharing_all() {
        let mut pool = BufferPool::shared(1_200, 3, Sharing::Static, 0);
        saturate(&mut pool, 0..1, 1);
        assert_eq!((pool.used_by(0), pool.free()), (400, 800));
        let mut pool = BufferPool::shared(1_200, 3, Sharing::Complete, 0);
        saturate(&mut pool, 0..1, 1);
        assert_eq!((pool.used_by(0), pool.free()), (1_200, 0));
        assert!(!pool.account(1).reserve(1));
    }

    #[test]
    fn headroom_is_free_however_full_the_rest_is() {
        let mut pool = BufferPool::shared(1_000, 4, Sharing::Complete, 100);
        saturate(&mut pool, 0..1, 1);
        assert_eq!((pool.used_by(0), pool.shared_free()), (700, 0));
        for port in 1..4 {
            assert!(pool.account(port).reserve(100) && !pool.account(port).reserve(1));
        }
        assert_eq!(pool.free(), 0);
        // A port's release counts against its shared bytes first, so these ten bytes become free
        // for other ports.
        pool.account(0).release(10);
        assert!(pool.account(3).reserve(10));
        assert_eq!(pool.shared_free(), 0);
    }

    /// A full Ethernet frame has 1,518 bytes, beside 20 of preamble and gap on the line: six cells
    /// of 256 bytes. Choudhury and Hahne count cells.
    #[test]
    fn a_frame_books_whole_cells_without_its_preamble() {
        for (frame, cells) in [(1_538, 6), (84, 1), (1_557, 7), (20, 0), (0, 0)] {
            let mut pool = BufferPool::new(10_000, 1).in_cells(256, 20);
            assert!(pool.account(0).reserve(frame));
            assert_eq!(pool.used(), 256 * cells, "{frame}");
            assert!(pool.account(0).holds(frame));
            pool.account(0).release(frame);
            pool.account(0).restore(frame);
            assert_eq!(pool.used(), 256 * cells, "{frame}");
            pool.account(0).release(frame);
            assert_eq!(pool.used(), 0);
        }
        // Shares α B / (1 + N α) of 12 cells with α = 1/2.
        for (ports, each) in [(1, 4), (2, 3)] {
            let sharing = Sharing::Dynamic { alpha: 0.5 };
            let mut pool = BufferPool::shared(12 * 256, 2, sharing, 0).in_cells(256, 20);
            saturate(&mut pool, 0..ports, 84);
            for port in 0..ports {
                assert_eq!(pool.used_by(port), each * 256, "{ports} ports");
            }
        }
    }

    #[test]
    fn no_sequence_of_frames_books_more_than_the_capacity() {
        let mut random = goodqueue_types::RandomStream::new(1, "test", 0);
        for sharing in [
            Sharing::Complete,
            Sharing::Static,
            Sharing::Dynamic { alpha: 4.0 },
        ] {
            let mut pool = BufferPool::shared(20_000, 5, sharing, 2_000);
            let mut waiting = vec![std::collections::VecDeque::new(); 5];
            for _ in 0..20_000 {
                let port = random.bits() as usize % 5;
                if random.unit() < 0.6 {
                    let bytes = 40 + random.bits() % 1_461;
                    let own = pool.used_by(port) + bytes <= 2_000;
                    let taken = pool.account(port).reserve(bytes);
                    assert!(taken || !own, "headroom was refused");
                    waiting[port].extend(taken.then_some(bytes));
                } else if let Some(bytes) = waiting[port].pop_front() {
                    pool.account(port).release(bytes);
                }
                let held = waiting.iter().map(|port| port.iter().sum::<u64>());
                assert_eq!(held.sum::<u64>(), pool.used());
                assert!(pool.used() <= 20_000);
            }
        }
    }
}
