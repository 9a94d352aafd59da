//! Readers of captures and of other tools' traces, as streams in bounded memory.
//!
//! [`Capture`] reads pcap and pcapng from any reader, [`decode`] decodes a frame, and [`Ns2Trace`]
//! reads the 12 columns of ns-2. None of these readers panics or trusts a length field: they skip
//! whatever they cannot interpret and count it in a [`Tally`].

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
