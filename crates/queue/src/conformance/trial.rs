//! One discipline under one load, with a record of what must be true of it.

use super::traffic::{Call, Load, Traffic};
use super::{Claims, Rule, Violation};
use crate::{Backlog, BufferPool, Context, QueueDiscipline, Verdict};
use goodqueue_types::{DropReason, Ecn, Framing, Packet, RandomStream, Time};
use std::collections::{BTreeMap, VecDeque};

/// Calls of a trial.
const CALLS: usize = 6_000;
/// At this call a clone is made, which then replays the rest.
const CLONED_AT: usize = 3_000;

/// What happened in the trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Packets offered.
    pub offered: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets dropped, by reason, at the index `reason as usize`.
    pub dropped: [u64; DropReason::COUNT],
    /// Packets marked, by reason.
    pub marked: [u64; DropReason::COUNT],
}

impl Report {
    pub(super) fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.sent += other.sent;
        for reason in 0..DropReason::COUNT {
            self.dropped[reason] += other.dropped[reason];
            self.marked[reason] += other.marked[reason];
        }
    }
}

/// What a call gave, to be compared with a clone's.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    packet: Option<Packet>,
    verdicts: Vec<Verdict>,
    backlog: Backlog,
    next_ready: Option<Time>,
}

/// The discipline and all that it is given.
#[derive(Clone, Debug)]
struct Subject {
    queue: Box<dyn QueueDiscipline>,
    random: RandomStream,
    buffer: BufferPool,
    framing: Framing,
}

impl Subject {
    fn call(&mut self, now: Time, call: Call) -> Answer {
        let mut verdicts = Vec::new();
        let mut context = Context {
            now,
            framing: self.framing,
            random: &mut self.random,
            account: self.buffer.account(0),
            verdicts: &mut verdicts,
        };
        let packet = match call {
            Call::Enqueue(packet) => {
                self.queue.enqueue(&mut context, packet);
                None
            }
            Call::Dequeue => self.queue.dequeue(&mut context),
        };
        Answer {
            packet,
            verdicts,
            backlog: self.queue.backlog(),
            next_ready: self.queue.next_ready(now),
        }
    }
}

/// A packet's flow, direction, and number in them.
type Name = (u32, u8, u64);

fn name(packet: &Packet) -> Name {
    (packet.flow.0, packet.direction as u8, packet.number)
}

/// A trial in progress.
pub struct Trial {
    subject: Subject,
    claims: Claims,
    load: Load,
    traffic: Traffic,
    /// What waits, as it should be when it leaves.
    waiting: BTreeMap<Name, Packet>,
    backlog: Backlog,
    last_sent: BTreeMap<(u32, u8), u64>,
    /// When the queue said it would next be ready, if it held back what it had.
    not_before: Option<Time>,
    calls: usize,
    report: Report,
}

impl Trial {
    pub fn new(
        queue: Box<dyn QueueDiscipline>,
        random: RandomStream,
        claims: Claims,
        load: Load,
        seed: u64,
    ) -> Self {
        Self {
            subject: Subject {
                queue,
                random,
                buffer: BufferPool::unlimited(),
                framing: load.framing(),
            },
            claims,
            load,
            traffic: Traffic::new(load, claims.largest_packet, seed),
            waiting: BTreeMap::new(),
            backlog: Backlog::default(),
            last_sent: BTreeMap::new(),
            not_before: None,
            calls: 0,
            report: Report::default(),
        }
    }

    /// Makes all calls, has a clone replay the second half, and empties the queue.
    pub fn run(mut self) -> Result<Report, Violation> {
        let mut clone = None;
        let mut record = VecDeque::new();
        let mut now = Time::ZERO;
        for index in 0..CALLS {
            if index == CLONED_AT {
                clone = Some(self.subject.clone());
            }
            let (time, call) = self.traffic.next_call();
            now = time;
            let answer = self.make(now, call)?;
            if clone.is_some() {
                record.push_back((now, call, answer));
            }
        }
        self.replay(clone.expect("made in the middle"), record)?;
        self.empty(now)
    }

    fn replay(
        &self,
        mut clone: Subject,
        record: VecDeque<(Time, Call, Answer)>,
    ) -> Result<(), Violation> {
        for (index, (now, call, answer)) in record.into_iter().enumerate() {
            let again = clone.call(now, call);
            if again != answer {
                let message =
                    format!("{call:?} at {now:?} gave {answer:?}, and a clone gave {again:?}");
                return Err(Violation {
                    call: CLONED_AT + index + 1,
                    ..self.violation(Rule::Replay, message)
                });
            }
        }
        Ok(())
    }

    /// Asks until nothing waits.
    fn empty(mut self, mut now: Time) -> Result<Report, Violation> {
        let most = 4 * self.backlog.packets + 1_000;
        for _ in 0..most {
            let answer = self.make(now, Call::Dequeue)?;
            if answer.backlog.packets == 0 {
                return Ok(self.report);
            }
            now = answer.next_ready.unwrap_or(now);
        }
        let left = self.backlog.packets;
        let message = format!("after {most} requests {left} packets are left");
        Err(self.violation(Rule::Readiness, message))
    }

