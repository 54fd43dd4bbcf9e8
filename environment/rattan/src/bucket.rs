//! A rate behind a token bucket: after idleness a burst passes at once, as with the kernel's tbf.
//!
//! rattan's own cell for this can neither be refilled between loads nor tell how many frames its queue dropped.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use rattan_core::cells::bandwidth::queue::PacketQueue;
use rattan_core::cells::Packet;
use rattan_core::metal::timer::Timer;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::frame::Frame;
use crate::queue::CountedQueue;

pub struct Bucket {
    frames: UnboundedReceiver<Frame>,
    queue: CountedQueue,
    /// The frame that leaves next.
    head: Option<Frame>,
    bytes_per_s: f64,
    /// How long the rate takes for a full bucket.
    depth: Duration,
    /// When the rate alone would have finished all frames so far; as far in the past as there are tokens.
    finished: Instant,
    /// Set from outside: the bucket is full again.
    refill: Arc<AtomicBool>,
    timer: Timer,
}

impl Bucket {
    pub fn new(
        frames: UnboundedReceiver<Frame>,
        queue: CountedQueue,
        rate_bps: u64,
        burst_bytes: u64,
        refill: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let bytes_per_s = rate_bps as f64 / 8.0;
        refill.store(true, Relaxed);
        Ok(Self {
            frames,
            queue,
            head: None,
            bytes_per_s,
            depth: Duration::from_secs_f64(burst_bytes as f64 / bytes_per_s),
            finished: Instant::now(),
            refill,
            timer: Timer::new().map_err(std::io::Error::other)?,
        })
    }

    /// The next frame, at the time at which it leaves; None when no more can come.
    pub async fn pass(&mut self) -> Option<Frame> {
        loop {
            if self.head.is_none() {
                let next = self.queue.dequeue();
                self.head = match next {
                    Some(frame) => Some(self.schedule(frame)),
                    None => Some(self.frames.recv().await.map(|frame| self.schedule(frame))?),
                };
            }
            let leaves = self.head.as_ref()?.get_timestamp();
            let wait = leaves.saturating_duration_since(Instant::now());
            tokio::select! {
                // A frame that may leave does so before others can fill the queue behind it.
                biased;
                _ = self.timer.sleep(wait) => return self.head.take(),
                Some(frame) = self.frames.recv() => self.queue.enqueue(frame),
            }
        }
    }

    /// Give the frame the time at which it leaves: virtual scheduling (ITU-T I.371) with the bucket as its limit.
    fn schedule(&mut self, mut frame: Frame) -> Frame {
        let came = frame.get_timestamp();
        let full = came.checked_sub(self.depth).unwrap_or(came);
        let begins = if self.refill.swap(false, Relaxed) {
            full
        } else {
            self.finished.max(full)
        };
        self.finished = begins + Duration::from_secs_f64(frame.length() as f64 / self.bytes_per_s);
        frame.delay_until(self.finished.max(came));
        frame
    }
}
