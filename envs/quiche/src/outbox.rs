//! From connection to socket: makes packets when they are due and sends them.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::time::Instant;

use contract::socket::{address_is_gone, Socket};
use contract::{Context, Failure, Outcome};

use crate::pacer::Pacer;

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
    /// Whether a packet that cannot leave is one that was lost: its address is going away.
    pub lenient: bool,
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
            lenient: false,
        }
    }

    /// Whether a packet waits for room in the socket's buffer.
    pub fn is_stuck(&self) -> bool {
        self.length > 0
    }

    /// Send everything of the connection that is due.
    pub fn flush(
        &mut self,
        connection: &mut quiche::Connection,
        pacer: &mut Pacer,
        socket: &Socket,
    ) -> Outcome<Flushed> {
        loop {
            if !self.deliver(socket)? {
                return Ok(Flushed::Full);
            }
            let left = self.fill(connection, pacer, socket.local())?;
            if !self.is_stuck() {
                return Ok(left);
            }
        }
    }

    /// Hand the waiting packets to the socket. Returns false if it has no room.
    pub fn deliver(&mut self, socket: &Socket) -> Outcome<bool> {
        if self.is_stuck() {
            let packets = [IoSlice::new(&self.buffer[..self.length])];
            match socket.send(&packets, self.segment, self.to) {
                Ok(false) => return Ok(false),
                Ok(true) => self.length = 0,
                Err(error) if self.lenient && address_is_gone(&error) => self.length = 0,
                Err(error) => {
                    let failure = self.send_failure(&error);
                    self.length = 0;
                    return Err(failure);
                }
            }
        }
        Ok(true)
    }

    fn send_failure(&self, error: &std::io::Error) -> Failure {
        Failure::new(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                format!("nothing listens on UDP {}: connection refused", self.to)
            }
            _ => format!("sending {} bytes to {}: {error}", self.length, self.to),
        })
    }

    /// Make packets up to one batch: full ones of equal size, of which the last may be shorter.
    fn fill(
        &mut self,
        connection: &mut quiche::Connection,
        pacer: &mut Pacer,
        local: SocketAddr,
    ) -> Outcome<Flushed> {
        let largest = connection.max_send_udp_payload_size();
        let segments = self.max_segments.min(MAX_BATCH_BYTES / largest);
        let mut made = 0;
        while made < segments {
            if let Some(at) = pacer.release(connection, Instant::now()) {
                return Ok(Flushed::Paced(at));
            }
            let room = &mut self.buffer[self.length..self.length + largest];
            let (bytes, info) = match connection.send(room) {
                Ok(packet) => packet,
                Err(quiche::Error::Done) => return Ok(Flushed::Idle),
                Err(error) => return Err(error).context(|| "making a packet".into()),
            };
            // What is meant for an address that the client has left cannot be sent.
            if info.from != local {
                continue;
            }
            if self.length == 0 {
                (self.segment, self.to) = (bytes, info.to);
            }
            self.length += bytes;
            made += 1;
            pacer.sent(bytes);
            if bytes < largest {
                break;
            }
        }
        Ok(Flushed::Idle)
    }
}
