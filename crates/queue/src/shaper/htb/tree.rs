//! State of `htb`: tokens, modes, and the turns of the classes.
//!
//! The rules are those of Linux `sch_htb`: a class with tokens of its `rate` sends, one without but
//! with tokens of its `ceil` borrows from its parent, and one without both waits. A sender of each
//! level is chosen by priority, then in turns of a quantum; tokens of a lower level go first.

use super::bucket::{Bucket, LONGEST};
use super::layout::Layout;
use super::params::{HtbConfig, LEVELS, PRIORITIES};
use super::ring::Ring;
use super::waiting::Waiting;
use crate::{Backlog, Configuration, Context, Discipline, Limit, QueueDiscipline, fifo::Fifo};
use goodqueue_types::{DropReason, Packet, RandomStream, Span, Time};

/// Number of code points of differentiated services.
const CODE_POINTS: usize = 64;
/// Most steps of the search for a leaf.
const STEPS: usize = 65_535;

/// Mode of a class, which follows from its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It has no tokens of its ceil.
    Waits,
    /// It has no tokens of its rate, and may use those of its parent.
    Borrows,
    /// It has tokens of its rate.
    Sends,
}

/// A class with its tokens.
#[derive(Clone, Debug)]
struct Class {
    parent: Option<u32>,
    level: u8,
    /// Place among the children of its parent.
    place: u32,
    /// Index among the leaves or among the others.
    part: u32,
    mode: Mode,
    rate: Bucket,
    ceil: Bucket,
    /// Time of the tokens.
    at: Time,
    /// Priorities of the packets in it or below, as bits.
    active: u8,
}

/// A class without children.
#[derive(Clone, Debug)]
struct Leaf {
    queue: Discipline,
    quantum: i64,
    prio: u8,
    deficit: [i64; LEVELS],
}

/// A class with children: those that borrow from it, by priority.
#[derive(Clone, Debug)]
struct Inner {
    children: Box<[u32]>,
    borrowers: [Ring; PRIORITIES],
}

/// Classes of a level: those that send, and those that wait for tokens.
#[derive(Clone, Debug)]
struct Level {
    senders: [Ring; PRIORITIES],
    waiting: Waiting,
}

/// State of the hierarchy.
#[derive(Clone, Debug)]
pub struct Htb {
    classes: Box<[Class]>,
    leaves: Box<[Leaf]>,
    inner: Box<[Inner]>,
    levels: Box<[Level]>,
    /// Class of each code point that a class names.
    by_dscp: Box<[Option<u32>; CODE_POINTS]>,
    /// Classes that flows take in turn.
    by_flow: Box<[u32]>,
    direct: Fifo,
    direct_qlen: Limit,
    backlog: Backlog,
}

impl Htb {
    /// Creates the hierarchy, in which all buckets are full.
    pub fn new(config: &HtbConfig, random: &mut RandomStream) -> Self {
        let layout = Layout::new(config);
        let (levels, children) = (layout.levels(), layout.children());
        let count = layout.classes.len();
        let (mut leaves, mut inner) = (Vec::new(), Vec::new());
        let mut classes: Vec<Class> = Vec::with_capacity(count);
        for (index, &(table, parent)) in layout.classes.iter().enumerate() {
            let class = &config.classes[table];
            let part = if layout.is_leaf(index) {
                leaves.push(Leaf {
                    queue: class.queue().build(random),
                    quantum: class.quantum(config.r2q) as i64,
                    prio: class.prio,
                    deficit: [0; LEVELS],
                });
                leaves.len() - 1
            } else {
                let below = children[index].len();
                inner.push(Inner {
                    children: children[index].clone().into(),
                    borrowers: std::array::from_fn(|_| Ring::new(below)),
                });
                inner.len() - 1
            };
            let siblings = parent.map(|parent| &children[parent as usize]);
            let place = siblings.and_then(|all| all.binary_search(&(index as u32)).ok());
            let [burst, cburst] = class.bursts();
            classes.push(Class {
                parent,
                level: levels[index],
                place: place.unwrap_or(0) as u32,
                part: part as u32,
                mode: Mode::Sends,
                rate: Bucket::new(class.rate, burst),
                ceil: Bucket::new(class.ceil(), cburst),
                at: Time::ZERO,
                active: 0,
            });
        }
        let mut by_dscp = Box::new([None; CODE_POINTS]);
        let mut by_flow = Vec::new();
        for (index, (table, _)) in layout.classes.iter().enumerate() {
            let class = &config.classes[*table];
            for dscp in &class.dscp {
                by_dscp[usize::from(*dscp)].get_or_insert(index as u32);
            }
            if layout.is_leaf(index) && class.dscp.is_empty() {
                by_flow.push(index as u32);
            }
        }
        Self {
            classes: classes.into(),
            leaves: leaves.into(),
            inner: inner.into(),
            levels: (0..LEVELS as u8)
                .map(|level| {
                    let (size, most) = layout.sizes(level);
                    Level {
                        senders: std::array::from_fn(|_| Ring::new(size)),
                        waiting: Waiting::new(size, most),
                    }
                })
                .collect(),
            by_dscp,
            by_flow: by_flow.into(),
            direct: Fifo::default(),
            direct_qlen: Limit::Packets(config.direct_qlen),
            backlog: Backlog::default(),
        }
    }

