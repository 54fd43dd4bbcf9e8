//! From the library to the socket.

use std::cell::{Cell, RefCell};
use std::io::IoSlice;

use contract::logs::note;
use contract::socket::{address_is_gone, Socket};
use tquic::{Error, PacketInfo, PacketSendHandler};

type Packet = (Vec<u8>, PacketInfo);

/// Sends over one socket.
pub struct Sender {
    pub socket: RefCell<Socket>,
    gso: bool,
    stuck: Cell<bool>,
    /// Whether a packet that cannot leave is one that was lost: its address is going away.
    pub lenient: Cell<bool>,
}

impl Sender {
    /// With `gso` several packets are handed to the kernel at once.
    pub fn new(socket: Socket, gso: bool) -> Self {
        Self {
            socket: RefCell::new(socket),
            gso,
            stuck: Cell::new(false),
            lenient: Cell::new(false),
        }
    }

    /// Whether a packet has waited for room in the socket's buffer since the last call.
    pub fn was_stuck(&self) -> bool {
        self.stuck.take()
    }

    /// How many of the packets leave in one call: those of the first one's size and receiver, and a
    /// shorter one after them.
    fn batch(&self, packets: &[Packet]) -> usize {
        let (first, to) = (packets[0].0.len(), packets[0].1.dst);
        let fits = |packet: &&Packet| packet.1.dst == to && packet.0.len() == first;
        let full = packets.iter().take_while(fits).count();
        let tail = packets.get(full);
        let tail = tail.filter(|tail| tail.1.dst == to && tail.0.len() < first);
        match self.gso {
            true => full + tail.iter().count(),
            false => 1,
        }
    }
}

impl PacketSendHandler for Sender {
    fn on_packets_send(&self, packets: &[Packet]) -> Result<usize, Error> {
        let mut sent = 0;
        while sent < packets.len() {
            let count = self.batch(&packets[sent..]);
            let batch = &packets[sent..sent + count];
            let parts: Vec<_> = batch.iter().map(|packet| IoSlice::new(&packet.0)).collect();
            let (segment, to) = (batch[0].0.len(), batch[0].1.dst);
            match self.socket.borrow().send(&parts, segment, to) {
                Ok(true) => {}
                Ok(false) => {
                    self.stuck.set(true);
                    return Ok(sent);
                }
                Err(error) if self.lenient.get() && address_is_gone(&error) => {}
                Err(error) => {
                    note(format!("sending to {to}: {error}"));
                    return Err(Error::IoError(error.to_string()));
                }
            }
            sent += count;
        }
        Ok(sent)
    }
}
