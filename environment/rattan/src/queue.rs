//! rattan's drop-tail queue, with its drops and its longest state counted.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

use rattan_core::cells::bandwidth::queue::{DropTailQueue, DropTailQueueConfig, PacketQueue};
use rattan_core::cells::bandwidth::BwType;
use rattan_core::cells::Packet;

use crate::counters::{count, Counters};
use crate::frame::Frame;

pub struct CountedQueue {
    queue: DropTailQueue<Frame>,
    bytes: u64,
    counters: Arc<Counters>,
}

impl CountedQueue {
    /// A queue of at most `byte_limit` bytes of frames, however many they are.
    pub fn new(byte_limit: usize, counters: Arc<Counters>) -> Self {
        let config = DropTailQueueConfig::new(None, byte_limit, BwType::NetworkLayer);
        Self {
            queue: DropTailQueue::new(config),
            bytes: 0,
            counters,
        }
    }
}

impl PacketQueue<Frame> for CountedQueue {
    type Config = DropTailQueueConfig;

    fn configure(&mut self, config: Self::Config) {
        PacketQueue::<Frame>::configure(&mut self.queue, config);
    }

    fn enqueue(&mut self, frame: Frame) {
        let (index, size) = (frame.index, frame.length() as u64);
        let before = self.queue.length();
        self.queue.enqueue(frame);
        if self.queue.length() == before {
            count(&self.counters.queue_dropped);
            self.counters.drops.add(index, "queue", size as usize);
        } else {
            self.bytes += size;
            self.counters
                .queue_peak_bytes
                .fetch_max(self.bytes, Relaxed);
        }
    }

    fn dequeue(&mut self) -> Option<Frame> {
        let frame = self.queue.dequeue()?;
        self.bytes -= frame.length() as u64;
        Some(frame)
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn is_zero_buffer(&self) -> bool {
        self.queue.is_zero_buffer()
    }

    fn get_front_size(&self) -> Option<usize> {
        self.queue.get_front_size()
    }

    fn length(&self) -> usize {
        self.queue.length()
    }
}
