//! Readers of captures and of other tools' traces, as streams in bounded memory.
//!
//! [`Capture`] reads pcap and pcapng from any reader, [`decode_each`] decodes the packets of a frame,
//! and [`Ns2Trace`] reads the 12 columns of ns-2. None of these readers panics or trusts a length field: they skip
//! whatever they cannot interpret and count it in a [`Tally`].

mod bytes;
mod file;
mod ns2;
mod ns2_totals;
mod packet;
mod tally;

pub use file::{Capture, Format, Frame, ReadError, Unpacked};
pub use ns2::{Ns2Event, Ns2Kind, Ns2Record, Ns2Trace};
pub use ns2_totals::{Counts, Ns2Totals};
pub use packet::{Datagram, Heading, LinkType, TcpHeader, Transport, decode, decode_each};
pub use tally::{Skip, Tally};
