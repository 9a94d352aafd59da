//! UDP sockets with the kernel's times of receipt and the ECN field.

use super::NetError;
use crate::Codepoint;
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
    sockopt,
};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Bytes that the kernel may keep for a socket, if it allows that many.
const KEPT: usize = 4 << 20;
/// Time for which the difference between the two clocks of a machine is used again.
const SAME: Duration = Duration::from_millis(100);

/// A clock that is never set, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Clock {
    begun: Instant,
    /// Reading of the kernel's clock of timestamps minus that of this one, and the time at which it was
    /// found.
    offset: (i64, Instant),
}

impl Clock {
    /// Returns a clock that begins now.
    pub fn new() -> Self {
        let begun = Instant::now();
        Self {
            begun,
            offset: (offset(begun), begun),
        }
    }

    /// Returns the present time.
    pub fn now(&self) -> i64 {
        self.begun.elapsed().as_nanos() as i64
    }

    /// Converts a timestamp of the kernel.
    fn of_kernel(&mut self, stamp: TimeSpec) -> i64 {
        let now = Instant::now();
        if now - self.offset.1 > SAME {
            self.offset = (offset(self.begun), now);
        }
        stamp.num_nanoseconds() - self.offset.0
    }
}

/// Returns the difference of the two clocks: the closest of five readings.
fn offset(begun: Instant) -> i64 {
    let readings = (0..5).map(|_| {
        let before = begun.elapsed();
        let kernel = SystemTime::now().duration_since(UNIX_EPOCH);
        let took = begun.elapsed().saturating_sub(before);
        let middle = (before + took / 2).as_nanos() as i64;
        (took, kernel.unwrap_or_default().as_nanos() as i64 - middle)
    });
    readings.min().map_or(0, |(_, offset)| offset)
}

/// A datagram that was received.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Address of its sender.
    pub from: SocketAddr,
    /// Bytes of its contents.
    pub length: usize,
    /// Time of its receipt by the kernel.
    pub at: i64,
    /// Its ECN field.
    pub ecn: u8,
}

/// A UDP port.
#[derive(Debug)]
pub struct Port {
    socket: UdpSocket,
    is_v6: bool,
    control: Vec<u8>,
    /// Datagrams that the kernel dropped because they were not read in time.
    missed: u32,
}

impl Port {
    /// Opens a port.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn open(address: SocketAddr) -> Result<Self, NetError> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // A smaller buffer only makes it more likely that packets are missed, which is reported.
        setsockopt(&socket, sockopt::RcvBuf, &KEPT).ok();
        setsockopt(&socket, sockopt::SndBuf, &KEPT).ok();
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        if address.is_ipv6() {
            setsockopt(&socket, sockopt::Ipv6RecvTClass, &true)?;
        } else {
            setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        }
        Ok(Self {
            socket,
            is_v6: address.is_ipv6(),
            control: cmsg_space!(TimeSpec, u32, i32),
            missed: 0,
        })
    }

    /// Returns the socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Returns the number of datagrams that were dropped because they were not read in time.
    pub fn missed(&self) -> u32 {
        self.missed
    }

    /// Returns the bytes of the headers of IP and UDP.
    pub fn headers(&self) -> usize {
        if self.is_v6 { 48 } else { 28 }
    }

    /// Sends a datagram. Returns false if the kernel has no room for it at present.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn send(&self, bytes: &[u8], to: SocketAddr, codepoint: Codepoint) -> io::Result<bool> {
        let field = codepoint as u8;
        let class = i32::from(field);
        let control = match (field, self.is_v6) {
            (0, _) => None,
            (_, false) => Some(ControlMessage::Ipv4Tos(&field)),
            (_, true) => Some(ControlMessage::Ipv6TClass(&class)),
        };
        let sent = sendmsg(
            self.socket.as_raw_fd(),
            &[IoSlice::new(bytes)],
            control.as_slice(),
            MsgFlags::empty(),
            Some(&SockaddrStorage::from(to)),
        );
        match sent {
            Err(nix::Error::EAGAIN | nix::Error::ENOBUFS) => Ok(false),
            // Answer to an earlier packet: the other port is closed, as the control connection will show.
            Ok(_) | Err(nix::Error::ECONNREFUSED) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives a datagram, if one has come.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn receive(&mut self, buffer: &mut [u8], clock: &mut Clock) -> io::Result<Option<Arrived>> {
        let mut parts = [IoSliceMut::new(buffer)];
        let fd = self.socket.as_raw_fd();
        let control = Some(&mut self.control[..]);
        let message = match recvmsg::<SockaddrStorage>(fd, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => message,
            Err(nix::Error::EAGAIN | nix::Error::EINTR | nix::Error::ECONNREFUSED) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let mut arrived = Arrived {
            from: SocketAddr::from(([0, 0, 0, 0], 0)),
            length: message.bytes,
            at: clock.now(),
            ecn: 0,
        };
        if let Some(from) = &message.address {
            let v4 = from.as_sockaddr_in().map(|from| SocketAddr::from(*from));
            let v6 = from.as_sockaddr_in6().map(|from| SocketAddr::from(*from));
            arrived.from = v4.or(v6).unwrap_or(arrived.from);
        }
        for control in message.cmsgs().map_err(io::Error::from)? {
            match control {
                ControlMessageOwned::ScmTimestampns(stamp) => arrived.at = clock.of_kernel(stamp),
                ControlMessageOwned::Ipv4Tos(field) => arrived.ecn = field & 3,
                ControlMessageOwned::Ipv6TClass(class) => arrived.ecn = class as u8 & 3,
                ControlMessageOwned::RxqOvfl(count) => self.missed = count,
                _ => {}
            }
        }
        Ok(Some(arrived))
    }
}
