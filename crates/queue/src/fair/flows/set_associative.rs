//! Set-associative hashing, in which a flow looks for a queue of its own among the few of its set.

/// Outcome of the search for a flow's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The queue that the hash selects belonged to the flow.
    Direct,
    /// Another queue of the set belonged to the flow.
    Hit,
    /// The flow took a free queue of the set.
    Miss,
    /// All queues of the set were in use, so the flow shares one with another flow.
    Collision,
}

/// Owner of each queue.
#[derive(Clone, Debug)]
pub struct SetAssociative {
    tags: Vec<u32>,
    ways: u32,
}

impl SetAssociative {
    /// Bytes for each queue.
    pub const QUEUE_BYTES: usize = size_of::<u32>();

    /// Creates a table for `queues` queues in sets of `ways`, which must divide it.
    pub fn new(queues: u32, ways: u32) -> Self {
        assert!(ways > 0 && queues.is_multiple_of(ways));
        Self {
            tags: vec![0; queues as usize],
            ways,
        }
    }

    /// Returns the queue of the flow with this hash. `in_use` says which queues are in use. The
    /// search begins at the queue that the hash selects and goes around the set from there.
    #[inline]
    pub fn queue(&mut self, hash: u32, in_use: impl Fn(u32) -> bool) -> (u32, Lookup) {
        let target = hash % self.tags.len() as u32;
        if self.tags[target as usize] == hash && in_use(target) {
            return (target, Lookup::Direct);
        }
        let (queue, lookup) = self.own_or_free(hash, target, in_use);
        self.tags[queue as usize] = hash;
        (queue, lookup)
    }

    /// Returns the queues of a set, beginning with `target`.
    fn set_from(&self, target: u32) -> impl Iterator<Item = u32> + use<> {
        let (ways, start) = (self.ways, target - target % self.ways);
        (0..ways).map(move |step| start + (target - start + step) % ways)
    }

    /// Returns the queue that belongs to the flow, even if it is empty by now. If the flow has no
    /// queue yet, returns a free one.
    fn own_or_free(&self, hash: u32, target: u32, in_use: impl Fn(u32) -> bool) -> (u32, Lookup) {
        let own = |queue: &u32| self.tags[*queue as usize] == hash;
        if let Some(queue) = self.set_from(target).find(own) {
            let lookup = if queue == target {
                Lookup::Direct
            } else {
                Lookup::Hit
            };
            return (queue, lookup);
        }
        match self.set_from(target).find(|queue| !in_use(*queue)) {
            Some(queue) => (queue, Lookup::Miss),
            None => (target, Lookup::Collision),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up these hashes in turn and takes each queue found into use.
    fn place(table: &mut SetAssociative, used: &mut [bool], hashes: &[u32]) -> Vec<(u32, Lookup)> {
        let mut answers = Vec::new();
        for hash in hashes {
            let answer = table.queue(*hash, |queue| used[queue as usize]);
            used[answer.0 as usize] = true;
            answers.push(answer);
        }
        answers
    }

    /// ns-3's `FqCoDelQueueDiscSetLinearProbing`: packets per queue. Two flows find the set full.
    /// In ns-3 the second shares the set's first queue; here and in CAKE it shares the queue of its
    /// hash.
    #[test]
    fn ns3_counts_of_a_set() {
        let mut table = SetAssociative::new(1024, 8);
        let mut used = vec![false; 1024];
        let hashes = [0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 1024];
        let mut counts = [0; 16];
        for (queue, _) in place(&mut table, &mut used, &hashes) {
            counts[queue as usize] += 1;
        }
        assert_eq!(counts, [2, 2, 1, 1, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            place(&mut table, &mut used, &[1025, 10]),
            [(1, Lookup::Collision), (10, Lookup::Miss)]
        );
    }

    #[test]
    fn flows_look_around_their_set() {
        use Lookup::{Collision, Direct, Hit, Miss};
        let mut table = SetAssociative::new(1024, 8);
        let mut used = vec![false; 1024];
        let colliding = |step: u32| 6 + 1024 * step;
        // Hash 6 selects queue 6. Seven more flows with the same target take the rest of its set.
        let hashes: Vec<u32> = (0..8).map(colliding).collect();
        let answers = place(&mut table, &mut used, &hashes);
        assert_eq!(answers, [6, 7, 0, 1, 2, 3, 4, 5].map(|queue| (queue, Miss)));
        assert_eq!(
            place(&mut table, &mut used, &hashes[..2]),
            [(6, Direct), (7, Hit)]
        );
        // The ninth flow shares the queue that its hash selects and takes it over.
        let ninth = colliding(8);
        assert_eq!(
            place(&mut table, &mut used, &[ninth, ninth]),
            [(6, Collision), (6, Direct)]
        );
        // The flow that lost its queue takes a free one once there is one.
        used[3] = false;
        assert_eq!(place(&mut table, &mut used, &hashes[..1]), [(3, Miss)]);
    }
}
