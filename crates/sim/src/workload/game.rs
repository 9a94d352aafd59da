//! A game: small updates at constant intervals in both directions, each useless once it is late.

use super::Outgoing;
use super::receipts::Receipts;
use super::session::{AppOutcome, Measure, Metric};
use crate::{Law, SIZES};
use goodqueue_types::parameters::{INTERVAL, Key};
use goodqueue_types::{Body, Packet, RandomStream, Span, Time, parameters};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

parameters! {
    /// A player and the server, each with updates for the other.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GameConfig("game") {
        /// Time between the client's updates: 60 a second.
        interval: Span = Span(16_666_666_667) => Key::new(INTERVAL).example("20ms");
        /// Size of their IP packets, 28 to 65535 bytes.
        packet: Law = Law::Fixed(80.0) => Key::new(SIZES)
            .example("{ law = \"uniform\", from = \"60B\", to = \"100B\" }");
        /// Time between the server's updates: 30 a second, from the arrival of the first of the client's on.
        server_interval: Span = Span(33_333_333_333) => Key::new(INTERVAL).example("50ms");
        /// Size of their IP packets.
        server_packet: Law = Law::Fixed(160.0) => Key::new(SIZES).example("300B");
        /// An update that takes longer, one way, is as good as lost.
        deadline: Span = Span::from_millis(100) => Key::new(INTERVAL).example("50ms");
    }
}

/// The client's updates that reached the server and whose effect the client has not seen: the number
/// of the server's update from which on they have an effect, and the time at which they were sent.
///
/// The simulated updates have no content, so both sides share this record.
#[derive(Clone, Debug, Default)]
struct Inputs(Arc<Mutex<VecDeque<(u64, Time)>>>);

impl Inputs {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<(u64, Time)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One side of a game.
#[derive(Debug)]
pub struct Player {
    is_server: bool,
    inputs: Inputs,
    /// Number of updates sent.
    sent: u64,
    lag: Measure,
    /// Time between updates.
    interval: Span,
    /// Law of the bytes of their IP packets.
    packet: Law,
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
    let inputs = Inputs::default();
    let player = |interval, packet: &Law, next, random| Player {
        is_server: next == Time::MAX,
        inputs: inputs.clone(),
        sent: 0,
        lag: Measure::new(measured_from).times("lag_s"),
        interval,
        packet: packet.clone(),
        next,
        due: false,
        random,
        deadline: config.deadline,
        receipts: Receipts::new(measured_from),
    };
    [
        player(config.interval, &config.packet, start, random),
        player(
            config.server_interval,
            &config.server_packet,
            Time::MAX,
            server_random,
        ),
    ]
}

impl Player {
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let late = now - packet.sent > self.deadline;
        let is_new = self.receipts.record(now, packet, late);
        if self.next == Time::MAX {
            self.next = now;
        }
        let mut waiting = self.inputs.waiting();
        if self.is_server {
            if is_new {
                waiting.push_back((self.sent, packet.sent));
            }
            return;
        }
        while let Some((from, sent)) = waiting.front().copied() {
            if from > packet.number {
                break;
            }
            waiting.pop_front();
            self.lag.record(0, sent, now);
        }
    }

    pub(super) fn wake(&mut self, now: Time) {
        if self.next <= now {
            self.due = true;
            self.next = self.next.saturating_add(self.interval);
        }
    }

    pub(super) fn wakes_at(&self) -> Time {
        self.next
    }

    pub(super) fn transmit(&mut self) -> Option<Outgoing> {
        std::mem::take(&mut self.due).then(|| {
            self.sent += 1;
            let bytes = self.packet.draw_bytes(&mut self.random);
            (bytes.clamp(MIN_PACKET, 65_535) as u32, Body::Datagram)
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
        metrics.extend(client.lag.outcome().metrics);
        AppOutcome { metrics }
    }
}

/// Smallest IP packet in bytes: an IP and a UDP header.
const MIN_PACKET: u64 = super::DATAGRAM_HEADER;