    /// Returns the bytes of its tables.
    pub fn table_bytes(config: &HtbConfig) -> usize {
        let layout = Layout::new(config);
        let children = layout.children();
        let of_class = |(index, (table, _)): (usize, &(usize, Option<u32>))| {
            let part = if layout.is_leaf(index) {
                size_of::<Leaf>() + size_of::<u32>() + config.classes[*table].queue().table_bytes()
            } else {
                let below = children[index].len();
                size_of::<Inner>() + 4 * below + PRIORITIES * Ring::table_bytes(below)
            };
            size_of::<Class>() + part
        };
        let classes: usize = layout.classes.iter().enumerate().map(of_class).sum();
        let levels = (0..LEVELS as u8).map(|level| {
            let (size, most) = layout.sizes(level);
            size_of::<Level>()
                + PRIORITIES * Ring::table_bytes(size)
                + Waiting::table_bytes(size, most)
        });
        classes + levels.sum::<usize>() + size_of::<[Option<u32>; CODE_POINTS]>()
    }

    /// Returns the class of a packet, or none if it waits in no class.
    fn class_of(&self, packet: &Packet) -> Option<u32> {
        let by_flow = || {
            let turn = packet.flow.0 as usize % self.by_flow.len().max(1);
            self.by_flow.get(turn).copied()
        };
        self.by_dscp[usize::from(packet.dscp & 63)].or_else(by_flow)
    }

    fn leaf(&mut self, class: u32) -> &mut Leaf {
        &mut self.leaves[self.classes[class as usize].part as usize]
    }

    /// Returns the parent of a class that borrows, its index among the classes with children, and the
    /// place of the class among these.
    fn lender(&self, class: u32) -> Option<(u32, usize, u32)> {
        let class = &self.classes[class as usize];
        let parent = class.parent.filter(|_| class.mode == Mode::Borrows)?;
        let part = self.classes[parent as usize].part as usize;
        Some((parent, part, class.place))
    }

    /// Makes the borrowing of a class, or its sending, known to those that ask it (Linux:
    /// `htb_activate_prios`).
    fn activate(&mut self, mut class: u32) {
        let mut mask = self.classes[class as usize].active;
        while mask != 0
            && let Some((parent, part, place)) = self.lender(class)
        {
            for prio in bits(mask) {
                let borrowers = &mut self.inner[part].borrowers[prio];
                // The parent has borrowers of this priority: its own ancestors know.
                if !borrowers.is_empty() {
                    mask &= !(1 << prio);
                }
                borrowers.insert(place);
            }
            self.classes[parent as usize].active |= mask;
            class = parent;
        }
        let Class { mode, level, .. } = self.classes[class as usize];
        if mode == Mode::Sends {
            for prio in bits(mask) {
                self.levels[usize::from(level)].senders[prio].insert(class);
            }
        }
    }

    /// Takes back what [`activate`](Self::activate) made known (Linux: `htb_deactivate_prios`).
    fn deactivate(&mut self, mut class: u32) {
        let mut mask = self.classes[class as usize].active;
        while mask != 0
            && let Some((parent, part, place)) = self.lender(class)
        {
            let mut left = 0;
            for prio in bits(mask) {
                let borrowers = &mut self.inner[part].borrowers[prio];
                if borrowers.turn == Some(place) {
                    (borrowers.turn, borrowers.lost) = (None, Some(place));
                }
                borrowers.remove(place);
                if borrowers.is_empty() {
                    left |= 1 << prio;
                }
            }
            mask = left;
            self.classes[parent as usize].active &= !mask;
            class = parent;
        }
        let Class { mode, level, .. } = self.classes[class as usize];
        if mode == Mode::Sends {
            for prio in bits(mask) {
                let senders = &mut self.levels[usize::from(level)].senders[prio];
                if senders.turn == Some(class) {
                    senders.advance();
                }
                senders.remove(class);
            }
        }
    }

