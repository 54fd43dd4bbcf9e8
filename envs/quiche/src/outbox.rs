//! From connection to socket: makes packets when they are due and sends them.

use std::net::SocketAddr;
use std::time::Instant;

use crate::failure::{Context, Failure, Outcome};
use crate::pacer::Pacer;
use crate::socket::Socket;

/// Most bytes and datagrams the kernel takes in one segmented send.
const MAX_BATCH_BYTES: usize = 65_000;
const MAX_SEGMENTS: usize = 64;

/// What a flush left to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Flushed {
    /// Nothing more to send for now.
    Idle,
    /// The next packet is due then.
    Paced(Instant),
    /// The socket's buffer is full.
    Full,
}

/// Packets that were made but not yet taken by the socket. One per socket.
pub struct Outbox {
    buffer: Vec<u8>,
    length: usize,
    segment: usize,
    to: SocketAddr,
    max_segments: usize,
}

impl Outbox {
    /// With `gso` several packets may be handed to the kernel at once.
    pub fn new(gso: bool, peer: SocketAddr) -> Self {
        Self {
            buffer: vec![0; MAX_BATCH_BYTES],
            length: 0,
            segment: 0,
            to: peer,
            max_segments: if gso { MAX_SEGMENTS } else { 1 },
        }
    }

    /// Whether a packet waits for room in the socket's buffer.
    pub fn is_stuck(&self) -> bool {
        self.length > 0
    }

    /// Send everything of the connection that is due.
    pub fn flush(
        &mut self, connection: &mut quiche::Connection, pacer: &mut Pacer, socket: &Socket,
    ) -> Outcome<Flushed> {
        loop {
            if !self.deliver(socket)? {
                return Ok(Flushed::Full);
            }
            let left = self.fill(connection, pacer)?;
            if !self.is_stuck() {
                return Ok(left);
            }
        }
    }

    /// Hand the waiting packets to the socket. Returns false if it has no room.
    pub fn deliver(&mut self, socket: &Socket) -> Outcome<bool> {
        if self.is_stuck() {
            match socket.send(&self.buffer[..self.length], self.segment, self.to) {
                Ok(false) => return Ok(false),
                Ok(true) => self.length = 0,
                Err(error) => {
                    let failure = self.send_failure(&error);
                    self.length = 0;
                    return Err(failure);
                },
            }
        }
        Ok(true)
    }

    fn send_failure(&self, error: &std::io::Error) -> Failure {
        Failure::new(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                format!("nothing listens on UDP {}: connection refused", self.to)
            },
            _ => format!("sending {} bytes to {}: {error}", self.length, self.to),
        })
    }

    /// Make packets up to one batch: full ones of equal size, of which the last may be shorter.
    fn fill(
        &mut self, connection: &mut quiche::Connection, pacer: &mut Pacer,
    ) -> Outcome<Flushed> {
        let largest = connection.max_send_udp_payload_size();
        let segments = self.max_segments.min(MAX_BATCH_BYTES / largest);
        for _ in 0..segments {
            if let Some(at) = pacer.release(connection, Instant::now()) {
                return Ok(Flushed::Paced(at));
            }
            let room = &mut self.buffer[self.length..self.length + largest];
            let (bytes, info) = match connection.send(room) {
                Ok(made) => made,
                Err(quiche::Error::Done) => return Ok(Flushed::Idle),
                Err(error) => return Err(error).context(|| "making a packet".into()),
            };
            if self.length == 0 {
                (self.segment, self.to) = (bytes, info.to);
            }
            self.length += bytes;
            pacer.sent(bytes);
            if bytes < largest {
                break;
            }
        }
        Ok(Flushed::Idle)
    }
}
