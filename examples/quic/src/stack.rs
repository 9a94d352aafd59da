//! quinn as a stack of the simulator.

use crate::application::{Application, Workload};
use crate::control::{Control, Controls, Fault};
use crate::endpoint::{MOST_IN_BATCH, QuinnEndpoint};
use crate::identifiers::Identifiers;
use crate::qlog::{Logs, Now};
use crate::tls;
use goodqueue_sim::{Endpoint, Placement, Stack};
use goodqueue_types::mix;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{
    ClientConfig, ConnectionId, EndpointConfig, ServerConfig, TransportConfig,
    ValidationTokenConfig, VarInt,
};
use ring::hmac;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Flows of quinn.
#[derive(Clone, Debug)]
pub struct Quinn {
    /// Congestion control of both ends.
    pub control: Control,
    /// Fault of the control, if it has one.
    pub fault: Option<Fault>,
    /// Application.
    pub workload: Workload,
    /// Bytes that the receiver allows on a stream and on the connection, and that the sender buffers.
    /// None for quinn's defaults, which suit 100 Mbit/s over 100 ms: 1.25 MB on a stream.
    pub window: Option<u32>,
    /// Place of the clients' logs, if there are any.
    pub logs: Option<Logs>,
}

impl Quinn {
    /// Returns bulk data without end under a control.
    pub fn bulk(control: Control) -> Self {
        Self {
            control,
            fault: None,
            workload: Workload::Bulk {
                bytes: None,
                streams: 1,
            },
            window: None,
            logs: None,
        }
    }

    pub(crate) fn transport(
        &self,
        placement: &Placement,
        end: u64,
        now: &Now,
    ) -> (TransportConfig, Arc<Controls>) {
        let controls = Arc::new(Controls {
            control: self.control,
            fault: self.fault,
            sample: Arc::default(),
            seed: mix(placement.seed ^ end),
            built: AtomicU64::new(0),
        });
        let mut transport = TransportConfig::default();
        let factory: Arc<dyn ControllerFactory + Send + Sync> = controls.clone();
        transport.congestion_controller_factory(factory);
        if let Some(window) = self.window {
            transport.stream_receive_window(VarInt::from_u32(window));
            transport.receive_window(VarInt::from_u32(window));
            transport.send_window(u64::from(window));
        }
        if end == 0
            && let Some(logs) = &self.logs
        {
            transport.qlog_stream(logs.stream(placement.flow, now));
        }
        (transport, controls)
    }

    /// Returns one end. `end` is 0 for the client and 1 for the server.
    fn end(&self, placement: &Placement, end: u64) -> QuinnEndpoint {
        let now = Now::default();
        let (transport, controls) = self.transport(placement, end, &now);
        let transport = Arc::new(transport);
        let seed = |purpose: u64| mix(placement.seed ^ mix(2 * purpose + end));
        let key = seed(0).to_be_bytes();
        let mut config = EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &key)));
        let mut random = [0; 32];
        for (place, bytes) in random.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *bytes = seed(1 + place as u64).to_be_bytes();
        }
        config.rng_seed(Some(random));
        let identifiers = seed(10);
        config.cid_generator(move || Box::new(Identifiers::new(identifiers)));
        let server = (end == 1).then(|| {
            let mut server = ServerConfig::new(tls::server(), tls::token_key(&key));
            server.transport_config(Arc::clone(&transport));
            // Tokens for later connections hold the time of the machine, and there are none.
            let mut tokens = ValidationTokenConfig::default();
            tokens.sent(0);
            server.validation_token_config(tokens);
            Arc::new(server)
        });
        let client = (end == 0).then(|| {
            let mut client = ClientConfig::new(tls::client());
            client.transport_config(transport);
            let first = [seed(11), seed(12)].map(u64::to_be_bytes).concat();
            client.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&first)));
            client
        });
        QuinnEndpoint {
            endpoint: quinn_proto::Endpoint::new(Arc::new(config), server, true, None),
            connection: None,
            client,
            start: placement.start,
            stop: placement.stop.filter(|_| end == 0),
            application: Application::new(self.workload, end == 0, placement),
            // An unpaced control learns after each datagram what its window still allows.
            most_in_batch: match self.fault {
                Some(Fault::NoPacing) => 1,
                _ => MOST_IN_BATCH,
            },
            sample: Arc::clone(&controls.sample),
            now,
            timeout: None,
            response: None,
            buffer: Vec::new(),
        }
    }
}

impl Stack for Quinn {
    fn pair(&self, placement: &Placement) -> [Box<dyn Endpoint>; 2] {
        [0, 1].map(|end| -> Box<dyn Endpoint> { Box::new(self.end(placement, end)) })
    }
}