    /// Marks a leaf as one without packets.
    fn empty(&mut self, class: u32) {
        self.deactivate(class);
        self.classes[class as usize].active = 0;
    }

    /// Changes the mode of a class to what its tokens allow with those of a time. Returns the time
    /// until they allow more.
    fn update(&mut self, index: u32, gained: i64) -> i64 {
        let class = &self.classes[index as usize];
        let (rate, ceil) = (class.rate.tokens + gained, class.ceil.tokens + gained);
        let (mode, missing) = match (ceil < 0, rate < 0) {
            (true, _) => (Mode::Waits, -ceil),
            (false, true) => (Mode::Borrows, -rate),
            (false, false) => (Mode::Sends, 0),
        };
        let (before, active) = (class.mode, class.active != 0);
        if mode != before {
            if active && before != Mode::Waits {
                self.deactivate(index);
            }
            self.classes[index as usize].mode = mode;
            if active && mode != Mode::Waits {
                self.activate(index);
            }
        }
        missing
    }

    /// Changes the modes of the classes of a level whose time has come (Linux: `htb_do_events`).
    fn handle_events(&mut self, level: usize, now: Time) {
        while let Some((at, class)) = self.levels[level].waiting.first()
            && at <= now
        {
            self.levels[level].waiting.remove(class);
            let gained = self.gained(class, now);
            let missing = self.update(class, gained);
            self.wait(class, now, missing);
        }
    }

    /// Returns the tokens that a class gained since it was charged.
    fn gained(&self, class: u32, now: Time) -> i64 {
        let since = now - self.classes[class as usize].at;
        i64::try_from(since.0).unwrap_or(LONGEST).min(LONGEST)
    }

    /// Lets a class wait if its tokens do not let it send.
    fn wait(&mut self, index: u32, now: Time, missing: i64) {
        let class = &self.classes[index as usize];
        if class.mode != Mode::Sends {
            let at = now.saturating_add(Span(missing.max(1) as u64));
            self.levels[usize::from(class.level)]
                .waiting
                .insert(index, at);
        }
    }

    /// Charges a frame that was sent with tokens of a level to a leaf and its ancestors (Linux:
    /// `htb_charge_class`).
    fn charge(&mut self, leaf: u32, level: u8, now: Time, bytes: u64) {
        let mut next = Some(leaf);
        while let Some(index) = next {
            let gained = self.gained(index, now);
            let class = &mut self.classes[index as usize];
            next = class.parent;
            if class.level >= level {
                class.rate.take(gained, bytes);
            } else {
                class.rate.gain(gained);
            }
            class.ceil.take(gained, bytes);
            class.at = now;
            let before = class.mode;
            let of_level = usize::from(class.level);
            let missing = self.update(index, 0);
            if self.classes[index as usize].mode != before {
                self.levels[of_level].waiting.remove(index);
                self.wait(index, now, missing);
            }
        }
    }

    /// Returns the ring at a depth of the path from a level to a leaf.
    fn ring(&mut self, level: usize, prio: usize, above: Option<u32>) -> &mut Ring {
        match above {
            None => &mut self.levels[level].senders[prio],
            Some(class) => {
                let part = self.classes[class as usize].part as usize;
                &mut self.inner[part].borrowers[prio]
            }
        }
    }

    /// Returns the leaf whose turn it is at a level that has a sender (Linux: `htb_lookup_leaf`).
    fn leaf_in_turn(&mut self, level: usize, prio: usize) -> Option<u32> {
        let mut path: [Option<u32>; LEVELS] = [None; LEVELS];
        let mut depth = 0;
        for _ in 0..STEPS {
            let above = path[depth];
            let ring = self.ring(level, prio, above);
            if let (None, Some(lost)) = (ring.turn, ring.lost) {
                ring.turn = ring.at_or_after(lost);
            }
            ring.lost = None;
            let Some(turn) = ring.turn else {
                ring.turn = ring.at_or_after(0);
                if depth > 0 {
                    depth -= 1;
                    self.ring(level, prio, path[depth]).advance();
                }
                continue;
            };
            let class = match above {
                None => turn,
                Some(parent) => {
                    let part = self.classes[parent as usize].part as usize;
                    self.inner[part].children[turn as usize]
                }
            };
            if self.classes[class as usize].level == 0 {
                return Some(class);
            }
            depth += 1;
            path[depth] = Some(class);
        }
        None
    }

    /// Ends the turn of a leaf at a level.
    fn end_turn(&mut self, class: u32, level: usize, prio: usize) {
        let above = match level {
            0 => None,
            _ => self.classes[class as usize].parent,
        };
        self.ring(level, prio, above).advance();
    }

