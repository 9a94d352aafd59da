//! Headers of a captured frame, from the link layer to the transport layer.

mod decode;
mod heading;
mod layers;
mod link_layer;
mod link_type;
mod network_layer;
mod tcp_header;
mod tunnel;
mod wireless;

pub use decode::{Datagram, Transport, decode, decode_each};
pub use heading::Heading;
pub use link_type::LinkType;
pub use tcp_header::TcpHeader;
