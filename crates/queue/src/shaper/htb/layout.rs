//! The classes of `htb` with all their copies.

use super::params::{HtbConfig, LEVELS};

/// Classes with all copies: the table and the parent of each, and whether it has children.
pub struct Layout {
    /// Index of the table, and the parent, of each class.
    pub classes: Vec<(usize, Option<u32>)>,
    is_leaf: Vec<bool>,
}

impl Layout {
    /// Lays the classes out, the copies of each table after one another.
    pub fn new(config: &HtbConfig) -> Self {
        let (is_leaf, counts) = (config.leaves(), config.counts());
        let mut firsts: Vec<u64> = Vec::new();
        let mut classes = Vec::new();
        for (index, class) in config.classes.iter().enumerate() {
            firsts.push(classes.len() as u64);
            let above = config.parent(class).map(|parent| firsts[parent]);
            for copy in 0..counts[index] {
                let parent = above.map(|first| (first + copy / class.count) as u32);
                classes.push((index, parent));
            }
        }
        Self { classes, is_leaf }
    }

    /// Returns true if the class has no children.
    pub fn is_leaf(&self, class: usize) -> bool {
        self.is_leaf[self.classes[class].0]
    }

    /// Returns the level of each class: 0 of a leaf, and counted down from the first of others.
    pub fn levels(&self) -> Vec<u8> {
        let mut depths: Vec<u8> = Vec::with_capacity(self.classes.len());
        for (_, parent) in &self.classes {
            depths.push(parent.map_or(0, |parent| depths[parent as usize] + 1));
        }
        let level = |(class, depth)| {
            if self.is_leaf(class) {
                0
            } else {
                LEVELS as u8 - 1 - depth
            }
        };
        depths.into_iter().enumerate().map(level).collect()
    }

    /// Returns the number of positions of a level, which are those of all classes if it has any, and
    /// the number of its classes.
    pub fn sizes(&self, level: u8) -> (usize, usize) {
        let levels = self.levels();
        let own: Vec<&u8> = levels.iter().filter(|one| **one == level).collect();
        let size = if own.is_empty() { 0 } else { levels.len() };
        (size, own.len())
    }

    /// Returns the children of each class.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.classes.len()];
        for (class, (_, parent)) in self.classes.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent as usize].push(class as u32);
            }
        }
        children
    }
}
