//! Quantiles of values in order.

/// The value at a quantile, the nearest by rank: 0 is the least, 1 the largest; none of no values.
pub fn quantile<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * q).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rank() {
        assert_eq!(quantile::<u64>(&[], 0.5), None);
        let at = |q| quantile(&[1, 2, 3, 4], q);
        assert_eq!([0.0, 0.4, 0.5, 1.0].map(at), [1, 2, 3, 4].map(Some));
    }
}
