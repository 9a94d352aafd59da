//! Buffers that several links share, and their occupancy.

use crate::measure::link_meter::Window;
use crate::measure::outcome::{Distribution, PoolOutcome};
use crate::{Network, PoolConfig};
use goodqueue_queue::{BufferAccount, BufferPool};
use goodqueue_types::{Histogram, Span, Time};

/// A buffer that several links share, with its occupancy over time.
#[derive(Debug)]
pub struct SharedBuffer {
    pool: BufferPool,
    window: Window,
    since: Time,
    occupancy: Histogram,
}

/// Creates the shared buffers of a network.
pub fn shared_buffers(network: &Network) -> Vec<SharedBuffer> {
    let mut ports = vec![0; network.pools.len()];
    for pool in network.links.iter().filter_map(|link| link.pool) {
        ports[pool as usize] += 1;
    }
    let window = Window {
        from: network.warmup,
        to: network.end,
    };
    let pools = network.pools.iter().zip(ports);
    pools
        .map(|(config, ports)| SharedBuffer::new(config, ports, window))
        .collect()
}

impl SharedBuffer {
    fn new(config: &PoolConfig, ports: usize, window: Window) -> Self {
        let PoolConfig {
            capacity,
            sharing,
            headroom,
            cell,
            gap,
            ..
        } = *config;
        let mut occupancy = Histogram::default();
        occupancy.reserve(capacity);
        Self {
            pool: BufferPool::shared(capacity, ports, sharing, headroom).in_cells(cell, gap),
            window,
            since: Time::ZERO,
            occupancy,
        }
    }

    /// Records the occupancy up to `now`, before it may change.
    fn close(&mut self, now: Time) {
        let dwell = self.window.overlap(self.since, now);
        if dwell > Span::ZERO {
            self.occupancy.record(self.pool.used(), dwell.0);
        }
        self.since = now;
    }

    /// Returns the results at the end of the run.
    pub fn finish(mut self, config: &PoolConfig) -> PoolOutcome {
        self.close(self.window.to);
        PoolOutcome {
            name: config.name.clone(),
            capacity_bytes: config.capacity,
            occupancy_bytes: Distribution::from_histogram(&self.occupancy, 1.0),
        }
    }
}

/// Buffer on which a link's queue books its bytes.
#[derive(Debug)]
pub enum Buffer {
    /// A buffer of the link's own.
    Own(BufferPool),
    /// A shared buffer, by its index and the link's port.
    Shared(usize, usize),
}

impl Buffer {
    /// Returns the buffer of the `index`th link.
    pub fn new(network: &Network, index: usize) -> Self {
        match network.links[index].pool {
            None => Self::Own(BufferPool::unlimited()),
            Some(pool) => {
                let before = network.links[..index].iter();
                let port = before.filter(|link| link.pool == Some(pool)).count();
                Self::Shared(pool as usize, port)
            }
        }
    }

    /// Returns the account for a call at `now`, given the shared buffers.
    #[inline]
    pub fn account<'a>(
        &'a mut self,
        buffers: &'a mut [SharedBuffer],
        now: Time,
    ) -> BufferAccount<'a> {
        match self {
            Self::Own(pool) => pool.account(0),
            Self::Shared(index, port) => {
                buffers[*index].close(now);
                buffers[*index].pool.account(*port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_queue::Sharing;

    #[test]
    fn occupancy_is_weighted_by_the_time_it_lasts_within_the_window() {
        let second = |s: u64| Time(s * 1_000_000_000_000);
        let config = PoolConfig {
            name: "switch".to_owned(),
            capacity: 1_000,
            sharing: Sharing::Complete,
            headroom: 0,
            cell: 1,
            gap: 0,
        };
        let window = Window {
            from: second(10),
            to: second(20),
        };
        let mut buffers = [SharedBuffer::new(&config, 2, window)];
        let mut at = |time, port, bytes: i64| {
            let mut buffer = Buffer::Shared(0, port);
            let mut account = buffer.account(&mut buffers, second(time));
            if bytes > 0 {
                assert!(account.reserve(bytes as u64));
            } else {
                account.release(bytes.unsigned_abs());
            }
        };
        // The occupancy is 60 bytes until 8 s, 10 until 12 s, then 50, for an instant 60, and 30
        // from 15 s on.
        at(1, 0, 60);
        at(8, 0, -50);
        at(12, 1, 40);
        at(15, 1, 10);
        at(15, 1, -30);
        let [buffer] = buffers;
        let occupancy = buffer.finish(&config).occupancy_bytes;
        assert_eq!(
            occupancy.mean,
            Some((2.0 * 10.0 + 3.0 * 50.0 + 5.0 * 30.0) / 10.0)
        );
        assert_eq!(occupancy.max, Some(50.0));
    }
}
