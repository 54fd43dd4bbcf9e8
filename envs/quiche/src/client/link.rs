//! One connection of the client.

use std::io::IoSlice;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use contract::logs::QlogFile;
use contract::page::Page;
use contract::settings::OnMove;
use contract::socket::{address_is_gone, Socket, RECEIVE_BYTES};
use contract::{wait, Context, Failure, Outcome};

use super::http::Http;
use crate::endpoint;
use crate::logs::start_logs;
use crate::outbox::{Flushed, Outbox};
use crate::pacer::Pacer;
use crate::settings::Settings;

/// Datagrams, or what the kernel joined of several, read before they are acknowledged.
const RECEIVE_BATCH: usize = 64;

/// How often the last packet of a connection is sent. It asks for no acknowledgement, so it would
/// be missing at the server whenever the link loses it, and the server would go on retransmitting.
const CLOSE_COPIES: usize = 3;

/// H3_NO_ERROR (RFC 9114, section 8.1).
const NO_ERROR: u64 = 0x100;

/// `ssl_early_data_accepted` of BoringSSL's `ssl_early_data_reason_t`.
const EARLY_DATA_ACCEPTED: u32 = 2;

/// How far TLS reaches into QUIC's error codes (RFC 9001, section 4.8).
const TLS_ALERTS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// What a connection starts from.
#[derive(Default)]
pub struct Session {
    pub early_data: bool,
    pub ticket: Option<Vec<u8>>,
}

/// Makes connections to the server.
pub struct Dialler<'a> {
    pub settings: &'a Settings,
    plain: quiche::Config,
    early: quiche::Config,
}

impl<'a> Dialler<'a> {
    pub fn new(settings: &'a Settings) -> Outcome<Self> {
        let plain = endpoint::client(settings, false)?;
        let early = endpoint::client(settings, true)?;
        Ok(Self {
            settings,
            plain,
            early,
        })
    }

    /// Prepare a connection; nothing is sent yet. Its qlog bears `title`.
    pub fn dial(&mut self, socket: Socket, session: &Session, title: &str) -> Outcome<Link<'a>> {
        let settings = self.settings;
        let config = if session.early_data {
            &mut self.early
        } else {
            &mut self.plain
        };
        let own_id = endpoint::connection_id()?;
        let start = Instant::now();
        let (local, peer) = (socket.local(), settings.address);
        let mut connection = quiche::connect(Some(&settings.host), &own_id, local, peer, config)
            .context(|| format!("HOST: {}", settings.host))?;
        let original_id = connection.destination_id().into_owned();
        let qlog = start_logs(&mut connection, settings, title, &original_id)?;
        if let Some(ticket) = &session.ticket {
            connection
                .set_session(ticket)
                .context(|| "session ticket".into())?;
        }
        Ok(Link {
            settings,
            socket,
            connection,
            http: None,
            qlog,
            outbox: Outbox::new(settings.gso, peer),
            pacer: Pacer::new(settings.pacing, start),
            buffer: vec![0; RECEIVE_BYTES],
            start,
            established: None,
            requested_early: false,
        })
    }
}

/// A connection to the server and the HTTP on it.
pub struct Link<'a> {
    settings: &'a Settings,
    socket: Socket,
    connection: quiche::Connection,
    http: Option<Http>,
    qlog: Option<QlogFile>,
    outbox: Outbox,
    pacer: Pacer,
    buffer: Vec<u8>,
    /// When the first packet was made.
    start: Instant,
    established: Option<Instant>,
    requested_early: bool,
}

/// What TIMING tells of a connection.
#[derive(Clone, Copy)]
pub struct Facts {
    pub start: Instant,
    pub handshake: Option<Duration>,
    pub resumed: bool,
    pub early_data: bool,
}

