//! The smoothing buffer of a stream: the bytes that its receiver must store before it plays at the
//! mean rate, so that the buffer never runs empty.

use goodqueue_types::Time;

/// Arrival curve of a stream, in bytes over time. The shortfall of playing at a constant rate
/// depends only on the curve's lower convex hull, so only the hull is kept.
#[derive(Clone, Debug, Default)]
pub struct Smoothing {
    hull: Vec<(u64, u64)>,
    bytes: u64,
}

impl Smoothing {
    /// Records that `bytes` bytes in all have arrived by `now`. The first call starts the curve.
    pub fn note(&mut self, now: Time, bytes: u64) {
        if !self.hull.is_empty() && bytes <= self.bytes {
            return;
        }
        // The curve jumps at `now`, so its lowest point is just before.
        let point = (
            now.0,
            if self.hull.is_empty() {
                bytes
            } else {
                self.bytes
            },
        );
        while let [.., before, last] = self.hull[..]
            && !turns_up(before, last, point)
        {
            self.hull.pop();
        }
        self.hull.push(point);
        self.bytes = bytes;
    }

    /// Returns the largest number of bytes by which playing at the mean rate, from the first
    /// arrival to the last, is ahead of the arrivals. Returns none without arrivals.
    pub fn shortfall(&self) -> Option<f64> {
        let ((start, first), (end, _)) = (*self.hull.first()?, *self.hull.last()?);
        if end == start {
            return None;
        }
        let rate = (self.bytes - first) as f64 / (end - start) as f64;
        let ahead =
            |(time, bytes): &(u64, u64)| rate * (time - start) as f64 - (bytes - first) as f64;
        Some(self.hull.iter().map(ahead).fold(0.0, f64::max))
    }
}

/// Returns true if the path from `a` over `b` to `c` bends upwards at `b`.
fn turns_up(a: (u64, u64), b: (u64, u64), c: (u64, u64)) -> bool {
    let product = |time: u64, bytes: u64| u128::from(time) * u128::from(bytes);
    product(b.0 - a.0, c.1 - b.1) > product(c.0 - b.0, b.1 - a.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::RandomStream;

    fn shortfall(arrivals: &[(u64, u64)]) -> f64 {
        let mut smoothing = Smoothing::default();
        for (time, bytes) in arrivals {
            smoothing.note(Time(*time), *bytes);
        }
        smoothing.shortfall().expect("arrivals")
    }

    #[test]
    fn an_even_stream_needs_a_packet() {
        let even: Vec<(u64, u64)> = (0..=100).map(|n| (10 * n, 1_000 * n)).collect();
        assert!((shortfall(&even) - 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_pause_needs_a_buffer_of_the_data_played_in_it() {
        // 100 bytes arrive in each of 10 units, then none for 10 units, then again: 2000 bytes in
        // 30.
        let mut arrivals: Vec<(u64, u64)> = (0..=10).map(|n| (n, 100 * n)).collect();
        arrivals.extend((1..=10).map(|n| (20 + n, 1_000 + 100 * n)));
        // Just before the first arrival after the pause, 21 units have been played.
        let expected = 21.0 * 2_000.0 / 30.0 - 1_000.0;
        assert!((shortfall(&arrivals) - expected).abs() < 1e-9);
    }

    /// Compares with the shortfall over all points instead of the hull's.
    #[test]
    fn the_hull_has_the_lowest_points() {
        let mut random = RandomStream::new(1, "test", 0);
        for _ in 0..50 {
            let (mut time, mut bytes) = (0, 0);
            let mut arrivals = vec![(0, 0)];
            for _ in 0..500 {
                time += 1 + (random.unit() * random.unit() * 50.0) as u64;
                bytes += 1 + (random.unit() * 1_500.0) as u64;
                arrivals.push((time, bytes));
            }
            let rate = bytes as f64 / time as f64;
            let pairs = arrivals.windows(2);
            let ahead = pairs.map(|pair| rate * pair[1].0 as f64 - pair[0].1 as f64);
            let expected = ahead.fold(0.0, f64::max);
            assert!((shortfall(&arrivals) - expected).abs() < 1e-6 * expected);
        }
    }
}
