//! Bounds of the work that a script may ask for.

use crate::error::{ImportError, refuse};

/// Commands, operands of expressions and pieces of 64 bytes that a script may take.
const MAX_STEPS: u64 = 1_000_000;
/// Bytes of the texts that a script may make. No text outlives this bound, so it bounds the memory too.
const MAX_BYTES: usize = 256 << 20;
/// Levels of nested commands and parentheses.
const DEEPEST: u32 = 100;

/// Work that is left.
#[derive(Debug)]
pub struct Budget {
    steps: u64,
    bytes: usize,
    depth: u32,
}

impl Budget {
    pub fn new() -> Self {
        Self {
            steps: MAX_STEPS,
            bytes: MAX_BYTES,
            depth: DEEPEST,
        }
    }

    /// Takes the cost of a step that makes or reads so many bytes.
    pub fn charge(&mut self, line: u32, bytes: usize) -> Result<(), ImportError> {
        let steps = 1 + (bytes as u64) / 64;
        if self.steps < steps || self.bytes < bytes {
            let message = format!("the script takes more than {MAX_STEPS} steps");
            return Err(refuse(line, message, "give it fewer flows or events"));
        }
        self.steps -= steps;
        self.bytes -= bytes;
        Ok(())
    }

    /// Enters a level of nesting.
    pub fn enter(&mut self, line: u32) -> Result<(), ImportError> {
        if self.depth == 0 {
            let message = format!("commands are nested more than {DEEPEST} levels deep");
            return Err(refuse(line, message, "write them without recursion"));
        }
        self.depth -= 1;
        Ok(())
    }

    /// Leaves a level of nesting.
    pub fn leave(&mut self) {
        self.depth += 1;
    }
}
