//! Classes that wait until their tokens allow another mode, in order of time.

use goodqueue_types::Time;

/// Place of a class that does not wait.
const ABSENT: u32 = u32::MAX;

/// Heap of the waiting classes of one level. Of equal times the class that began to wait first comes
/// first.
#[derive(Clone, Debug)]
pub struct Waiting {
    heap: Vec<Entry>,
    /// Place of each class in the heap.
    places: Box<[u32]>,
    begun: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    begun: u64,
    class: u32,
}

impl Waiting {
    /// Creates an empty heap for classes below `size`, of which `most` may wait.
    pub fn new(size: usize, most: usize) -> Self {
        Self {
            heap: Vec::with_capacity(most),
            places: vec![ABSENT; size].into(),
            begun: 0,
        }
    }

    /// Returns the bytes of a heap outside its own structure.
    pub fn table_bytes(size: usize, most: usize) -> usize {
        most * size_of::<Entry>() + size * size_of::<u32>()
    }

    /// Returns the first class and its time.
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|entry| (entry.at, entry.class))
    }

    /// Lets a class wait until `at`.
    pub fn insert(&mut self, class: u32, at: Time) {
        debug_assert_eq!(self.places[class as usize], ABSENT, "it waits already");
        self.begun += 1;
        let begun = self.begun;
        self.heap.push(Entry { at, begun, class });
        self.rise(self.heap.len() - 1);
    }

    /// Takes a class out, if it waits.
    pub fn remove(&mut self, class: u32) {
        let place = std::mem::replace(&mut self.places[class as usize], ABSENT);
        if place == ABSENT {
            return;
        }
        let place = place as usize;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.rise(place);
            self.sink(self.places[self.heap[place].class as usize] as usize);
        }
    }

    /// Moves an entry towards the front until its parent is earlier.
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 && entry < self.heap[(place - 1) / 2] {
            self.put((place - 1) / 2, place);
            place = (place - 1) / 2;
        }
        self.heap[place] = entry;
        self.places[entry.class as usize] = place as u32;
    }

    /// Moves an entry towards the back until its children are later.
    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let children = (2 * place + 1)..(2 * place + 3).min(self.heap.len());
            let Some(child) = children.min_by_key(|child| self.heap[*child]) else {
                break;
            };
            if self.heap[child] > entry {
                break;
            }
            self.put(child, place);
            place = child;
        }
        self.heap[place] = entry;
        self.places[entry.class as usize] = place as u32;
    }

    fn put(&mut self, from: usize, to: usize) {
        self.heap[to] = self.heap[from];
        self.places[self.heap[to].class as usize] = to as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list in order serves as the reference.
    #[test]
    fn classes_leave_in_order_of_time_and_of_their_beginning() {
        let mut waiting = Waiting::new(64, 64);
        let mut list: Vec<(u64, u32)> = Vec::new();
        let mut state = 7_u64;
        for _ in 0..5_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (class, at) = ((state >> 33) as u32 % 64, (state >> 40) % 20);
            if let Some(place) = list.iter().position(|one| one.1 == class) {
                list.remove(place);
                waiting.remove(class);
            } else {
                list.push((at, class));
                waiting.insert(class, Time(at));
            }
            let first = list.iter().min_by_key(|one| one.0);
            assert_eq!(
                waiting.first(),
                first.map(|(at, class)| (Time(*at), *class))
            );
        }
    }
}
