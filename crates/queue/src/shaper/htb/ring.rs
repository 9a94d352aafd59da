//! Rings of classes that may send, in the order of the classes, and the place of the next turn.

/// Set of positions with a pointer to the position whose turn it is.
#[derive(Clone, Debug)]
pub struct Ring {
    words: Box<[u64]>,
    /// Position whose turn it is; none at the end of a round.
    pub turn: Option<u32>,
    /// Position whose turn it was when it was taken out. Its successor follows.
    pub lost: Option<u32>,
}

impl Ring {
    /// Creates an empty ring for positions below `size`.
    pub fn new(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(64)].into(),
            turn: None,
            lost: None,
        }
    }

    /// Returns the bytes of a ring outside its own structure.
    pub fn table_bytes(size: usize) -> usize {
        size.div_ceil(64) * size_of::<u64>()
    }

    /// Inserts a position.
    pub fn insert(&mut self, position: u32) {
        self.words[position as usize / 64] |= 1 << (position % 64);
    }

    /// Takes a position out.
    pub fn remove(&mut self, position: u32) {
        self.words[position as usize / 64] &= !(1 << (position % 64));
    }

    /// Returns true if no position is in the ring.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the first position from `least` on.
    pub fn at_or_after(&self, least: u32) -> Option<u32> {
        let start = least as usize / 64;
        let mut word = self.words.get(start)? & (u64::MAX << (least % 64));
        for index in start.. {
            if word != 0 {
                return Some(64 * index as u32 + word.trailing_zeros());
            }
            word = *self.words.get(index + 1)?;
        }
        None
    }

    /// Gives the turn to the next position, or ends the round.
    pub fn advance(&mut self) {
        self.turn = self.turn.and_then(|turn| self.at_or_after(turn + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_in_order_over_words() {
        let mut ring = Ring::new(200);
        assert!(ring.is_empty());
        for position in [3, 64, 199] {
            ring.insert(position);
        }
        let next = |least| ring.at_or_after(least);
        assert_eq!(
            [0, 3, 4, 64, 65, 199].map(next),
            [3, 3, 64, 64, 199, 199].map(Some)
        );
        assert_eq!(ring.at_or_after(200), None);
        ring.turn = Some(64);
        ring.advance();
        assert_eq!(ring.turn, Some(199));
        ring.advance();
        assert_eq!(ring.turn, None);
        for position in [3, 64, 199] {
            ring.remove(position);
        }
        assert!(ring.is_empty());
    }
}
