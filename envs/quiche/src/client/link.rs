//! One connection of the client.

use std::time::{Duration, Instant};

use quiche::h3;

use super::page::Page;
use crate::endpoint;
use crate::failure::{Context, Failure, Outcome};
use crate::logs::{start_key_log, start_qlog, QlogFile};
use crate::outbox::{Flushed, Outbox};
use crate::pacer::Pacer;
use crate::settings::Settings;
use crate::socket::Socket;
use crate::wait;

/// Datagrams read before they are acknowledged.
const RECEIVE_BATCH: usize = 64;

const LARGEST_DATAGRAM: usize = 65_535;

/// How often the last packet of a connection is sent. It asks for no acknowledgement, so it would
/// be missing at the server whenever the link loses it, and the server would go on retransmitting.
const CLOSE_COPIES: usize = 3;

/// `ssl_early_data_accepted` of BoringSSL's `ssl_early_data_reason_t`.
const EARLY_DATA_ACCEPTED: u32 = 2;

/// How far TLS reaches into QUIC's error codes (RFC 9001, section 4.8).
const TLS_ALERTS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// A connection to the server and the HTTP/3 on it.
pub struct Link<'a> {
    settings: &'a Settings,
    socket: &'a Socket,
    connection: quiche::Connection,
    http_config: h3::Config,
    http: Option<h3::Connection>,
    qlog: Option<QlogFile>,
    outbox: Outbox,
    pacer: Pacer,
    buffer: Vec<u8>,
    /// When the first packet was made.
    pub start: Instant,
    pub established: Option<Instant>,
    requested_early: bool,
}

impl<'a> Link<'a> {
    /// Prepare a connection, to be resumed from `session` if there is one; nothing is sent yet.
    /// Its qlog bears `title`.
    pub fn open(
        settings: &'a Settings, socket: &'a Socket, config: &mut quiche::Config,
        session: Option<&[u8]>, title: &str,
    ) -> Outcome<Self> {
        let own_id = endpoint::connection_id()?;
        let start = Instant::now();
        let (local, peer) = (socket.local(), settings.address);
        let mut connection = quiche::connect(Some(&settings.host), &own_id, local, peer, config)
            .context(|| format!("HOST: {}", settings.host))?;
        start_key_log(&mut connection, settings)?;
        let original_id = connection.destination_id().into_owned();
        let qlog = start_qlog(&mut connection, settings, title, &original_id)?;
        if let Some(session) = session {
            connection.set_session(session).context(|| "session ticket".into())?;
        }
        Ok(Self {
            settings,
            socket,
            connection,
            http_config: h3::Config::new().context(|| "HTTP/3".into())?,
            http: None,
            qlog,
            outbox: Outbox::new(settings.gso, peer),
            pacer: Pacer::new(settings.pacing, start),
            buffer: vec![0; LARGEST_DATAGRAM],
            start,
            established: None,
            requested_early: false,
        })
    }

    /// Run the connection until `page` is complete and, if `for_ticket`, a session ticket came.
    pub fn load(&mut self, page: &mut Page, for_ticket: bool) -> Outcome<()> {
        let mut last_progress = Instant::now();
        loop {
            let mut release = self.flush()?;
            if self.advance(page)? {
                last_progress = Instant::now();
            }
            if page.is_complete() && (!for_ticket || self.connection.session().is_some()) {
                return Ok(());
            }
            release = self.flush()?.or(release);
            self.check(last_progress)?;
            let stall = last_progress + self.settings.idle_timeout;
            let until =
                [self.connection.timeout_instant(), release, Some(stall)].into_iter().flatten();
            wait::wait(self.socket, None, self.outbox.is_stuck(), until.min())?;
            self.connection.on_timeout();
            self.receive()?;
        }
    }

    /// Send what is due. Returns when the pacer lets the next packet go, if it holds one back.
    fn flush(&mut self) -> Outcome<Option<Instant>> {
        match self.outbox.flush(&mut self.connection, &mut self.pacer, self.socket)? {
            Flushed::Paced(at) => Ok(Some(at)),
            Flushed::Idle | Flushed::Full => Ok(None),
        }
    }

