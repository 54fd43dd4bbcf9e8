//! Hearing that nothing listens where the server should be, for libraries whose sockets pass over that.

use std::future::pending;
use std::io;
use std::net::SocketAddr;

use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::failure::{Context, Outcome};

/// Another hold on a socket that a library sends and receives with.
pub struct Ear(UdpSocket);

impl Ear {
    /// Connect a non-blocking socket to `peer`: only then does the kernel tell of what its ICMP messages say. Needs
    /// a runtime of tokio.
    pub fn new(socket: &std::net::UdpSocket, peer: SocketAddr) -> Outcome<Self> {
        let held = socket.connect(peer).and_then(|()| socket.try_clone());
        held.and_then(UdpSocket::from_std)
            .context(|| format!("UDP socket to {peer}"))
            .map(Self)
    }

    /// Wait until the peer's kernel says that nothing listens; for ever if it never does.
    pub async fn refused(&self) {
        let told = self.0.async_io(Interest::ERROR, || {
            let error = self.0.take_error()?;
            error
                .filter(|error| error.kind() == io::ErrorKind::ConnectionRefused)
                .ok_or_else(|| io::ErrorKind::WouldBlock.into())
        });
        if told.await.is_err() {
            pending().await
        }
    }
}
