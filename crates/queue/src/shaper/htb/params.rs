//! Classes of `htb`: their parameters and the checks of their tree.

use super::tree::Htb;
use crate::config::refuse_small_limit;
use crate::keys::FRAME;
use crate::{BuiltIn, Configuration, Limit, Qdisc, QueueConfig, Refusal};
use goodqueue_types::parameters::{AMOUNT, Key, Kind, Tc, integer, packets, rate};
use goodqueue_types::{RandomStream, Rate, Span, parameters};

/// Number of levels of classes below one another.
pub const LEVELS: usize = 8;
/// Number of priorities.
pub const PRIORITIES: usize = 8;
/// Largest number of classes, as many as there are minor numbers in `tc`.
const MOST_CLASSES: u64 = 65_535;
/// Parent of a class of the first level.
const NO_PARENT: &str = "";

parameters! {
    /// Parameters of a hierarchy of classes. Packets leave a leaf class at its own rate, or beyond it,
    /// up to its ceil, with tokens that its ancestors lend.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HtbConfig("htb") {
        /// The classes, each after its parent. Packets wait in the classes without children.
        ///
        /// A packet takes the first class that names its code point in `dscp`. Of the others flow
        /// number i takes class number i of those without `dscp`, in turn.
        classes: Vec<HtbClass> = Vec::new() => Key::new(Kind::List(HtbClass::SPEC))
            .required()
            .in_tc(Tc::Hook)
            .example("[{ name = \"line\", rate = \"10Mbps\" }]");
        /// The quantum of a class is its rate divided by this number and by 1 s, within 1 kB and
        /// 200 kB.
        r2q: u32 = 10 => integer(1, 1_000_000).tc("r2q").example("10");
        /// Packets that may wait without a class. They leave first.
        direct_qlen: u64 = 1_000 => packets(0, 1_000_000_000).in_tc(Tc::Hook).example("1000p");
    }

    /// A class of a hierarchy.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HtbClass("htb class") {
        /// Name of the class, such as `1:10` in `tc`.
        name: String = String::new() => Key::new(Kind::Text).required().in_tc(Tc::Hook).example("gold");
        /// Name of the class whose tokens this one borrows; none borrows from nobody.
        parent: String = NO_PARENT.to_owned() => Key::new(Kind::Text)
            .default("none")
            .in_tc(Tc::Hook)
            .example("line");
        /// Number of classes alike, below each class of the parent's.
        count: u64 = 1 => integer(1, MOST_CLASSES).in_tc(Tc::Hook).example("100");
        /// Rate of frames that the class is guaranteed. From 1bps to 10Tbps.
        rate: Rate = Rate(1) => rate().required().tc("rate").example("10Mbps");
        /// Rate that the class reaches with borrowed tokens.
        ceil: Option<Rate> = None => rate().default("`rate`").tc("ceil").example("50Mbps");
        /// Frame bytes that may go at once beyond `rate` after a pause.
        burst: Option<u64> = None => Key::new(AMOUNT).default("1600B and 1 ns of `rate`")
            .tc("burst").example("15kB");
        /// Frame bytes that may go at once beyond `ceil` after a pause.
        cburst: Option<u64> = None => Key::new(AMOUNT).default("1600B and 1 ns of `ceil`")
            .tc("cburst").example("15kB");
        /// Frame bytes of a turn among classes of the same level and priority.
        quantum: Option<u64> = None => Key::new(FRAME).default("by `r2q`").tc("quantum")
            .example("1514B");
        /// Priority of a class without children; 0 borrows first.
        prio: u8 = 0 => integer(0, PRIORITIES as u64 - 1).tc("prio").example("1");
        /// Code points of the packets of a class without children.
        dscp: Vec<u8> = Vec::new() => Key::new(Kind::ListOf(&Kind::Integer { min: 0, max: 63 }))
            .default("a share of all flows")
            .in_tc(Tc::Hook)
            .example("[46]");
        /// The queue of a class without children.
        queue: Option<Box<QueueConfig>> = None => Key::new(Kind::Queue)
            .default("`{ limit = \"1000p\" }`")
            .in_tc(Tc::Hook)
            .example("{ kind = \"fq_codel\" }");
    }
}

impl BuiltIn for HtbConfig {
    const QDISC: Qdisc = Qdisc::Named("htb");
}

impl HtbClass {
    /// Returns the highest rate of the class.
    pub fn ceil(&self) -> Rate {
        self.ceil.unwrap_or(self.rate)
    }

    /// Returns the queue of its packets.
    pub fn queue(&self) -> QueueConfig {
        let own = self.queue.as_deref().cloned();
        own.unwrap_or_else(|| QueueConfig::drop_tail(Limit::Packets(1_000)))
    }

    /// Returns the depths of the buckets of `rate` and `ceil`, in bytes. `tc` gives a burst of its
    /// largest packet of 1600 B and of a tick of the kernel's clock.
    pub fn bursts(&self) -> [u64; 2] {
        let usual = |rate: Rate| 1_600 + rate.bytes_in(Span::from_micros(1)).0 / 1_000;
        [
            self.burst.unwrap_or_else(|| usual(self.rate)),
            self.cburst.unwrap_or_else(|| usual(self.ceil())),
        ]
    }

    /// Returns the bytes of a turn.
    pub fn quantum(&self, r2q: u32) -> u64 {
        let by_rate = self.rate.0 / 8 / u64::from(r2q);
        self.quantum
            .unwrap_or_else(|| by_rate.clamp(1_000, 200_000))
    }
}

