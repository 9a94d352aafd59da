//! Quantiles of sorted values.

/// Returns the value at a quantile, by nearest rank: 0 is the smallest, 1 the largest. None if
/// there are no values.
pub fn quantile<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * q).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_of_nearest_rank() {
        assert_eq!(quantile::<u64>(&[], 0.5), None);
        let at = |q| quantile(&[1, 2, 3, 4], q);
        assert_eq!([0.0, 0.4, 0.5, 1.0].map(at), [1, 2, 3, 4].map(Some));
    }
}
