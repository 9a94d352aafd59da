//! Formulas that know the answer beforehand.
//!
//! In the queueing formulas K is the number of places in the whole system: a drop-tail limit of L
//! waiting packets beside the one in service is K = L + 1. Loads are in units of the service rate.

/// The stationary state of a finite single-server queue with Poisson arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteQueue {
    /// Share of the arrivals that find the system full.
    pub loss: f64,
    /// Mean number in the system, the one in service included.
    pub mean_in_system: f64,
    /// Mean number waiting.
    pub mean_waiting: f64,
}

impl FiniteQueue {
    /// From the probabilities of 0 … K in the system. Poisson arrivals see time averages, so the
    /// probability of K is the loss.
    fn of(probabilities: &[f64]) -> Self {
        let mean = probabilities
            .iter()
            .enumerate()
            .map(|(n, p)| n as f64 * p)
            .sum::<f64>();
        Self {
            loss: probabilities[probabilities.len() - 1],
            mean_in_system: mean,
            mean_waiting: mean - (1.0 - probabilities[0]),
        }
    }
}

/// Exponential service: P(n) is proportional to ρⁿ, so the loss is (1 − ρ) ρᴷ / (1 − ρᴷ⁺¹)
/// (Kleinrock, Queueing Systems, volume 1, section 3.6).
pub fn mm1k(load: f64, k: u32) -> FiniteQueue {
    let weights: Vec<f64> = (0..=k).map(|n| load.powi(n as i32)).collect();
    let sum: f64 = weights.iter().sum();
    FiniteQueue::of(
        &weights
            .iter()
            .map(|weight| weight / sum)
            .collect::<Vec<_>>(),
    )
}

/// Constant service, by the Markov chain of what departures leave behind (Gross and Harris,
/// Fundamentals of Queueing Theory, section 5.1).
///
/// A departure leaves n < K behind with probability π(n). The chain can only go down by one, so
/// the balance across each level gives π(n + 1) from what came before. At any time the system
/// holds n < K with probability π(n) / (π(0) + ρ), and K with the rest.
pub fn md1k(load: f64, k: u32) -> FiniteQueue {
    let k = k as usize;
    // The probability of j arrivals during one service.
    let arrivals: Vec<f64> = std::iter::successors(Some((0, libm::exp(-load))), |(j, p)| {
        Some((j + 1, p * load / f64::from(j + 1)))
    })
    .map(|(_, p)| p)
    .take(k + 1)
    .collect();
    let mut left_behind = vec![1.0];
    for n in 0..k - 1 {
        let from_empty = left_behind[0] * arrivals[n];
        let from_below: f64 = (1..=n).map(|m| left_behind[m] * arrivals[n + 1 - m]).sum();
        left_behind.push((left_behind[n] - from_empty - from_below) / arrivals[0]);
    }
    let sum: f64 = left_behind.iter().sum();
    let norm = left_behind[0] / sum + load;
    let mut probabilities: Vec<f64> = left_behind.iter().map(|p| p / sum / norm).collect();
    probabilities.push(1.0 - 1.0 / norm);
    FiniteQueue::of(&probabilities)
}

/// Utilisation of a link by one long Reno flow whose window halves at each loss, behind a
/// drop-tail buffer of `buffer` bandwidth-delay products. Needs a large bandwidth-delay product
/// and an ACK per segment; an unpaced sender needs two packets of buffer to reach even 3/4.
///
/// The window, in bandwidth-delay products, grows from w₀ = (1 + b) / 2 to 1 + b. Below 1 the
/// round-trip time is constant and the link idles; above, a round trip takes as long as sending
/// the window does. Integrating the packets sent and the time taken over one cycle gives the
/// ratio (Villamizar and Song 1994 for b = 1).
pub fn reno_utilization(buffer: f64) -> f64 {
    let low = f64::midpoint(1.0, buffer);
    if low >= 1.0 {
        return 1.0;
    }
    let full = ((1.0 + buffer) * (1.0 + buffer) - 1.0) / 2.0;
    ((1.0 - low * low) / 2.0 + full) / ((1.0 - low) + full)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, published: f64, tolerance: f64) {
        assert!(
            (ours - published).abs() <= tolerance,
            "{ours}, not {published}"
        );
    }

    #[test]
    fn exponential_service() {
        close(mm1k(0.9, 10).loss, 0.0508, 5e-5);
        close(mm1k(0.9, 20).loss, 0.01365, 5e-6);
        close(mm1k(0.9, 50).loss, 5.18e-4, 5e-7);
        close(mm1k(1.0, 20).loss, 0.0476, 5e-5);
        close(mm1k(0.9, 20).mean_in_system, 6.42, 5e-3);
        // Without a limit: ρ / (1 − ρ) in the system, ρ of them in service.
        close(mm1k(0.5, 100).mean_in_system, 1.0, 1e-12);
        close(mm1k(0.5, 100).mean_waiting, 0.5, 1e-12);
    }

    #[test]
    fn constant_service() {
        close(md1k(0.9, 10).loss, 0.01663, 5e-6);
        close(md1k(0.9, 20).loss, 0.001_853, 5e-7);
        close(md1k(0.9, 50).loss, 3.65e-6, 5e-9);
        // One place: Erlang's loss, whatever the service is.
        close(md1k(0.9, 1).loss, mm1k(0.9, 1).loss, 1e-12);
        // Without a limit: Pollaczek and Khinchine, ρ² / (2 (1 − ρ)) waiting.
        close(md1k(0.8, 200).mean_waiting, 1.6, 1e-9);
    }

    #[test]
    fn the_saw_tooth() {
        for (buffer, utilization) in [
            (0.0, 0.75),
            (0.1, 0.8176),
            (0.25, 0.8929),
            (0.5, 0.9643),
            (0.75, 0.9932),
            (1.0, 1.0),
        ] {
            close(reno_utilization(buffer), utilization, 5e-5);
        }
    }
}
