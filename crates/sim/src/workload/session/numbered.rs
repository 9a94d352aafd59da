//! Values by the numbers of connections.

use std::collections::VecDeque;

/// Values by number.
///
/// Numbers are given in order, and mostly the lowest ones go first. The values therefore lie in a
/// ring at their distance from the lowest number, so that an access needs no search. With a search
/// tree, a packet of the benchmark `many-flows` cost 1,200 instructions more.
#[derive(Debug)]
pub struct Numbered<T> {
    /// Number of the first place.
    first: u32,
    /// The first place is not empty.
    places: VecDeque<Option<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            first: 0,
            places: VecDeque::new(),
        }
    }
}

impl<T> Numbered<T> {
    /// Returns the place of a number. It does not exist for numbers below the first, whose distance
    /// is larger than any length.
    fn place(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    pub fn get(&self, number: u32) -> Option<&T> {
        self.places.get(self.place(number))?.as_ref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let place = self.place(number);
        self.places.get_mut(place)?.as_mut()
    }

    pub fn contains(&self, number: u32) -> bool {
        self.get(number).is_some()
    }

    /// Adds a value, in place of the one with the same number.
    pub fn insert(&mut self, number: u32, value: T) {
        if self.places.is_empty() {
            self.first = number;
        }
        while number < self.first {
            self.first -= 1;
            self.places.push_front(None);
        }
        let place = self.place(number);
        while self.places.len() <= place {
            self.places.push_back(None);
        }
        self.places[place] = Some(value);
    }

    pub fn remove(&mut self, number: u32) -> Option<T> {
        let place = self.place(number);
        let value = self.places.get_mut(place)?.take();
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first += 1;
        }
        value
    }

    /// Returns the bytes of memory for all places.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Option<T>>()
    }

    /// Returns the values in order of their numbers.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_types::RandomStream;
    use std::collections::BTreeMap;

    /// Random additions and removals of numbers around a rising one leave the same values as in a
    /// search tree.
    #[test]
    fn values_are_those_of_a_search_tree() {
        let mut random = RandomStream::new(1, "numbered", 0);
        let (mut numbered, mut tree) = (Numbered::default(), BTreeMap::new());
        for step in 0..20_000_u32 {
            let number = step / 4 + (random.bits() % 20) as u32;
            if random.bits().is_multiple_of(2) {
                numbered.insert(number, step);
                tree.insert(number, step);
            } else {
                assert_eq!(numbered.remove(number), tree.remove(&number));
            }
            if let Some(value) = numbered.get_mut(number) {
                *value += 1;
            }
            tree.entry(number).and_modify(|value| *value += 1);
            assert_eq!(numbered.get(number), tree.get(&number));
            assert_eq!(numbered.contains(number), tree.contains_key(&number));
        }
        assert!(tree.len() > 10);
        assert!(numbered.values().eq(tree.values()));
    }

    /// Places below the lowest number are given back.
    #[test]
    fn memory_is_that_of_the_span_of_numbers() {
        let mut numbered = Numbered::default();
        for number in 0..100_000 {
            numbered.insert(number, number);
            if number >= 10 {
                numbered.remove(number - 10);
            }
        }
        assert!(numbered.places.capacity() <= 32);
    }
}
