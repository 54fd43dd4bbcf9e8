//! A UDP socket that takes and gives several datagrams at once where the kernel does.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce, UdpGroSegment};
use nix::sys::socket::{
    getsockopt, recvmsg, sendmsg, setsockopt, ControlMessage, ControlMessageOwned, MsgFlags,
    SockaddrStorage,
};

use crate::failure::{Context, Outcome};
use crate::settings::Settings;

/// Room for the largest datagram, or for what the kernel joins of several.
pub const RECEIVE_BYTES: usize = 65_535;

/// A non-blocking UDP socket.
pub struct Socket {
    socket: UdpSocket,
    local: SocketAddr,
    control: Vec<u8>,
}

/// What one receive gave: datagrams of `segment` bytes, of which the last may be shorter.
pub struct Received {
    pub bytes: usize,
    pub segment: usize,
    pub from: SocketAddr,
}

impl Socket {
    /// Bind to `address` with the buffers of `settings`.
    pub fn bind(address: SocketAddr, settings: &Settings) -> Outcome<Self> {
        let socket = plain(address, settings)?;
        if settings.gso {
            setsockopt(&socket, UdpGroSegment, &true).context(|| "UDP_GRO".into())?;
        }
        let local = socket.local_addr().context(|| "UDP socket".into())?;
        let control = nix::cmsg_space!(i32);
        Ok(Self {
            socket,
            local,
            control,
        })
    }

    /// Bind to `ip`; take packets from the server alone, and hear of it when nothing listens there.
    pub fn connected(ip: Ipv4Addr, settings: &Settings) -> Outcome<Self> {
        let mut socket = Self::bind(SocketAddr::from((ip, 0)), settings)?;
        let peer = settings.address;
        socket
            .socket
            .connect(peer)
            .context(|| format!("UDP socket to {peer}"))?;
        socket.local = socket.socket.local_addr().context(|| "UDP socket".into())?;
        Ok(socket)
    }

    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// The next datagrams; `None` if none waits.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
        let mut slices = [IoSliceMut::new(buffer)];
        let got = recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut self.control), flags);
        let message = match got {
            Ok(message) => message,
            Err(nix::errno::Errno::EAGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let bytes = message.bytes;
        let segment = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::UdpGroSegments(size) => Some(size as usize),
            _ => None,
        });
        let from = message
            .address
            .as_ref()
            .and_then(|from| from.as_sockaddr_in());
        let from = from.map(|from| SocketAddr::from((from.ip(), from.port())));
        Ok(from.map(|from| Received {
            bytes,
            segment: segment.unwrap_or(bytes).max(1),
            from,
        }))
    }

    /// Send the parts to `to`: as one datagram, or, if they are longer than `segment`, as several cut by
    /// the kernel. Returns false if the send buffer is full.
    pub fn send(&self, parts: &[IoSlice<'_>], segment: usize, to: SocketAddr) -> io::Result<bool> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let (cut, to) = (segment as u16, SockaddrStorage::from(to));
        let control = [ControlMessage::UdpGsoSegments(&cut)];
        let control = if length > segment { &control[..] } else { &[] };
        let fd = self.socket.as_raw_fd();
        match sendmsg(fd, parts, control, MsgFlags::empty(), Some(&to)) {
            Ok(_) => Ok(true),
            Err(nix::errno::Errno::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A non-blocking socket of the standard library, bound to `address`, with the buffers of `settings`.
pub fn plain(address: SocketAddr, settings: &Settings) -> Outcome<UdpSocket> {
    let socket = UdpSocket::bind(address).context(|| format!("UDP socket on {address}"))?;
    socket
        .set_nonblocking(true)
        .context(|| "UDP socket".into())?;
    match settings.socket_buffer_bytes {
        0 => {}
        bytes => grow_buffers(&socket, bytes).context(|| "UDP socket buffers".into())?,
    }
    Ok(socket)
}

/// What a server says of itself once it listens on `socket` with so many files.
pub fn describe(socket: &impl AsFd, local: SocketAddr, files: usize) -> Outcome<String> {
    let receive = getsockopt(socket, RcvBuf).context(|| "SO_RCVBUF".into())?;
    let send = getsockopt(socket, SndBuf).context(|| "SO_SNDBUF".into())?;
    Ok(format!(
        "serving {files} files on UDP {local}, socket buffers {receive} and {send} bytes"
    ))
}

/// Whether sending failed because the address it was sent from is gone, which a move explains.
pub fn address_is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, HostUnreachable, InvalidInput, NetworkDown};
    use io::ErrorKind::{ConnectionRefused, NetworkUnreachable};
    matches!(
        error.kind(),
        AddrNotAvailable
            | HostUnreachable
            | InvalidInput
            | NetworkDown
            | NetworkUnreachable
            | ConnectionRefused
    )
}

/// The forced sizes need a privilege; without it the kernel cuts the plain ones to its limits.
fn grow_buffers(socket: &UdpSocket, bytes: usize) -> nix::Result<()> {
    setsockopt(socket, RcvBufForce, &bytes).or_else(|_| setsockopt(socket, RcvBuf, &bytes))?;
    setsockopt(socket, SndBufForce, &bytes).or_else(|_| setsockopt(socket, SndBuf, &bytes))
}
