//! Configurations of quinn's endpoints for real sockets, equal to those of the simulated ones.

use crate::entropy;
use crate::qlog::Now;
use crate::stack::Quinn;
use crate::tls;
use goodqueue_sim::Placement;
use goodqueue_types::Time;
use quinn_proto::{ClientConfig, EndpointConfig, ServerConfig};
use ring::hmac;
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub use crate::tls::SERVER;

/// Runs `program` on a thread whose generators have the seed of this moment.
pub fn with_seed<T: Send>(program: impl FnOnce() -> T + Send) -> T {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = now.map_or(0, |now| now.as_nanos() as u64);
    entropy::with_seed(nanos ^ u64::from(process::id()), program)
}

/// Returns the configurations of a client.
pub fn client(quinn: &Quinn) -> (EndpointConfig, ClientConfig) {
    let mut client = ClientConfig::new(tls::client());
    client.transport_config(Arc::new(quinn.transport(&here(), 0, &Now::default()).0));
    (endpoint(), client)
}

/// Returns the configurations of a server.
pub fn server(quinn: &Quinn) -> (EndpointConfig, ServerConfig) {
    let mut server = ServerConfig::new(tls::server(), tls::token_key(&[0; 32]));
    server.transport_config(Arc::new(quinn.transport(&here(), 1, &Now::default()).0));
    (endpoint(), server)
}

fn endpoint() -> EndpointConfig {
    EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &[0; 32])))
}

fn here() -> Placement {
    Placement {
        flow: 0,
        start: Time::ZERO,
        stop: None,
        measured_from: Time::ZERO,
        seed: 0,
    }
}
