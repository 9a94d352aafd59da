//! Closed-form models, whose results the tests compare with simulations.
//!
//! In the queueing formulas, K is the number of places in the whole system: a drop-tail limit of L
//! waiting packets beside the one in service is K = L + 1. Loads are in units of the service rate.

/// Stationary state of a finite single-server queue with Poisson arrivals.
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
    /// Computes the state from the probabilities of 0 … K in the system. Poisson arrivals see time
    /// averages, so the loss equals the probability of K.
    fn from_probabilities(probabilities: &[f64]) -> Self {
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

/// Returns the state with exponential service times: P(n) is proportional to ρⁿ, so the loss is (1
/// − ρ) ρᴷ / (1 − ρᴷ⁺¹) (Kleinrock, Queueing Systems, volume 1, section 3.6).
pub fn mm1k(load: f64, k: u32) -> FiniteQueue {
    let weights: Vec<f64> = (0..=k).map(|n| load.powi(n as i32)).collect();
    let sum: f64 = weights.iter().sum();
    FiniteQueue::from_probabilities(
        &weights
            .iter()
            .map(|weight| weight / sum)
            .collect::<Vec<_>>(),
    )
}

/// Returns the state with constant service times, from the Markov chain of the number of packets
/// that a departure leaves behind (Gross and Harris, Fundamentals of Queueing Theory, section 5.1).
///
/// A departure leaves n < K behind with probability π(n). The chain goes down by at most one, so
/// the balance across each level gives π(n + 1) from the lower levels. At a random time, the system
/// holds n < K with probability π(n) / (π(0) + ρ), and K with the remaining probability.
pub fn md1k(load: f64, k: u32) -> FiniteQueue {
    let k = k as usize;
    // Each element is the probability of j arrivals during one service.
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
    FiniteQueue::from_probabilities(&probabilities)
}

/// Returns the utilisation of a link by one long Reno flow whose window halves at each loss, behind
/// a drop-tail buffer of `buffer` bandwidth-delay products. The formula is valid for a large
/// bandwidth-delay product and an ACK per segment. An unpaced sender needs a buffer of two packets
/// to reach even 3/4.
///
/// The window, in bandwidth-delay products, grows from w₀ = (1 + b) / 2 to 1 + b. Below 1, the
/// round-trip time is constant and the link idles. Above 1, the round-trip time equals the time to
/// send the window. The integrals of the packets sent and of the time over one cycle give the ratio
/// (Villamizar and Song 1994 for b = 1).
pub fn reno_utilization(buffer: f64) -> f64 {
    let low = f64::midpoint(1.0, buffer);
    if low >= 1.0 {
        return 1.0;
    }
    let full = ((1.0 + buffer) * (1.0 + buffer) - 1.0) / 2.0;
    ((1.0 - low * low) / 2.0 + full) / ((1.0 - low) + full)
}

/// A TCP transfer over a path with independent packet losses, in the model of Cardwell, Savage and
/// Anderson (Modeling TCP Latency, INFOCOM 2000). Equation numbers are those of the paper. Sizes
/// and windows are in segments, times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossyPath {
    /// Probability of loss in the direction of the data.
    pub loss: f64,
    /// Probability of loss in the opposite direction. In this model it affects only the handshake.
    pub reverse_loss: f64,
    /// Round-trip time.
    pub rtt: f64,
    /// Timeout of the first SYN.
    pub syn_timeout: f64,
    /// First retransmission timeout of data segments; each further timeout is twice as long.
    pub timeout: f64,
    /// Initial window.
    pub initial_window: f64,
    /// Largest window.
    pub largest_window: f64,
    /// Number of segments per acknowledgement.
    pub ack_every: f64,
}

impl LossyPath {
    /// Returns the mean time from the first SYN to the arrival of the SYN-ACK (4). Each direction
    /// repeats its packet after doubling timeouts until one arrives.
    pub fn handshake(&self) -> f64 {
        let tries = |p: f64| (1.0 - p) / (1.0 - 2.0 * p);
        self.rtt + self.syn_timeout * (tries(self.reverse_loss) + tries(self.loss) - 2.0)
    }

    /// Returns the standard deviation of the time of the handshake.
    pub fn handshake_deviation(&self) -> f64 {
        let variance = |p: f64| {
            let mean = (1.0 - p) / (1.0 - 2.0 * p);
            (1.0 - p) / (1.0 - 4.0 * p) - mean * mean
        };
        self.syn_timeout * libm::sqrt(variance(self.reverse_loss) + variance(self.loss))
    }

    /// Returns the mean number of the `d` segments that are sent in the first slow start, including
    /// the lost one (5).
    pub fn slow_start_segments(&self, d: f64) -> f64 {
        let p = self.loss;
        if p == 0.0 {
            return d;
        }
        (1.0 - libm::pow(1.0 - p, d)) * (1.0 - p) / p + 1.0
    }

    /// Returns the factor by which the window grows in a round of slow start.
    fn growth(&self) -> f64 {
        1.0 + 1.0 / self.ack_every
    }

