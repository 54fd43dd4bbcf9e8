//! The socket of a client, which hears when nothing listens where the server should be.

use std::fmt::Debug;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

/// The library's socket passes over every error, so that a client would wait for its timeout.
#[derive(Debug)]
pub struct Attentive {
    inner: Arc<dyn AsyncUdpSocket>,
    /// The same socket, to ask it for its error.
    own: UdpSocket,
    /// Whether anything has come. From then on there is a server, and no call is spent on asking.
    heard: AtomicBool,
}

impl Attentive {
    /// Takes a socket that is connected to the server's address.
    pub fn new(socket: UdpSocket) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            own: socket.try_clone()?,
            inner: TokioRuntime.wrap_udp_socket(socket)?,
            heard: AtomicBool::new(false),
        }))
    }
}

impl AsyncUdpSocket for Attentive {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if !self.heard.load(Ordering::Relaxed) {
            match self.own.take_error()? {
                Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    return Poll::Ready(Err(error));
                }
                _ => {}
            }
        }
        let received = ready!(self.inner.poll_recv(cx, buffers, meta));
        self.heard.store(true, Ordering::Relaxed);
        Poll::Ready(received)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}
