//! A trial of one discipline under one load. It records what the rules say about the discipline's
//! state and compares after each call.

use super::traffic::{Call, Load, Traffic};
use super::{Claims, Rule, Violation};
use crate::{Backlog, BufferPool, Context, QueueDiscipline, Verdict};
use goodqueue_types::{DropReason, Ecn, Framing, Packet, RandomStream, Time};
use std::collections::{BTreeMap, VecDeque};

/// Number of calls in a trial.
const CALLS: usize = 6_000;
/// Call at which a clone is made. The clone then replays the rest.
const CLONED_AT: usize = 3_000;

/// Counts of packets in the trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Packets offered to the queue.
    pub offered: u64,
    /// Packets that the queue sent.
    pub sent: u64,
    /// Packets dropped, by reason, at the index `reason as usize`.
    pub dropped: [u64; DropReason::COUNT],
    /// Packets marked, by reason, at the index `reason as usize`.
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

/// Result of a call, to be compared with that of a clone.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    packet: Option<Packet>,
    verdicts: Vec<Verdict>,
    backlog: Backlog,
    next_ready: Option<Time>,
}

/// The discipline with its random stream, its buffer and the link's framing.
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
            split: &mut 0,
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

/// Flow, direction and number of a packet, which identify it.
type Name = (u32, u8, u64);

fn name(packet: &Packet) -> Name {
    (packet.flow.0, packet.direction as u8, packet.number)
}

/// Trial in progress.
pub struct Trial {
    subject: Subject,
    claims: Claims,
    load: Load,
    traffic: Traffic,
    /// Packets that wait, each as it should be when it leaves.
    waiting: BTreeMap<Name, Packet>,
    backlog: Backlog,
    last_sent: BTreeMap<(u32, u8), u64>,
    /// Time until which the queue announced to hold its packets back, if it did.
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

    /// Makes all calls, lets a clone replay the second half, and empties the queue.
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

    /// Asks for packets until none waits.
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

    /// Makes a call and checks every rule that its results can show.
    fn make(&mut self, now: Time, call: Call) -> Result<Answer, Violation> {
        self.calls += 1;
        if let Call::Enqueue(packet) = &call {
            self.report.offered += 1;
            // An arrival may let a packet leave sooner, so only a queue without arrivals is bound
            // by the time that it announced.
            self.not_before = None;
            self.waiting.insert(name(packet), *packet);
            self.backlog.add(packet.frame_bytes(self.subject.framing));
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

    /// Checks a packet that leaves the queue, sent or dropped, and removes it from the record.
    fn leaves(&mut self, packet: &Packet, how: &str) -> Result<(), Violation> {
        let Some(expected) = self.waiting.remove(&name(packet)) else {
            let message = format!("{packet:?} was {how}, which was not in the queue");
            return Err(self.violation(Rule::Conservation, message));
        };
        self.require(Rule::Contents, expected == *packet, || {
            format!("{expected:?} went in and {packet:?} was {how}")
        })?;
        self.backlog
            .remove(packet.frame_bytes(self.subject.framing));
        Ok(())
    }

    fn dropped(&mut self, packet: &Packet, reason: DropReason) -> Result<(), Violation> {
        self.report.dropped[reason as usize] += 1;
        // A packet may be marked and then dropped. Its mark is on record then.
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
        let (reported, counted) = (answer.backlog, self.backlog);
        self.require(Rule::Backlog, reported == counted, || {
            format!("the queue reports a backlog of {reported:?}, but {counted:?} entered and did not leave")
        })?;
        let booked = self.subject.buffer.used();
        self.require(Rule::Account, booked == reported.bytes, || {
            format!("the account has {booked} bytes, but the queue reports {reported:?}")
        })?;
        let Report { offered, sent, .. } = self.report;
        let dropped = self.report.dropped.iter().sum::<u64>();
        self.require(
            Rule::Conservation,
            offered == sent + dropped + reported.packets,
            || format!("{offered} in, {sent} out, {dropped} dropped, {reported:?}"),
        )
    }

    /// Checks, after a request for a packet, that the queue correctly returned a packet or none.
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
                "ready at {:?}, as announced, but gave at {now:?}",
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
