//! Names of queues in Python in scenario files. The program that runs the scenario provides them.

use crate::keys::LIMIT;
use crate::{BuiltIn, Configuration, Limit, Qdisc, QueueConfig, QueueDiscipline, Refusal};
use goodqueue_types::parameters::{Key, Kind};
use goodqueue_types::{RandomStream, parameters};

parameters! {
    /// Name of a queue in Python.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PythonQueueConfig("python queue") {
        /// Module and class, as in `queues:DropTail`.
        class: String = String::new() => Key::new(Kind::Text).required().example("queues:DropTail");
        limit: Limit = Limit::Packets(1_000) => LIMIT.doc(
            "The most that may wait, in any unit. A class whose constructor has a parameter \
             `limit_packets` gets it in packets.",
        );
        /// Checksum of the class's source.
        ///
        /// If it is given, the scenario is refused when the source has changed.
        checksum: String = String::new()
            => Key::new(Kind::Text).default("the source's").example("1f3a")
            .doc("Checksum of the class's source. If it is given, a changed source is refused.");
    }
}

impl BuiltIn for PythonQueueConfig {
    const QDISC: Qdisc = Qdisc::None(
        "a queue in Python has no equivalent in Linux",
        "choose another kind to export",
    );
}

impl Configuration for PythonQueueConfig {
    type Queue = Box<dyn QueueDiscipline>;

    fn build(&self, _random: &mut RandomStream) -> Self::Queue {
        unreachable!("nothing provides the queue {}", self.class)
    }

    /// Accepts any limit, because it is the class that applies it.
    fn check(&self, _frame_bytes: u64) -> Result<(), Refusal> {
        Ok(())
    }
}

impl QueueConfig {
    /// Disciplines that are built in. The last word, `python`, needs the name of a class.
    pub const NAMES: &'static [&'static str] = match Self::WORDS.split_last() {
        Some((_, names)) => names,
        None => Self::WORDS,
    };
}