    /// Returns the mean time to send `segments` in slow start and receive their acknowledgements
    /// (15).
    pub fn slow_start(&self, segments: f64) -> f64 {
        let (growth, first, most) = (self.growth(), self.initial_window, self.largest_window);
        let rounds_of = |ratio: f64| libm::log(ratio) / libm::log(growth);
        if self.window_after(segments) <= most {
            return self.rtt * rounds_of(segments * (growth - 1.0) / first + 1.0);
        }
        let growing = (growth * most - first) / (growth - 1.0);
        self.rtt * (rounds_of(most / first) + 1.0 + (segments - growing) / most)
    }

    /// Returns the window after `segments` of slow start (11).
    fn window_after(&self, segments: f64) -> f64 {
        let growth = self.growth();
        segments * (growth - 1.0) / growth + self.initial_window / growth
    }

    /// Returns the probability that a loss in a window of `w` leads to a timeout, because fewer
    /// than three duplicate acknowledgements arrive (19; Padhye et al. 1998, equation 22).
    fn timeout_share(&self, w: f64) -> f64 {
        let w = w.max(3.0);
        let kept = |n: f64| libm::pow(1.0 - self.loss, n);
        let fast = 1.0 + kept(3.0) * (1.0 - kept(w - 3.0));
        ((1.0 - kept(3.0)) * fast / (1.0 - kept(w))).min(1.0)
    }

    /// Returns the mean length of a series of timeouts, which double six times (18).
    fn timeouts(&self) -> f64 {
        let p = self.loss;
        let doubling: f64 = (1..=6).map(|n| p.powi(n) * f64::from(1 << (n - 1))).sum();
        self.timeout * (1.0 + doubling) / (1.0 - p)
    }

    /// Returns the throughput in the steady state, in segments per second (21 and 22; Padhye et al.
    /// 1998, equation 32).
    pub fn steady_rate(&self) -> f64 {
        let (p, b, rtt) = (self.loss, self.ack_every, self.rtt);
        let base = (2.0 + b) / (3.0 * b);
        let window = base + libm::sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + base * base);
        let (window, rounds) = if window < self.largest_window {
            (window, b / 2.0 * window + 1.0)
        } else {
            let most = self.largest_window;
            (most, b / 8.0 * most + (1.0 - p) / (p * most) + 2.0)
        };
        let timeout = self.timeout_share(window);
        ((1.0 - p) / p + window / 2.0 + timeout) / (rtt * rounds + timeout * self.timeouts())
    }

    /// Returns the mean time from the first of `d` data segments to the last acknowledgement. It
    /// consists of slow start, the recovery from the loss that ends it (16), and congestion
    /// avoidance for the remaining segments (23).
    pub fn transfer(&self, d: f64) -> f64 {
        let first = self.slow_start_segments(d).min(d);
        let mut time = self.slow_start(first);
        if self.loss > 0.0 {
            let timeout = self.timeout_share(self.window_after(first));
            let repair = timeout * self.timeouts() + (1.0 - timeout) * self.rtt;
            time += (1.0 - libm::pow(1.0 - self.loss, d)) * repair;
            time += (d - first) / self.steady_rate();
        }
        time
    }
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
        // Without a limit, the system holds ρ / (1 − ρ) on average, of which ρ is in service.
        close(mm1k(0.5, 100).mean_in_system, 1.0, 1e-12);
        close(mm1k(0.5, 100).mean_waiting, 0.5, 1e-12);
    }

    #[test]
    fn constant_service() {
        close(md1k(0.9, 10).loss, 0.01663, 5e-6);
        close(md1k(0.9, 20).loss, 0.001_853, 5e-7);
        close(md1k(0.9, 50).loss, 3.65e-6, 5e-9);
        // With one place, the loss is Erlang's for every service-time distribution.
        close(md1k(0.9, 1).loss, mm1k(0.9, 1).loss, 1e-12);
        // Without a limit, ρ² / (2 (1 − ρ)) wait on average (Pollaczek and Khinchine).
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

    const LOSSLESS: LossyPath = LossyPath {
        loss: 0.0,
        reverse_loss: 0.0,
        rtt: 0.1,
        syn_timeout: 1.0,
        timeout: 1.0,
        initial_window: 3.0,
        largest_window: 1e9,
        ack_every: 2.0,
    };

    #[test]
    fn short_transfers() {
        let at = |p| LossyPath {
            loss: p,
            reverse_loss: p,
            ..LOSSLESS
        };
        close(at(0.01).handshake(), 0.1204, 5e-5);
        close(at(0.05).handshake(), 0.2111, 5e-5);
        let slow = LossyPath {
            syn_timeout: 3.0,
            ..at(0.01)
        };
        close(slow.handshake(), 0.1612, 5e-5);
        close(at(0.01).slow_start_segments(14.0), 13.99, 1e-2);
        close(at(0.05).slow_start_segments(14.0), 10.73, 5e-3);
        close(LOSSLESS.slow_start(14.0), 0.297, 5e-4);
        let each = LossyPath {
            ack_every: 1.0,
            ..LOSSLESS
        };
        close(each.slow_start(14.0), 0.250, 5e-4);
        let limited = LossyPath {
            initial_window: 10.0,
            largest_window: 100.0,
            ack_every: 1.0,
            ..LOSSLESS
        };
        close(limited.slow_start(1_000.0), 1.242, 5e-4);
    }
}
