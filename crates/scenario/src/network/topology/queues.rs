//! Queues before all links. Their limits may depend on the flows that cross the links.

use super::link::{LinkDirection, only_delays};
use super::{Sketch, Topology, directed};
use crate::flow::FlowGroup;
use crate::language::error::Checked;
use crate::language::field::Field;
use crate::language::python::Checksums;
use crate::language::reader::Reader;
use crate::network::link::{autorate, pool};
use crate::network::traffic::Traffic;
use goodqueue_queue::{Limit, Place, QueueConfig};

/// Context for reading the queues of a topology.
pub(crate) struct ReadQueues<'a> {
    pub sketch: &'a Sketch,
    pub traffic: &'a Traffic,
    /// Number of hosts.
    pub hosts: usize,
    /// Upper bound on the bytes that all flows have waiting.
    pub waiting: u128,
    pub flows: &'a [FlowGroup],
    /// Checksums of classes in Python; none if no such class is accepted.
    pub checksums: Option<&'a Checksums<'a>>,
}

impl Topology {
    /// Reads the queues and resolves every limit to packets or bytes. A queue must not hold more
    /// than its link can send within the range of the clock.
    pub(crate) fn read_queues(
        &mut self,
        reader: &Reader<'_>,
        read: &ReadQueues<'_>,
    ) -> Checked<()> {
        let &ReadQueues {
            sketch, traffic, ..
        } = read;
        let common = reader.get("queue");
        for (index, (drawn, link)) in sketch.links.iter().zip(&mut self.trunk).enumerate() {
            let table = drawn.table()?;
            let own = table.get("queue");
            if own.is_none() && common.is_none() && !link.forward.only_delays() {
                return Err(table.missing("queue"));
            }
            let place = |backward, direction: &LinkDirection| Place {
                rate: direction.rate,
                delay: direction.delay,
                base_rtt: traffic.mean_base_rtt(index),
                frame_bytes: traffic.largest_frame(directed(index, backward), direction.framing),
            };
            let back = queue_of(table.table("reverse")?.as_ref());
            for (backward, own, direction) in [
                (false, own, &mut link.forward),
                (true, back, &mut link.reverse),
            ] {
                let place = place(backward, direction);
                direction.queue = read.queue(own, common.clone(), direction, place)?;
                if let Some(autorate) = &direction.autorate {
                    autorate::check(&table, autorate, &direction.queue, read.flows)?;
                }
            }
        }
        self.read_access_queues(reader, common.as_ref(), read)?;
        pool::check(
            reader,
            &self.pools,
            &self.uses_of_pools(traffic, read.hosts),
        )?;
        for (drawn, link) in sketch.links.iter().zip(&self.trunk) {
            link.check_backlog(&drawn.table()?, read.waiting)?;
        }
        if let (Some(access), Some(table)) = (&self.access, reader.table("access")?) {
            access.near.check_backlog(&table, read.waiting)?;
            access.far.check_backlog(&table, read.waiting)?;
        }
        Ok(())
    }

    fn read_access_queues(
        &mut self,
        reader: &Reader<'_>,
        common: Option<&Field<'_>>,
        read: &ReadQueues<'_>,
    ) -> Checked<()> {
        let traffic = read.traffic;
        let Some(access) = &mut self.access else {
            return Ok(());
        };
        let near = reader.table("access")?;
        let far = reader.table("far_access")?;
        let up = queue_of(near.as_ref());
        let down = queue_of(back_of(near.as_ref())?.as_ref());
        let far_up = queue_of(far.as_ref());
        let far_down = queue_of(back_of(far.as_ref())?.as_ref());
        let usual = common.cloned();
        let (usual_up, usual_down) = (up.clone().or(usual.clone()), down.clone().or(usual.clone()));
        for (own, usual, direction) in [
            (up, usual.clone(), &mut access.near.forward),
            (down, usual, &mut access.near.reverse),
            (far_up, usual_up, &mut access.far.forward),
            (far_down, usual_down, &mut access.far.reverse),
        ] {
            let place = Place {
                rate: direction.rate,
                delay: direction.delay,
                base_rtt: traffic.mean_base_rtt_of_all(),
                frame_bytes: traffic.largest_frame_of_hosts(direction.framing),
            };
            direction.queue = read.queue(own, usual, direction, place)?;
        }
        Ok(())
    }

    /// Returns the number of links that share each buffer, and their largest frame.
    fn uses_of_pools(&self, traffic: &Traffic, hosts: usize) -> Vec<pool::Use> {
        let mut uses = vec![pool::Use::default(); self.pools.len()];
        let mut note = |direction: &LinkDirection, links, frame: u64| {
            if let Some(pool) = direction.pool {
                let found: &mut pool::Use = &mut uses[pool as usize];
                found.links += links;
                found.frame_bytes = found.frame_bytes.max(frame);
            }
        };
        for (index, link) in self.trunk.iter().enumerate() {
            for (backward, direction) in [(false, &link.forward), (true, &link.reverse)] {
                let frame = traffic.largest_frame(directed(index, backward), direction.framing);
                note(direction, 1, frame);
            }
        }
        let access = self.access.iter();
        for link in access.flat_map(|access| [&access.near, &access.far]) {
            for direction in [&link.forward, &link.reverse] {
                let frame = traffic.largest_frame_of_hosts(direction.framing);
                note(direction, hosts as u64, frame);
            }
        }
        uses
    }
}

fn back_of<'a>(reader: Option<&Reader<'a>>) -> Checked<Option<Reader<'a>>> {
    reader.map_or(Ok(None), |reader| reader.table("reverse"))
}

fn queue_of<'a>(reader: Option<&Reader<'a>>) -> Option<Field<'a>> {
    reader.and_then(|reader| reader.get("queue"))
}

impl ReadQueues<'_> {
    /// Reads the queue before a link: its own, or the default one; without either, an unlimited
    /// queue.
    fn queue(
        &self,
        own: Option<Field<'_>>,
        usual: Option<Field<'_>>,
        direction: &LinkDirection,
        place: Place,
    ) -> Checked<QueueConfig> {
        let none = QueueConfig::drop_tail(Limit::Unlimited);
        if direction.only_delays() {
            return own.map_or(Ok(()), |own| refuse_queue(&own)).map(|()| none);
        }
        own.or(usual).map_or(Ok(none), |mut field| {
            field.place = Some(place);
            let queue = crate::language::queue::read(&field)?;
            super::python::check(queue, &field, self.checksums)
        })
    }
}

/// Refuses a queue before a link of unlimited rate, except an unlimited queue.
fn refuse_queue(field: &Field<'_>) -> Checked<()> {
    let (kind, table) = Reader::tagged(field)?;
    let limit = table.get("limit");
    let unlimited = limit.is_some_and(|limit| limit.as_text() == Some("unlimited"));
    if kind == QueueConfig::WORDS[0] && unlimited {
        return Ok(());
    }
    Err(only_delays(field))
}
