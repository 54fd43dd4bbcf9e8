//! When the next packet may leave.

use std::time::{Duration, Instant};

use crate::settings::Pacing;

/// A packet due this soon leaves now: no timer is more exact. The library calls such times equal too.
const TOLERANCE: Duration = Duration::from_micros(50);

/// Share of the window per round trip, as RFC 9002, section 7.7, suggests.
const WINDOW_GAIN: f64 = 1.25;

/// Packets that may leave at once after a pause: the initial window (RFC 9002, section 7.7).
const BURST_PACKETS: f64 = 10.0;

/// Paces one connection.
pub struct Pacer {
    pacing: Pacing,
    /// Bytes that may leave at once; negative while in debt.
    allowance: f64,
    refilled: Instant,
}

impl Pacer {
    pub fn new(pacing: Pacing, now: Instant) -> Self {
        Self {
            pacing,
            allowance: f64::INFINITY,
            refilled: now,
        }
    }

    /// The time before which no further packet of the connection may be made; `None`: now.
    pub fn release(&mut self, connection: &quiche::Connection, now: Instant) -> Option<Instant> {
        let paced_by_library = connection.gcongestion_enabled().unwrap_or(false);
        let at = match self.pacing {
            Pacing::Off => None,
            Pacing::Rfc9002 if !paced_by_library => self.refill(connection, now),
            Pacing::Library | Pacing::Rfc9002 => connection
                .get_next_release_time()
                .filter(|decision| !decision.can_burst())
                .and_then(|decision| decision.time(now)),
        };
        at.filter(|at| at.duration_since(now) > TOLERANCE)
    }

    /// Note that a packet left.
    pub fn sent(&mut self, bytes: usize) {
        self.allowance -= bytes as f64;
    }

    /// Grant what the round-trip time since the last call allows; tell when a packet will fit.
    fn refill(&mut self, connection: &quiche::Connection, now: Instant) -> Option<Instant> {
        let path = connection.path_stats().find(|path| path.active)?;
        let rate = WINDOW_GAIN * path.cwnd as f64 / path.rtt.as_secs_f64().max(1e-6);
        let packet = connection.max_send_udp_payload_size() as f64;
        let granted = rate * now.duration_since(self.refilled).as_secs_f64();
        self.refilled = now;
        self.allowance = (self.allowance + granted).min(BURST_PACKETS * packet);
        let missing = packet - self.allowance;
        (missing > 0.0).then(|| now + Duration::from_secs_f64(missing / rate))
    }
}
