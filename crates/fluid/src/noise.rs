//! Random numbers of the engine: nearly normal, from integer arithmetic alone.

use goodqueue_types::RandomStream;

/// A stream of random numbers for one purpose.
#[derive(Clone, Debug)]
pub struct Noise(RandomStream);

impl Noise {
    /// The stream of this purpose in the run with `seed`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(RandomStream::new(seed, purpose, 0))
    }

    /// A number drawn uniformly from [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// A number of mean 0 and variance 1: the sum of four uniform ones, within ±3.5.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let bits = self.0.bits();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        // Four uniform numbers have variance 4/12 of the square of their range.
        (sum as f64 - 131_070.0) * (1.0 / 37_837.2)
    }

    /// Returns an independent stream, which is seeded by this one.
    pub fn fork(&mut self) -> Self {
        Self(RandomStream::new(self.0.bits(), "fork", 0))
    }

    /// A whole number below `count`, which is not 0.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.0.bits()) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut noise = Noise::new(1, "test");
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let z = noise.normal();
            sum += z;
            squares += z * z;
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 4.0 / n.sqrt(), "{}", sum / n);
        assert!((squares / n - 1.0).abs() < 0.01, "{}", squares / n);
    }
}
