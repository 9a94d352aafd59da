//! Capture files of each format, as streams of frames.

mod capture;
mod packed;
mod pcap;
mod pcapng;
mod source;

pub(super) use capture::LARGEST_RECORD;
pub use capture::{Capture, Format, Frame, ReadError};
pub use packed::Unpacked;
