//! A game: small updates at constant intervals in both directions, each useless once it is late.

use super::Outgoing;
use super::receipts::Receipts;
use super::session::{AppOutcome, Metric};
use crate::Law;
use goodqueue_types::{Body, Packet, RandomStream, Span, Time};

/// A player and the server, each with updates for the other.
#[derive(Clone, Debug, PartialEq)]
pub struct GameConfig {
    /// Updates that the client sends.
    pub client: Updates,
    /// Updates that the server sends, from the arrival of the first update on.
    pub server: Updates,
    /// Delay above which an update counts as lost to the game.
    pub deadline: Span,
}

/// Updates of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Updates {
    /// Time between updates.
    pub interval: Span,
    /// Law of the bytes of their IP packets.
    pub packet: Law,
}

/// One side of a game.
#[derive(Debug)]
pub struct Player {
    updates: Updates,
    /// Time of the next update. [`Time::MAX`] at a server before the client's first update.
    next: Time,
    due: bool,
    random: RandomStream,
    deadline: Span,
    receipts: Receipts,
}

/// Creates both sides of a game that begins at `start`.
pub fn pair(
    config: &GameConfig,
    start: Time,
    measured_from: Time,
    mut random: RandomStream,
) -> [Player; 2] {
    let server_random = RandomStream::new(random.bits(), "game server", 0);
    let player = |updates: &Updates, next, random| Player {
        updates: updates.clone(),
        next,
        due: false,
        random,
        deadline: config.deadline,
        receipts: Receipts::new(measured_from),
    };
    [
        player(&config.client, start, random),
        player(&config.server, Time::MAX, server_random),
    ]
}

impl Player {
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let late = now - packet.sent > self.deadline;
        self.receipts.record(now, packet, late);
        if self.next == Time::MAX {
            self.next = now;
        }
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.next <= now {
            self.due = true;
            self.next = self.next.saturating_add(self.updates.interval);
        }
    }

    pub(super) fn wakes_at(&self) -> Time {
        self.next
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        std::mem::take(&mut self.due).then(|| {
            let bytes = self.updates.packet.draw_bytes(&mut self.random);
            (bytes.clamp(LEAST_PACKET, 65_535) as u32, Body::Datagram)
        })
    }

    /// Returns the results of the updates, those to the server (`up`) and those to the client
    /// (`down`).
    pub fn outcome(client: &Self, server: &Self) -> AppOutcome {
        let mut metrics = Vec::new();
        let ways = [
            (server, ["up_updates", "up_late", "up_loss", "up_delay_s"]),
            (
                client,
                ["down_updates", "down_late", "down_loss", "down_delay_s"],
            ),
        ];
        for (receiver, [updates, late, loss, delay]) in ways {
            let receipts = &receiver.receipts;
            metrics.extend([
                (updates, Metric::Count(receipts.expected())),
                (late, Metric::Count(receipts.late())),
                (loss, Metric::Number(receipts.loss())),
                (delay, Metric::Seconds(receipts.delays())),
            ]);
        }
        AppOutcome { metrics }
    }
}

/// Smallest IP packet in bytes: an IP and a UDP header.
const LEAST_PACKET: u64 = super::DATAGRAM_HEADER;
