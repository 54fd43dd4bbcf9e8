//! What happened in one direction: the ground truth that captures are compared with.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::drops::Drops;

/// Counts of one direction since the last `seed` command.
#[derive(Default)]
pub struct Counters {
    /// Frames that entered the loss stage.
    pub entered: AtomicU64,
    /// Frames that the loss stage dropped.
    pub lost: AtomicU64,
    /// Random numbers drawn; equals `entered` where there is a loss stage.
    pub draws: AtomicU64,
    /// Frames that the full queue dropped.
    pub queue_dropped: AtomicU64,
    /// Most bytes that ever waited in the queue.
    pub queue_peak_bytes: AtomicU64,
    /// Frames sent out of the far interface.
    pub sent: AtomicU64,
    /// Frames that the kernel did not take.
    pub send_errors: AtomicU64,
    /// Frames that left more than a millisecond after they should have.
    pub late: AtomicU64,
    /// The worst lateness, in microseconds.
    pub late_max_us: AtomicU64,
    /// Frames that the receiving socket dropped because the emulator was not quick enough.
    pub socket_dropped: AtomicU64,
    /// Each frame of `lost` and `queue_dropped`.
    pub drops: Drops,
}

impl Counters {
    fn fields(&self) -> [(&'static str, &AtomicU64); 10] {
        [
            ("entered", &self.entered),
            ("lost", &self.lost),
            ("draws", &self.draws),
            ("queue_dropped", &self.queue_dropped),
            ("queue_peak_bytes", &self.queue_peak_bytes),
            ("sent", &self.sent),
            ("send_errors", &self.send_errors),
            ("late", &self.late),
            ("late_max_us", &self.late_max_us),
            ("socket_dropped", &self.socket_dropped),
        ]
    }

    pub fn reset(&self) {
        for (_, value) in self.fields() {
            value.store(0, Relaxed);
        }
        self.drops.clear();
    }

    pub fn to_json(&self) -> String {
        let fields = self
            .fields()
            .map(|(name, value)| format!("\"{name}\":{}", value.load(Relaxed)));
        format!("{{{}}}", fields.join(","))
    }
}

/// Add one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