impl HtbConfig {
    /// Returns the index of the parent of a class.
    pub fn parent(&self, class: &HtbClass) -> Option<usize> {
        let mut classes = self.classes.iter();
        classes.position(|one| one.name == class.parent && class.parent != NO_PARENT)
    }

    /// Returns true for each class that has no children.
    pub fn leaves(&self) -> Vec<bool> {
        let is_parent = |name: &str| self.classes.iter().any(|class| class.parent == name);
        self.classes
            .iter()
            .map(|one| !is_parent(&one.name))
            .collect()
    }

    /// Returns the number of classes of each table, with the copies that its ancestors make of it.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            let above = self.parent(class).and_then(|parent| counts.get(parent));
            counts.push(class.count.saturating_mul(above.copied().unwrap_or(1)));
        }
        counts
    }

    /// Returns the number of levels from the first class down to each.
    fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            let above = self.parent(class).and_then(|parent| depths.get(parent));
            depths.push(above.map_or(1, |depth| depth + 1));
        }
        depths
    }

    /// Returns the queues of the classes without children, which the classes hold.
    fn queues(&self) -> impl Iterator<Item = QueueConfig> {
        let leaves = self.leaves().into_iter().zip(&self.classes);
        leaves
            .filter(|(is_leaf, _)| *is_leaf)
            .map(|(_, class)| class.queue())
    }

    /// Checks the names and the shape of the tree.
    fn check_tree(&self) -> Result<(), Refusal> {
        let refuse = |key, message: String, help: &str| Err(Refusal::new(key, message, help));
        if self.classes.is_empty() {
            let help = "write a class, as in classes = [{ name = \"line\", rate = \"10Mbps\" }]";
            return refuse("classes", "there are no classes".to_owned(), help);
        }
        for (index, class) in self.classes.iter().enumerate() {
            let name = &class.name;
            if name.is_empty() || self.classes[..index].iter().any(|one| one.name == *name) {
                let message = format!("the name \"{name}\" is empty or that of two classes");
                return refuse("classes", message, "give each class a name of its own");
            }
            let parent = self.parent(class);
            if class.parent != NO_PARENT && parent.is_none_or(|parent| parent >= index) {
                let message = format!(
                    "no class before \"{name}\" is its parent \"{}\"",
                    class.parent
                );
                return refuse("classes", message, "write each class after its parent");
            }
        }
        if self.depths().iter().any(|depth| *depth > LEVELS) {
            let message = format!("there are more than {LEVELS} classes below one another");
            return refuse("classes", message, "htb of Linux has no more");
        }
        let all = self
            .counts()
            .iter()
            .fold(0, |sum: u64, count| sum.saturating_add(*count));
        if all > MOST_CLASSES {
            let message = format!("there are {all} classes");
            return refuse("classes", message, "write at most 65535 with all copies");
        }
        Ok(())
    }

    /// Checks the values of a class.
    fn check_class(
        &self,
        class: &HtbClass,
        is_leaf: bool,
        frame_bytes: u64,
    ) -> Result<(), Refusal> {
        let name = &class.name;
        let refuse = |message: String, help: &str| Err(Refusal::new("classes", message, help));
        if class.rate.0 == 0 || class.ceil() < class.rate {
            let message = format!("the ceil of \"{name}\" is below its rate");
            return refuse(message, "write a higher ceil, or leave it out");
        }
        if !is_leaf && (class.queue.is_some() || !class.dscp.is_empty()) {
            let message = format!("no packet waits in \"{name}\", which has classes below it");
            return refuse(message, "give queue and dscp to these classes");
        }
        if !is_leaf {
            return Ok(());
        }
        if !class.dscp.is_empty() && self.copies(class) > 1 {
            let message = format!("a code point names \"{name}\", of which there are several");
            return refuse(message, "leave out dscp or count");
        }
        let queue = class.queue();
        refuse_small_limit(queue.limit(), frame_bytes)?;
        queue.check(frame_bytes)
    }

    /// Returns the number of classes of a table.
    fn copies(&self, class: &HtbClass) -> u64 {
        let place = self.classes.iter().position(|one| one.name == class.name);
        place.map_or(1, |place| self.counts()[place])
    }
}

impl Configuration for HtbConfig {
    type Queue = Htb;

    fn build(&self, random: &mut RandomStream) -> Htb {
        Htb::new(self, random)
    }

    fn table_bytes(&self) -> usize {
        Htb::table_bytes(self)
    }

    /// Returns the limit of the first class without children.
    fn limit(&self) -> Limit {
        self.queues()
            .next()
            .map_or(Limit::Packets(0), |queue| queue.limit())
    }

    /// Sets the limit of each class without children.
    fn set_limit(&mut self, limit: Limit) {
        for (is_leaf, class) in self.leaves().into_iter().zip(&mut self.classes) {
            if is_leaf {
                let mut queue = class.queue();
                queue.set_limit(limit);
                class.queue = Some(Box::new(queue));
            }
        }
    }

    fn check(&self, frame_bytes: u64) -> Result<(), Refusal> {
        self.check_tree()?;
        let mut classes = self.leaves().into_iter().zip(&self.classes);
        classes.try_for_each(|(is_leaf, class)| self.check_class(class, is_leaf, frame_bytes))
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    /// Returns the ceils of the classes of the first level together.
    fn drain_rate(&self, link: Rate) -> Rate {
        let first = self
            .classes
            .iter()
            .filter(|class| class.parent == NO_PARENT);
        let ceils = first.map(|class| class.ceil().0.saturating_mul(class.count));
        Rate(ceils.fold(0, u64::saturating_add)).min(link)
    }
}
