//! Queues in Python, which a scenario names and a program runs only if it is allowed to.

use super::link::LinkDirection;
use super::{Topology, directed};
use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::python::{Checksums, Named};
use crate::language::units::UnitError;
use crate::scenario::Scenario;
use goodqueue_queue::{Configuration, CustomQueue, Limit, PythonQueueConfig, QueueConfig};
use goodqueue_types::LinkId;

/// Checks a queue in Python and writes the checksum of its class's source into its configuration.
pub(super) fn check(
    queue: QueueConfig,
    field: &Field<'_>,
    checksums: Option<&Checksums<'_>>,
) -> Checked<QueueConfig> {
    let QueueConfig::Python(python) = queue else {
        return Ok(queue);
    };
    let named = Named {
        part: "queue",
        example: "queues:DropTail",
        class: &python.class,
        checksum: &python.checksum,
    };
    let checksum = named.check(field, checksums)?;
    Ok(QueueConfig::Python(PythonQueueConfig {
        checksum,
        ..python
    }))
}

impl Topology {
    /// Returns the directions of all links, those of the graph with their number.
    fn directions_mut(&mut self) -> impl Iterator<Item = (Option<LinkId>, &mut LinkDirection)> {
        let trunk = self.trunk.iter_mut().enumerate();
        let trunk = trunk.flat_map(|(index, link)| {
            [(false, &mut link.forward), (true, &mut link.reverse)]
                .map(|(backward, direction)| (Some(directed(index, backward)), direction))
        });
        let access = self.access.iter_mut();
        let access = access.flat_map(|access| [&mut access.near, &mut access.far]);
        let access = access.flat_map(|link| [&mut link.forward, &mut link.reverse]);
        trunk.chain(access.map(|direction| (None, direction)))
    }
}

impl Scenario {
    /// Returns the links whose queue is a class in Python, each with the class.
    pub fn python_queues(&self) -> Vec<(String, PythonQueueConfig)> {
        let access = self.topology.access.iter();
        let access = access.flat_map(|access| [&access.near, &access.far]);
        let links = self.topology.trunk.iter().chain(access);
        let directions = links.flat_map(|link| {
            let back = format!("{}.reverse", link.name);
            [(link.name.clone(), &link.forward), (back, &link.reverse)]
        });
        let named = directions.filter_map(|(name, direction)| match &direction.queue {
            QueueConfig::Python(python) => Some((name, python.clone())),
            _ => None,
        });
        named.collect()
    }

    /// Returns the same scenario with the queues that `make` returns in place of those in Python. It
    /// gets the class, and the number of the link's largest frames that the limit admits, or none
    /// without a limit.
    ///
    /// # Errors
    /// Returns the first error of `make`.
    pub fn with_python_queues<E>(
        &self,
        mut make: impl FnMut(&PythonQueueConfig, Option<u64>) -> Result<CustomQueue, E>,
    ) -> Result<Self, E> {
        let mut changed = self.clone();
        let traffic = &self.layout.traffic;
        for (link, direction) in changed.topology.directions_mut() {
            let QueueConfig::Python(python) = &direction.queue else {
                continue;
            };
            let packets = match python.limit {
                Limit::Packets(packets) => Some(packets),
                Limit::Bytes(bytes) => {
                    let frame = match link {
                        Some(link) => traffic.largest_frame(link, direction.framing),
                        None => traffic.largest_frame_of_hosts(direction.framing),
                    };
                    Some(bytes / frame)
                }
                Limit::Unlimited => None,
            };
            direction.queue = QueueConfig::Custom(make(python, packets)?);
        }
        Ok(changed)
    }

    /// Returns the same scenario with a class in Python as the queue of a link, which keeps its
    /// limit.
    ///
    /// # Errors
    /// Fails if there is no such link, or if it has no queue.
    pub fn with_python_queue(
        &self,
        link: &str,
        class: &str,
        checksum: &str,
    ) -> Result<Self, UnitError> {
        self.with_queue(link, |queue| {
            *queue = QueueConfig::Python(PythonQueueConfig {
                class: class.to_owned(),
                limit: queue.limit(),
                checksum: checksum.to_owned(),
            });
        })
    }
}
