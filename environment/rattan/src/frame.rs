//! The packet type that travels through rattan's cells.

use std::time::Duration;

use etherparse::{Ethernet2Header, Ipv4Header};
use rattan_core::cells::Packet;
use tokio::time::Instant;

/// An Ethernet frame and the time at which it should be where it is.
///
/// rattan's rate and queue count `l3_length` bytes (or that plus 38). Here `l3_length` is the length
/// of the whole frame with its header of 14 bytes, so that "10 Mbit/s" and "20,000 bytes of queue" mean
/// the same as with the kernel's tbf.
#[derive(Debug)]
pub struct Frame {
    bytes: Vec<u8>,
    due: Instant,
    /// Position among the frames that entered the link in this direction since the last seed.
    pub index: u64,
}

impl Frame {
    pub fn new(bytes: Vec<u8>, arrived: Instant) -> Self {
        Self {
            bytes,
            due: arrived,
            index: 0,
        }
    }
}

impl Packet for Frame {
    type PacketGenerator = ();

    fn empty(maximum: usize, _generator: &()) -> Self {
        Self::new(Vec::with_capacity(maximum), Instant::now())
    }

    fn from_raw_buffer(buffer: &[u8]) -> Self {
        Self::new(buffer.to_vec(), Instant::now())
    }

    fn length(&self) -> usize {
        self.bytes.len()
    }

    fn l2_length(&self) -> usize {
        self.bytes.len()
    }

    fn l3_length(&self) -> usize {
        self.bytes.len()
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    fn as_raw_buffer(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn ether_hdr(&self) -> Option<Ethernet2Header> {
        Ethernet2Header::from_slice(&self.bytes)
            .ok()
            .map(|(header, _)| header)
    }

    fn ip_hdr(&self) -> Option<Ipv4Header> {
        let (_, rest) = Ethernet2Header::from_slice(&self.bytes).ok()?;
        Ipv4Header::from_slice(rest).ok().map(|(header, _)| header)
    }

    fn get_timestamp(&self) -> Instant {
        self.due
    }

    fn delay_by(&mut self, delay: Duration) {
        self.due += delay;
    }

    fn delay_until(&mut self, time: Instant) {
        self.due = time;
    }
}