impl Link<'_> {
    /// Send what is due. Returns when the pacer lets the next packet go, if it holds one back.
    pub fn flush(&mut self) -> Outcome<Option<Instant>> {
        let (connection, socket) = (&mut self.connection, &self.socket);
        match self.outbox.flush(connection, &mut self.pacer, socket)? {
            Flushed::Paced(at) => Ok(Some(at)),
            Flushed::Idle | Flushed::Full => Ok(None),
        }
    }

    /// Take what arrived of the page and ask for more of it. Returns whether anything arrived.
    pub fn advance(&mut self, page: &mut Page) -> Outcome<bool> {
        if self.established.is_none() && self.connection.is_established() {
            self.established = Some(Instant::now());
        }
        if self.settings.on_move == OnMove::Migrate {
            endpoint::spread_ids(&mut self.connection)?;
        }
        let early = self.connection.is_in_early_data();
        if self.http.is_none() && (early || self.connection.is_established()) {
            let protocol = self.settings.protocol;
            self.http = Some(Http::start(protocol, &mut self.connection, page)?);
            self.requested_early = early;
        }
        match &mut self.http {
            Some(http) => http.advance(&mut self.connection, page),
            None => Ok(false),
        }
    }

    /// Wait until something arrives, `until` is reached or `other` has data, and take what arrived.
    /// Returns whether `other` has data.
    pub fn wait(&mut self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> Outcome<bool> {
        let until = [self.connection.timeout_instant(), until];
        let stuck = self.outbox.is_stuck();
        let first = until.into_iter().flatten().min();
        let readable = wait::wait(&self.socket, other, stuck, first)?;
        self.connection.on_timeout();
        self.receive()?;
        Ok(readable)
    }

    fn receive(&mut self) -> Outcome<()> {
        let to = self.socket.local();
        for _ in 0..RECEIVE_BATCH {
            let received = match self.socket.receive(&mut self.buffer) {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(()),
                Err(error) if self.outbox.lenient && address_is_gone(&error) => return Ok(()),
                Err(error) => return Err(self.lost(&error)),
            };
            let from = received.from;
            for datagram in self.buffer[..received.bytes].chunks_mut(received.segment) {
                // An error closes the connection; check() tells of it.
                let info = quiche::RecvInfo { from, to };
                let _ = self.connection.recv(datagram, info);
            }
        }
        Ok(())
    }

    /// Note that the address is going away: what cannot be sent is lost.
    pub fn expect_move(&mut self) {
        self.outbox.lenient = true;
    }

    /// Move the connection to another address.
    pub fn migrate(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        self.socket = Socket::connected(ip, self.settings)?;
        self.outbox = Outbox::new(self.settings.gso, self.settings.address);
        let (local, peer) = (self.socket.local(), self.settings.address);
        // The server follows the first packet that does more than probe (RFC 9000, section 9.2), and a
        // client that only receives has none of its own to send.
        self.connection
            .probe_path(local, peer)
            .and_then(|_| self.connection.migrate_source(local))
            .and_then(|_| self.connection.send_ack_eliciting())
            .context(|| format!("moving to {ip}"))?;
        Ok(())
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        Failure::new(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                format!(
                    "nothing listens on UDP {}: connection refused",
                    self.settings.address
                )
            }
            _ => format!("receiving from {}: {error}", self.settings.address),
        })
    }

    /// Fail if the connection is over or nothing of the page has arrived for too long.
    pub fn check(&self, last_progress: Instant) -> Outcome<()> {
        let (peer, patience) = (self.settings.address, self.settings.idle_timeout);
        if let Some(error) = self.connection.local_error() {
            return Err(Failure::new(explain(
                "this end closed the connection",
                error,
                self,
            )));
        }
        if let Some(error) = self.connection.peer_error() {
            return Err(Failure::new(explain(
                "the server closed the connection",
                error,
                self,
            )));
        }
        if self.connection.is_timed_out() || last_progress.elapsed() >= patience {
            let what = if self.established.is_some() {
                "stalled"
            } else {
                "no handshake"
            };
            let seconds = patience.as_secs();
            return Err(Failure::new(format!(
                "{what}: nothing from {peer} for {seconds} s"
            )));
        }
        if self.connection.is_closed() || self.connection.is_draining() {
            return Err(Failure::new(format!("the connection to {peer} was reset")));
        }
        Ok(())
    }

    /// The ticket to resume from, once one came.
    pub fn ticket(&self) -> Option<Vec<u8>> {
        self.connection.session().map(<[u8]>::to_vec)
    }

    pub fn facts(&self) -> Facts {
        let reason = self.connection.early_data_reason();
        Facts {
            start: self.start,
            handshake: self.established.map(|at| at.duration_since(self.start)),
            resumed: self.connection.is_resumed(),
            early_data: self.requested_early && reason == EARLY_DATA_ACCEPTED,
        }
    }

    /// Complete the qlog.
    pub fn abandon(self) -> Outcome<()> {
        self.qlog
            .map_or(Ok(()), |qlog| qlog.flush())
            .context(|| "QLOGDIR".into())
    }

    /// Close the connection without waiting for the peer, and complete the qlog.
    pub fn close(mut self) -> Outcome<()> {
        // What cannot be sent any more does not undo a load: the server has its timeout.
        let _ = self.flush();
        if self.connection.close(true, NO_ERROR, b"").is_ok() {
            if let Ok((length, info)) = self.connection.send(&mut self.buffer) {
                let packet = [IoSlice::new(&self.buffer[..length])];
                for _ in 0..CLOSE_COPIES {
                    let _ = self.socket.send(&packet, length, info.to);
                }
            }
        }
        self.abandon()
    }
}

/// Name the cause of an error code where it is one a user can act on.
fn explain(who: &str, error: &quiche::ConnectionError, link: &Link<'_>) -> String {
    let reason = String::from_utf8_lossy(&error.reason);
    let code = error.error_code;
    if error.is_app || !TLS_ALERTS.contains(&code) {
        let layer = if error.is_app { "HTTP/3" } else { "QUIC" };
        return format!("{who}: {layer} error {code:#x} {reason}")
            .trim_end()
            .to_owned();
    }
    let host = &link.settings.host;
    let cause = match code - TLS_ALERTS.start() {
        42 | 43 | 46 | 48 => {
            format!("the certificate is not one of CERTS/ca.pem for HOST {host}")
        }
        45 => format!("the certificate for {host} has expired"),
        120 => "the server does not offer HTTP/3".to_owned(),
        _ => "TLS handshake failed".to_owned(),
    };
    format!("{who}: {cause} (TLS alert {})", code - TLS_ALERTS.start())
}
