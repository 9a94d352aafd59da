//! Captures and traces of others, read as a stream in bounded memory.
//!
//! [`Capture`] takes pcap and pcapng from anything that can be read, [`decode`] takes a frame apart,
//! [`Ns2Trace`] reads the 12 columns of ns-2. Nothing here panics or trusts a length: what cannot be
//! understood is counted in a [`Tally`] and left out.

mod bytes;
mod capture;
mod decode;
mod link_layer;
mod network_layer;
mod ns2;
mod ns2_totals;
mod pcap;
mod pcapng;
mod source;
mod tally;
mod tcp_header;

pub use capture::{Capture, Format, Frame, ReadError};
pub use decode::{Datagram, Transport, decode};
pub use link_layer::{Heading, LinkType};
pub use ns2::{Ns2Event, Ns2Kind, Ns2Record, Ns2Trace};
pub use ns2_totals::{Counts, Ns2Totals};
pub use tally::{Skip, Tally};
pub use tcp_header::TcpHeader;