    fn advance(&mut self, page: &mut Page) -> Outcome<bool> {
        if self.established.is_none() && self.connection.is_established() {
            self.established = Some(Instant::now());
        }
        let early = self.connection.is_in_early_data();
        if self.http.is_none() && (early || self.connection.is_established()) {
            let http = h3::Connection::with_transport(&mut self.connection, &self.http_config)
                .context(|| "HTTP/3".into())?;
            self.http = Some(http);
            self.requested_early = early;
        }
        match &mut self.http {
            Some(http) => page.advance(&mut self.connection, http),
            None => Ok(false),
        }
    }

    fn receive(&mut self) -> Outcome<()> {
        let to = self.socket.local();
        for _ in 0..RECEIVE_BATCH {
            let received = self.socket.receive(&mut self.buffer).map_err(|error| self.lost(&error))?;
            let Some((length, from)) = received else { return Ok(()) };
            // An error closes the connection; check() tells of it.
            let _ = self.connection.recv(&mut self.buffer[..length], quiche::RecvInfo { from, to });
        }
        Ok(())
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        Failure::new(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                format!("nothing listens on UDP {}: connection refused", self.settings.address)
            },
            _ => format!("receiving from {}: {error}", self.settings.address),
        })
    }

    /// Fail if the connection is over or nothing of the page has arrived for too long.
    fn check(&self, last_progress: Instant) -> Outcome<()> {
        let (peer, patience) = (self.settings.address, self.settings.idle_timeout);
        if let Some(error) = self.connection.local_error() {
            return Err(Failure::new(explain("this end closed the connection", error, self)));
        }
        if let Some(error) = self.connection.peer_error() {
            return Err(Failure::new(explain("the server closed the connection", error, self)));
        }
        if self.connection.is_timed_out() || last_progress.elapsed() >= patience {
            let what = if self.established.is_some() { "stalled" } else { "no handshake" };
            let seconds = patience.as_secs();
            return Err(Failure::new(format!("{what}: nothing from {peer} for {seconds} s")));
        }
        if self.connection.is_closed() || self.connection.is_draining() {
            return Err(Failure::new(format!("the connection to {peer} was reset")));
        }
        Ok(())
    }

    /// The session to resume from, once a ticket came.
    pub fn session(&self) -> Option<Vec<u8>> {
        self.connection.session().map(<[u8]>::to_vec)
    }

    pub fn is_resumed(&self) -> bool {
        self.connection.is_resumed()
    }

    /// Whether the first request went out as early data and the server accepted it.
    pub fn used_early_data(&self) -> bool {
        self.requested_early && self.connection.early_data_reason() == EARLY_DATA_ACCEPTED
    }

    /// Seconds from the first packet to the end of the handshake.
    pub fn handshake(&self) -> Option<Duration> {
        self.established.map(|at| at.duration_since(self.start))
    }

    /// Close the connection without waiting for the peer, and complete the qlog.
    pub fn close(mut self) -> Outcome<()> {
        // What cannot be sent any more does not undo a load: the server has its timeout.
        let _ = self.flush();
        let no_error = h3::WireErrorCode::NoError as u64;
        if self.connection.close(true, no_error, b"").is_ok() {
            if let Ok((length, info)) = self.connection.send(&mut self.buffer) {
                for _ in 0..CLOSE_COPIES {
                    let _ = self.socket.send(&self.buffer[..length], length, info.to);
                }
            }
        }
        self.qlog.map_or(Ok(()), |qlog| qlog.flush()).context(|| "QLOGDIR".into())
    }
}

/// Name the cause of an error code where it is one a user can act on.
fn explain(who: &str, error: &quiche::ConnectionError, link: &Link<'_>) -> String {
    let reason = String::from_utf8_lossy(&error.reason);
    let code = error.error_code;
    if error.is_app || !TLS_ALERTS.contains(&code) {
        let layer = if error.is_app { "HTTP/3" } else { "QUIC" };
        return format!("{who}: {layer} error {code:#x} {reason}").trim_end().to_owned();
    }
    let host = &link.settings.host;
    let cause = match code - TLS_ALERTS.start() {
        42 | 43 | 46 | 48 => {
            format!("the certificate is not one of CERTS/ca.pem for HOST {host}")
        },
        45 => format!("the certificate for {host} has expired"),
        120 => "the server does not offer HTTP/3".to_owned(),
        _ => "TLS handshake failed".to_owned(),
    };
    format!("{who}: {cause} (TLS alert {})", code - TLS_ALERTS.start())
}
