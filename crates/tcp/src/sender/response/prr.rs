//! The rate at which the window falls in recovery: proportional rate reduction (RFC 6937 and its
//! successor).

use crate::config::RecoveryWindow;

/// Window reduction in progress. Counts are in segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduction {
    /// Window at its start (`RecoverFS` of RFC 6937, as in Linux).
    prior_window: u32,
    /// Segments delivered and sent since its start (`prr_delivered` and `prr_out`).
    delivered: u32,
    out: u32,
    /// Window in force.
    window: u32,
}

impl Reduction {
    /// Begins a reduction from `prior`. `window` holds until the first ACK is counted.
    pub fn new(prior: u32, window: u32) -> Self {
        Self {
            prior_window: prior.max(1),
            delivered: 0,
            out: 0,
            window,
        }
    }

    /// Returns the window in force.
    #[inline]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Records segments that leave.
    #[inline]
    pub fn send(&mut self, segments: u32) {
        self.out += segments;
    }

    /// Handles an ACK that delivered `newly` segments and leaves `in_flight`. `safe` is true if it
    /// moved the cumulative acknowledgement and showed no further loss (`SafeACK` of
    /// draft-ietf-tcpm-prr-rfc6937bis).
    pub fn on_ack(
        &mut self,
        rule: RecoveryWindow,
        newly: u32,
        in_flight: u32,
        ssthresh: u32,
        safe: bool,
    ) {
        if rule == RecoveryWindow::Ssthresh {
            self.window = ssthresh;
            return;
        }
        if newly == 0 {
            return;
        }
        self.delivered += newly;
        let out = i64::from(self.out);
        let send = if in_flight > ssthresh {
            // Sent and delivered segments have the ratio of ssthresh to the window before.
            let share = u64::from(ssthresh) * u64::from(self.delivered);
            share.div_ceil(u64::from(self.prior_window)) as i64 - out
        } else {
            let room = i64::from(ssthresh - in_flight);
            // The conservative bound sends as much as was delivered (packet conservation). The
            // slow-start bound sends one segment more.
            let mut bound = i64::from(self.delivered) - out;
            let slow_start = match rule {
                RecoveryWindow::PrrSsrb => true,
                RecoveryWindow::PrrCrb | RecoveryWindow::Ssthresh => false,
                RecoveryWindow::Prr => safe,
            };
            if rule != RecoveryWindow::PrrCrb {
                bound = bound.max(i64::from(newly));
            }
            room.min(bound + i64::from(slow_start))
        };
        // Recovery begins with a retransmission in any case.
        let send = send.max(i64::from(self.out == 0));
        self.window = in_flight + send as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 section 3.1: 20 segments in flight, ssthresh 10, limited transmit. Segments 0 to 14
    /// are lost. Returns, from the third ACK on, the segments sent and the pipe when the window is
    /// computed, as in the RFC's table.
    fn fifteen_losses(rule: RecoveryWindow) -> Vec<(u32, u32)> {
        let mut reduction = Reduction::new(20, 20);
        // Before recovery 22 segments are sent, 15 lost and 2 delivered.
        let mut pipe = 22 - 15 - 2;
        (0..3)
            .map(|_| {
                pipe -= 1;
                reduction.on_ack(rule, 1, pipe, 10, false);
                let sent = reduction.window().saturating_sub(pipe);
                reduction.send(sent);
                let row = (sent, pipe);
                pipe += sent;
                row
            })
            .collect()
    }

    #[test]
    fn fifteen_losses_of_rfc6937() {
        let ssrb = fifteen_losses(RecoveryWindow::PrrSsrb);
        assert_eq!(ssrb, [(2, 4), (2, 5), (2, 6)]);
        let crb = fifteen_losses(RecoveryWindow::PrrCrb);
        assert_eq!(crb, [(1, 4), (1, 4), (1, 4)]);
        // Duplicate ACKs are never safe.
        assert_eq!(fifteen_losses(RecoveryWindow::Prr), crb);
        let at_once = fifteen_losses(RecoveryWindow::Ssthresh);
        assert_eq!(at_once, [(6, 4), (1, 9), (1, 9)]);
    }

    /// RFC 6937 section 3.1, one loss: the ACKs 1 to 11 and the alternation after them.
    #[test]
    fn one_loss_of_rfc6937() {
        let mut reduction = Reduction::new(20, 20);
        let mut pipe = 22 - 1 - 2;
        let mut sent_at = Vec::new();
        let mut pipes = Vec::new();
        for ack in 3..=11 {
            pipe -= 1;
            reduction.on_ack(RecoveryWindow::PrrSsrb, 1, pipe, 10, false);
            let sent = reduction.window().saturating_sub(pipe);
            if sent > 0 {
                sent_at.push(ack);
            }
            pipes.push(pipe);
            reduction.send(sent);
            pipe += sent;
        }
        assert_eq!(sent_at, [3, 5, 7, 9, 11]);
        assert_eq!(pipes[..5], [18, 18, 17, 17, 16]);
    }
}