    /// Sends a packet with tokens of a level (Linux: `htb_dequeue_tree`).
    fn send(&mut self, context: &mut Context<'_>, level: usize, prio: usize) -> Option<Packet> {
        let mut class = self.leaf_in_turn(level, prio)?;
        let mut start = class;
        loop {
            let leaf = self.leaf(class);
            let before = leaf.queue.backlog();
            let packet = leaf.queue.dequeue(context);
            let after = leaf.queue.backlog();
            self.settle(before, after);
            if let Some(packet) = packet {
                self.sent(context, class, level, prio, &packet);
                return Some(packet);
            }
            if after.packets == 0 {
                self.empty(class);
                if self.levels[level].senders[prio].is_empty() {
                    return None;
                }
                let next = self.leaf_in_turn(level, prio)?;
                if class == start {
                    start = next;
                }
                class = next;
                continue;
            }
            self.end_turn(class, level, prio);
            class = self.leaf_in_turn(level, prio)?;
            if class == start {
                return None;
            }
        }
    }

    /// Books a packet that a leaf sent.
    fn sent(
        &mut self,
        context: &Context<'_>,
        class: u32,
        level: usize,
        prio: usize,
        packet: &Packet,
    ) {
        let bytes = context.frame_bytes(packet);
        let leaf = self.leaf(class);
        leaf.deficit[level] -= bytes as i64;
        let is_empty = leaf.queue.backlog().packets == 0;
        if leaf.deficit[level] < 0 {
            leaf.deficit[level] += leaf.quantum;
            self.end_turn(class, level, prio);
        }
        if is_empty {
            self.empty(class);
        }
        self.charge(class, level as u8, context.now, bytes);
    }

    /// Replaces a leaf's share of the backlog.
    fn settle(&mut self, before: Backlog, after: Backlog) {
        let all = &mut self.backlog;
        all.packets = all.packets - before.packets + after.packets;
        all.bytes = all.bytes - before.bytes + after.bytes;
    }

    /// Returns true if the tokens of a class or its ancestors let it send.
    fn may_send(&self, class: &Class) -> bool {
        match (class.mode, class.parent) {
            (Mode::Sends, _) => true,
            (Mode::Borrows, Some(parent)) => self.may_send(&self.classes[parent as usize]),
            _ => false,
        }
    }
}

/// Returns the priorities of a mask.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |prio| mask >> prio & 1 == 1)
}

impl QueueDiscipline for Htb {
    fn enqueue(&mut self, context: &mut Context<'_>, packet: Packet) {
        let Some(class) = self.class_of(&packet) else {
            let before = self.direct.backlog();
            if let Err(packet) = self.direct.push(context, self.direct_qlen, packet) {
                context.drop(packet, DropReason::Overlimit);
            }
            return self.settle(before, self.direct.backlog());
        };
        let leaf = self.leaf(class);
        let before = leaf.queue.backlog();
        leaf.queue.enqueue(context, packet);
        let (after, prio) = (leaf.queue.backlog(), leaf.prio);
        self.settle(before, after);
        if after.packets > 0 && self.classes[class as usize].active == 0 {
            self.classes[class as usize].active = 1 << prio;
            self.activate(class);
        }
    }

    fn dequeue(&mut self, context: &mut Context<'_>) -> Option<Packet> {
        let before = self.direct.backlog();
        if let Some(packet) = self.direct.pop(context) {
            self.settle(before, self.direct.backlog());
            return Some(packet);
        }
        if self.backlog.packets == 0 {
            return None;
        }
        for level in 0..LEVELS {
            self.handle_events(level, context.now);
            for prio in 0..PRIORITIES {
                if self.levels[level].senders[prio].is_empty() {
                    continue;
                }
                if let Some(packet) = self.send(context, level, prio) {
                    return Some(packet);
                }
            }
        }
        None
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        if self.backlog.packets == 0 {
            return None;
        }
        if !self.direct.is_empty() {
            return Some(now);
        }
        let firsts = self.levels.iter().filter_map(|level| level.waiting.first());
        let mut ready = firsts.map(|(at, _)| at.max(now)).min();
        let mut senders = self.levels.iter().flat_map(|level| &level.senders);
        if senders.all(Ring::is_empty) {
            return ready;
        }
        let leaves = self
            .classes
            .iter()
            .filter(|one| one.level == 0 && one.active != 0);
        for class in leaves.filter(|class| self.may_send(class)) {
            // A leaf may hold its packets back.
            let own = self.leaves[class.part as usize].queue.next_ready(now);
            if own == Some(now) {
                return own;
            }
            ready = ready.into_iter().chain(own).min();
        }
        ready
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
