//! How a connection ended, in words a user can act on.

use std::io;
use std::net::SocketAddr;

use crate::failure::Failure;
use crate::settings::Settings;

/// H3_NO_ERROR (RFC 9114, section 8.1).
pub const NO_ERROR: u64 = 0x100;

/// How far TLS reaches into QUIC's error codes (RFC 9001, section 4.8).
const TLS_ALERTS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// Why a client's connection is over.
#[derive(Clone, Debug)]
pub enum End {
    /// One end gave an error.
    Closed {
        by_peer: bool,
        /// Whether the code is one of the application's.
        application: bool,
        code: u64,
        reason: String,
    },
    /// Nothing came for too long.
    Silent,
    Reset,
    /// Nothing listens there.
    Refused,
}

impl End {
    /// What the user is told; `established` is whether the handshake was complete.
    pub fn failure(&self, settings: &Settings, established: bool) -> Failure {
        let peer = settings.address;
        Failure::new(match self {
            Self::Refused => format!("nothing listens on UDP {peer}: connection refused"),
            Self::Reset => format!("the connection to {peer} was reset"),
            Self::Silent => {
                let what = if established {
                    "stalled"
                } else {
                    "no handshake"
                };
                let seconds = settings.idle_timeout.as_secs();
                format!("{what}: nothing from {peer} for {seconds} s")
            }
            Self::Closed {
                by_peer,
                application,
                code,
                reason,
            } => {
                let who = if *by_peer { "the server" } else { "this end" };
                let cause = cause(*application, *code, reason, settings);
                format!("{who} closed the connection: {cause}")
            }
        })
    }
}

fn cause(application: bool, code: u64, reason: &str, settings: &Settings) -> String {
    if application || !TLS_ALERTS.contains(&code) {
        let layer = if application { "HTTP" } else { "QUIC" };
        let told = format!("{layer} error {code:#x} {reason}");
        return told.trim_end().to_owned();
    }
    let (host, alert) = (&settings.host, code - TLS_ALERTS.start());
    let cause = match alert {
        42 | 43 | 46 | 48 => {
            format!("the certificate is not one of CERTS/ca.pem for HOST {host}")
        }
        45 => format!("the certificate for {host} has expired"),
        120 => format!("the server does not offer {}", settings.protocol.name()),
        _ => format!("TLS handshake failed {reason}")
            .trim_end()
            .to_owned(),
    };
    format!("{cause} (TLS alert {alert})")
}

/// Why nothing can be received from `peer`, or sent to it.
pub fn unreachable(error: &io::Error, peer: SocketAddr) -> Failure {
    Failure::new(match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("nothing listens on UDP {peer}: connection refused")
        }
        _ => format!("UDP {peer}: {error}"),
    })
}