    fn violation(&self, rule: Rule, message: String) -> Violation {
        Violation {
            rule,
            load: format!("{:?}", self.load),
            call: self.calls,
            message,
        }
    }

    fn require(
        &self,
        rule: Rule,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        if holds {
            Ok(())
        } else {
            Err(self.violation(rule, message()))
        }
    }

    /// Makes a call and checks everything that can be seen after it.
    fn make(&mut self, now: Time, call: Call) -> Result<Answer, Violation> {
        self.calls += 1;
        if let Call::Enqueue(packet) = &call {
            self.report.offered += 1;
            // What arrives may be ready sooner: only an untouched queue is held to its word.
            self.not_before = None;
            self.waiting.insert(name(packet), *packet);
            self.backlog
                .add(self.subject.framing.frame_bytes(packet.size));
        }
        let answer = self.subject.call(now, call);
        for verdict in &answer.verdicts {
            match verdict {
                Verdict::Dropped(packet, reason) => self.dropped(packet, *reason)?,
                Verdict::Marked(packet, reason) => self.marked(packet, *reason)?,
            }
        }
        if let Some(packet) = &answer.packet {
            self.sent(packet)?;
        }
        self.check_counts(&answer)?;
        if matches!(call, Call::Dequeue) {
            self.check_readiness(now, &answer)?;
        }
        Ok(answer)
    }

    /// A packet leaves the queue, one way or the other.
    fn leaves(&mut self, packet: &Packet, how: &str) -> Result<(), Violation> {
        let Some(expected) = self.waiting.remove(&name(packet)) else {
            let message = format!("{packet:?} was {how}, which was not in the queue");
            return Err(self.violation(Rule::Conservation, message));
        };
        self.require(Rule::Contents, expected == *packet, || {
            format!("{expected:?} went in and {packet:?} was {how}")
        })?;
        self.backlog
            .remove(self.subject.framing.frame_bytes(packet.size));
        Ok(())
    }

    fn dropped(&mut self, packet: &Packet, reason: DropReason) -> Result<(), Violation> {
        self.report.dropped[reason as usize] += 1;
        // A packet may be marked and then dropped; its mark is then already on record.
        self.leaves(packet, "dropped")
    }

    fn marked(&mut self, packet: &Packet, reason: DropReason) -> Result<(), Violation> {
        self.report.marked[reason as usize] += 1;
        let Some(waiting) = self.waiting.get_mut(&name(packet)) else {
            let message = format!("{packet:?} was marked, which was not in the queue");
            return Err(self.violation(Rule::Conservation, message));
        };
        let before = waiting.ecn;
        waiting.ecn = Ecn::Experienced;
        let capable = before.is_capable() && packet.ecn == Ecn::Experienced && reason.can_mark();
        self.require(Rule::Marks, capable, || {
            format!("a packet with {before:?} was marked for {reason:?}: {packet:?}")
        })
    }

    fn sent(&mut self, packet: &Packet) -> Result<(), Violation> {
        self.report.sent += 1;
        self.leaves(packet, "sent")?;
        let flow = (packet.flow.0, packet.direction as u8);
        let last = self.last_sent.insert(flow, packet.number);
        let number = packet.number;
        self.require(
            Rule::FlowOrder,
            last.is_none_or(|last| last < number),
            || format!("packet {number} of flow {flow:?} left after packet {last:?}"),
        )
    }

    fn check_counts(&self, answer: &Answer) -> Result<(), Violation> {
        let (told, counted) = (answer.backlog, self.backlog);
        self.require(Rule::Backlog, told == counted, || {
            format!("a backlog of {told:?} is told, and {counted:?} went in and not out")
        })?;
        let booked = self.subject.buffer.used();
        self.require(Rule::Account, booked == told.bytes, || {
            format!("{booked} bytes are booked, and {told:?} waits")
        })?;
        let Report { offered, sent, .. } = self.report;
        let dropped = self.report.dropped.iter().sum::<u64>();
        self.require(
            Rule::Conservation,
            offered == sent + dropped + told.packets,
            || format!("{offered} in, {sent} out, {dropped} dropped, {told:?}"),
        )
    }

    /// After a request for a packet: was it right to give one, or to give none?
    fn check_readiness(&mut self, now: Time, answer: &Answer) -> Result<(), Violation> {
        let waits = answer.backlog.packets;
        let gave = answer.packet.is_some();
        self.require(
            Rule::WorkConservation,
            gave || waits == 0 || !self.claims.work_conserving,
            || format!("{waits} packets wait, and none was given"),
        )?;
        let early = self.not_before.is_some_and(|time| now < time) && gave;
        self.require(Rule::Readiness, !early, || {
            format!(
                "ready at {:?}, as told, but gave at {now:?}",
                self.not_before
            )
        })?;
        let ready = answer.next_ready;
        self.require(Rule::Readiness, ready.is_some() == (waits > 0), || {
            format!("{waits} packets wait, and the next is ready at {ready:?}")
        })?;
        let held = !gave && waits > 0;
        self.require(
            Rule::Readiness,
            !held || ready.is_some_and(|time| time > now),
            || format!("none was given at {now:?}, but one is ready at {ready:?}"),
        )?;
        self.not_before = ready.filter(|_| held);
        Ok(())
    }
}
