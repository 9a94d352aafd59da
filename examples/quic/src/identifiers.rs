//! Connection identifiers that follow from the seed.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::time::Duration;

/// Bytes of an identifier, as of quinn's own generator.
const LENGTH: usize = 8;

/// Generates identifiers of eight bytes.
pub struct Identifiers(Pcg32);

impl Identifiers {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::new(seed, 1))
    }
}

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next_u64().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
