//! Hash functions that assign flows to queues.

use goodqueue_types::{Packet, RandomStream, mix};

/// Hash function with a random perturbation, so that the run's seed decides which flows collide
/// (Linux draws its perturbation at boot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowHash {
    perturbation: u64,
}

impl FlowHash {
    /// Draws a hash function.
    pub fn new(random: &mut RandomStream) -> Self {
        Self {
            perturbation: random.bits(),
        }
    }

    /// Returns the hash of a packet's flow, connection and direction. They stand for the addresses,
    /// ports and protocol that a kernel would hash.
    #[inline]
    pub fn flow(self, packet: &Packet) -> u32 {
        let connection = u64::from(packet.connection) << 33;
        self.number(connection | u64::from(packet.flow.0) << 1 | packet.direction as u64)
    }

    /// Returns the hash of a number.
    #[inline]
    pub fn number(self, key: u64) -> u32 {
        (mix(self.perturbation ^ key) >> 32) as u32
    }
}

/// Maps a hash to one of `count` buckets without a division, as Linux `reciprocal_scale` does.
#[inline]
pub fn scale(hash: u32, count: u32) -> u32 {
    ((u64::from(hash) * u64::from(count)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::{Direction, FlowId};

    fn packet(flow: u32, direction: Direction) -> Packet {
        Packet {
            flow: FlowId(flow),
            direction,
            ..Packet::default()
        }
    }

    #[test]
    fn flows_and_directions_fall_into_different_buckets_that_depend_on_the_seed() {
        let hash = |seed| FlowHash::new(&mut RandomStream::new(seed, "test", 0));
        let (one, other) = (hash(1), hash(2));
        let forward = packet(7, Direction::Forward);
        assert_eq!(one.flow(&forward), one.flow(&forward));
        assert_ne!(one.flow(&forward), other.flow(&forward));
        assert_ne!(one.flow(&forward), one.flow(&packet(7, Direction::Reverse)));
        assert_eq!(scale(u32::MAX, 1024), 1023);
        assert_eq!(scale(1 << 31, 1024), 512);
    }

    /// The mean number of m buckets that n flows use is m(1 − (1 − 1/m)^n). Its
    /// variance is below that of the Poisson limit, m·e^{−n/m}(1 − e^{−n/m}(1 + n/m)).
    #[test]
    fn collisions_are_as_many_as_chance_would_have() {
        let (buckets, flows) = (1024_u32, 512_u32);
        let load = f64::from(flows) / f64::from(buckets);
        let expected = f64::from(buckets)
            * (1.0 - libm::pow(1.0 - 1.0 / f64::from(buckets), f64::from(flows)));
        let empty = libm::exp(-load);
        let variance = f64::from(buckets) * empty * (1.0 - empty * (1.0 + load));
        let seeds = 50;
        let mut total = 0.0;
        for seed in 0..seeds {
            let hash = FlowHash::new(&mut RandomStream::new(seed, "test", 0));
            let mut used = vec![false; buckets as usize];
            for flow in 0..flows {
                let bucket = scale(hash.flow(&packet(flow, Direction::Forward)), buckets);
                used[bucket as usize] = true;
            }
            total += used.iter().filter(|used| **used).count() as f64;
        }
        let mean = total / seeds as f64;
        let error = 4.0 * libm::sqrt(variance / seeds as f64);
        assert!((mean - expected).abs() < error, "{mean} {expected} {error}");
    }
}
