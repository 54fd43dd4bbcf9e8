//! The UDP socket.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};
use nix::sys::socket::{getsockopt, sendmsg, setsockopt, ControlMessage, MsgFlags, SockaddrStorage};

use crate::failure::{Context, Outcome};

/// A non-blocking UDP socket with buffers as large as the kernel allows.
pub struct Socket {
    socket: UdpSocket,
    local: SocketAddr,
}

impl Socket {
    /// Bind to `address` and ask for `buffer` bytes in each direction.
    pub fn bind(address: SocketAddr, buffer: usize) -> Outcome<Self> {
        let socket = UdpSocket::bind(address).context(|| format!("UDP socket on {address}"))?;
        socket.set_nonblocking(true).context(|| "UDP socket".into())?;
        grow_buffers(&socket, buffer).context(|| "UDP socket buffers".into())?;
        let local = socket.local_addr().context(|| "UDP socket".into())?;
        Ok(Self { socket, local })
    }

    /// Take packets from `peer` alone, and hear of it when nothing listens there.
    pub fn connect(&mut self, peer: SocketAddr) -> Outcome<()> {
        self.socket.connect(peer).context(|| format!("UDP socket to {peer}"))?;
        self.local = self.socket.local_addr().context(|| "UDP socket".into())?;
        Ok(())
    }

    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Sizes of the receive and send buffer in bytes, as the kernel counts them.
    pub fn buffers(&self) -> Outcome<(usize, usize)> {
        let receive = getsockopt(&self.socket, RcvBuf).context(|| "SO_RCVBUF".into())?;
        let send = getsockopt(&self.socket, SndBuf).context(|| "SO_SNDBUF".into())?;
        Ok((receive, send))
    }

    /// The next datagram; `None` if none waits.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        match self.socket.recv_from(buffer) {
            Ok(received) => Ok(Some(received)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Send `bytes` to `to`: one datagram, or, if longer than `segment`, several cut by the kernel.
    ///
    /// Returns false if the send buffer is full.
    pub fn send(&self, bytes: &[u8], segment: usize, to: SocketAddr) -> io::Result<bool> {
        let sent = if bytes.len() > segment {
            self.send_segments(bytes, segment as u16, to)
        } else {
            self.socket.send_to(bytes, to).map(drop)
        };
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn send_segments(&self, bytes: &[u8], segment: u16, to: SocketAddr) -> io::Result<()> {
        let (data, control) = ([IoSlice::new(bytes)], [ControlMessage::UdpGsoSegments(&segment)]);
        let to = SockaddrStorage::from(to);
        sendmsg(self.socket.as_raw_fd(), &data, &control, MsgFlags::empty(), Some(&to))?;
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The forced sizes need a privilege; without it the kernel cuts the plain ones to its limits.
fn grow_buffers(socket: &UdpSocket, bytes: usize) -> nix::Result<()> {
    setsockopt(socket, RcvBufForce, &bytes).or_else(|_| setsockopt(socket, RcvBuf, &bytes))?;
    setsockopt(socket, SndBufForce, &bytes).or_else(|_| setsockopt(socket, SndBuf, &bytes))
}
