//! The suite detects each rule when a discipline breaks it.

use super::*;
use crate::{Backlog, Context, Fifo, Limit};
use goodqueue_types::{DropReason, Ecn, Packet, Span, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fault of a queue that is otherwise a FIFO of 20 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LosesSilently,
    InventsPackets,
    LastComesFirst,
    ForgetsToBook,
    CountsOneMore,
    MarksEverybody,
    MarksForAFullBuffer,
    ChangesSizes,
    RestsForNothing,
    NeverReady,
    Impatient,
    SharesStateWithItsClone,
}

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    waiting: Fifo,
    calls: Arc<AtomicU64>,
    rests: bool,
    rests_until: Time,
}

impl Faulty {
    fn boxed(fault: Fault) -> Box<dyn QueueDiscipline> {
        Box::new(Self {
            fault,
            waiting: Fifo::default(),
            calls: Arc::default(),
            rests: false,
            rests_until: Time::ZERO,
        })
    }

    /// Returns true at every tenth call.
    fn now_and_then(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) % 10 == 9
    }
}

impl QueueDiscipline for Faulty {
    fn enqueue(&mut self, context: &mut Context<'_>, mut packet: Packet) {
        match self.fault {
            Fault::LosesSilently if self.now_and_then() => return,
            Fault::SharesStateWithItsClone if self.now_and_then() => {
                return context.drop(packet, DropReason::Early);
            }
            Fault::MarksEverybody if self.now_and_then() => {
                packet.ecn = Ecn::Experienced;
                let verdict = crate::Verdict::Marked(packet, DropReason::Early);
                context.verdicts.push(verdict);
            }
            Fault::MarksForAFullBuffer if self.now_and_then() => {
                let _ = context.mark(&mut packet, DropReason::Overlimit);
            }
            Fault::ChangesSizes => packet.dscp = 63,
            _ => {}
        }
        if let Err(packet) = self.waiting.push(context, Limit::Packets(20), packet) {
            context.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        match self.fault {
            Fault::RestsForNothing if context.now < self.rests_until => None,
            Fault::RestsForNothing if self.now_and_then() => {
                self.rests_until = context.now + Span(1);
                None
            }
            Fault::NeverReady if self.now_and_then() => None,
            Fault::LastComesFirst => self.waiting.pop_back(context),
            Fault::InventsPackets if self.waiting.is_empty() => Some(Packet {
                number: 1_000_000,
                ..Packet::default()
            }),
            Fault::ForgetsToBook => {
                let packet = self.waiting.pop(context)?;
                let booked = context.account.reserve(1);
                booked.then_some(packet)
            }
            // This queue announces a pause and then returns a packet.
            Fault::Impatient => {
                self.rests = !self.rests;
                if self.rests {
                    None
                } else {
                    self.waiting.pop(context)
                }
            }
            _ => self.waiting.pop(context),
        }
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        let waits = !self.waiting.is_empty();
        match self.fault {
            Fault::Impatient => waits.then(|| now + Span::from_secs(1)),
            Fault::RestsForNothing => waits.then(|| now.max(self.rests_until)),
            _ => waits.then_some(now),
        }
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = self.waiting.backlog();
        backlog.packets += u64::from(self.fault == Fault::CountsOneMore);
        backlog
    }
}

impl Clone for Faulty {
    fn clone(&self) -> Self {
        let calls = match self.fault {
            Fault::SharesStateWithItsClone => self.calls.clone(),
            _ => Arc::new(AtomicU64::new(self.calls.load(Ordering::Relaxed))),
        };
        Self {
            calls,
            waiting: self.waiting.clone(),
            ..*self
        }
    }
}

#[test]
fn a_sound_queue_passes_and_is_used_in_full() {
    let report = check(|_| Faulty::boxed(Fault::None), Claims::default(), 1).unwrap();
    assert!(report.offered > 10_000 && report.sent > 5_000);
    let overlimit = report.dropped[DropReason::Overlimit as usize];
    assert!(overlimit > 1_000, "{report:?}");
    assert_eq!(report.offered, report.sent + overlimit);
}

#[test]
fn every_fault_breaks_its_rule() {
    for (fault, rule) in [
        (Fault::LosesSilently, Rule::Backlog),
        (Fault::InventsPackets, Rule::Conservation),
        (Fault::LastComesFirst, Rule::FlowOrder),
        (Fault::ForgetsToBook, Rule::Account),
        (Fault::CountsOneMore, Rule::Backlog),
        (Fault::MarksEverybody, Rule::Marks),
        (Fault::MarksForAFullBuffer, Rule::Marks),
        (Fault::ChangesSizes, Rule::Contents),
        (Fault::RestsForNothing, Rule::WorkConservation),
        (Fault::SharesStateWithItsClone, Rule::Replay),
    ] {
        let violation = check(|_| Faulty::boxed(fault), Claims::default(), 1).unwrap_err();
        assert_eq!(violation.rule, rule, "{fault:?}: {violation}");
    }
}

#[test]
fn a_queue_that_delays_packets_must_announce_its_next_time() {
    let claims = Claims {
        work_conserving: false,
        ..Claims::default()
    };
    let rests = check(|_| Faulty::boxed(Fault::RestsForNothing), claims, 1);
    assert!(rests.is_ok(), "{rests:?}");
    for fault in [Fault::NeverReady, Fault::Impatient] {
        let violation = check(|_| Faulty::boxed(fault), claims, 1).unwrap_err();
        assert_eq!(violation.rule, Rule::Readiness, "{fault:?}: {violation}");
    }
}

#[test]
fn drop_tail_conforms_whatever_its_limit() {
    for limit in [
        Limit::Packets(1),
        Limit::Packets(100),
        Limit::Bytes(1_538),
        Limit::Bytes(50_000),
        Limit::Unlimited,
    ] {
        let report = check_config(&QueueConfig::drop_tail(limit), 1).unwrap();
        let dropped = report.dropped.iter().sum::<u64>();
        assert_eq!(dropped > 0, limit != Limit::Unlimited, "{limit:?}");
    }
}
