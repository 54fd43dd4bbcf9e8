//! One connection of the client.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use contract::logs::QlogFile;
use contract::page::Page;
use contract::settings::Settings;
use contract::socket::{address_is_gone, Socket, RECEIVE_BYTES};
use contract::{wait, Context, Failure, Outcome};
use tquic::{Endpoint, PacketInfo};

use super::http::Http;
use crate::config;
use crate::handler::{End, Handler, Told};
use crate::sender::Sender;

/// Datagrams, or what the kernel joined of several, read before they are acknowledged.
const RECEIVE_BATCH: usize = 64;

/// H3_NO_ERROR (RFC 9114, section 8.1).
const NO_ERROR: u64 = 0x100;

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
}

impl<'a> Dialler<'a> {
    pub fn new(settings: &'a Settings) -> Outcome<Self> {
        config::client(settings, settings.early_data())?;
        Ok(Self { settings })
    }

    /// Start a connection. Its qlog bears `title`.
    pub fn dial(&mut self, socket: Socket, session: &Session, title: &str) -> Outcome<Link<'a>> {
        let settings = self.settings;
        let config = config::client(settings, session.early_data)?;
        let (local, start) = (socket.local(), Instant::now());
        let sender = Rc::new(Sender::new(socket, settings.gso));
        let told = Rc::new(RefCell::new(Told::default()));
        told.borrow_mut().title = title.to_owned();
        let handler = Handler {
            settings: settings.clone(),
            told: told.clone(),
        };
        let handler = Box::new(handler);
        let mut endpoint = Endpoint::new(Box::new(config), false, handler, sender.clone());
        let (peer, host) = (settings.address, Some(settings.host.as_str()));
        let ticket = session.ticket.as_deref();
        let index = endpoint
            .connect(local, peer, host, ticket, None, None)
            .context(|| format!("HOST: {}", settings.host))?;
        let qlog = told.borrow_mut().opened.pop().and_then(|(_, qlog)| qlog);
        Ok(Link {
            settings,
            endpoint,
            index,
            sender,
            told,
            http: None,
            qlog,
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
    endpoint: Endpoint,
    index: u64,
    sender: Rc<Sender>,
    told: Rc<RefCell<Told>>,
    http: Option<Http>,
    qlog: Option<QlogFile>,
    buffer: Vec<u8>,
    start: Instant,
    established: Option<Instant>,
    requested_early: bool,
}

/// What TIMING tells of a connection.
#[derive(Clone, Copy)]
pub struct Facts {
    /// When the first packet was made.
    pub start: Instant,
    pub handshake: Option<Duration>,
    pub resumed: bool,
    pub early_data: bool,
}

impl Link<'_> {
    /// Send what is due. The library paces by its own timer.
    pub fn flush(&mut self) -> Outcome<Option<Instant>> {
        // Its error is that of the connection, which tells of it when it is closed.
        let _ = self.endpoint.process_connections();
        Ok(None)
    }

    /// Take what arrived of the page and ask for more of it. Returns whether anything arrived.
    pub fn advance(&mut self, page: &mut Page) -> Outcome<bool> {
        let Some(connection) = self.endpoint.conn_get_mut(self.index) else {
            return Ok(false);
        };
        if self.established.is_none() && connection.is_established() {
            self.established = Some(Instant::now());
        }
        let early = connection.is_in_early_data();
        if self.http.is_none() && (early || connection.is_established()) {
            self.http = Some(Http::start(self.settings.protocol, connection, page)?);
            self.requested_early = early;
        }
        match &mut self.http {
            Some(http) => http.advance(connection, page),
            None => Ok(false),
        }
    }

    /// Wait until something arrives, `until` is reached or `other` has data, and take what arrived.
    /// Returns whether `other` has data.
    pub fn wait(&mut self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> Outcome<bool> {
        let timeout = self.endpoint.timeout().map(|left| Instant::now() + left);
        let first = [timeout, until].into_iter().flatten().min();
        let stuck = self.sender.was_stuck();
        let readable = wait::wait(&self.sender.socket.borrow(), other, stuck, first)?;
        self.endpoint.on_timeout(Instant::now());
        self.receive()?;
        Ok(readable)
    }

    fn receive(&mut self) -> Outcome<()> {
        let dst = self.sender.socket.borrow().local();
        for _ in 0..RECEIVE_BATCH {
            let received = self.sender.socket.borrow_mut().receive(&mut self.buffer);
            let received = match received {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(()),
                Err(error) if self.sender.lenient.get() && address_is_gone(&error) => return Ok(()),
                Err(error) => return Err(self.lost(&error)),
            };
            let (src, time) = (received.from, Instant::now());
            let info = PacketInfo { src, dst, time };
            for datagram in self.buffer[..received.bytes].chunks_mut(received.segment) {
                // An error closes the connection; check() tells of it.
                let _ = self.endpoint.recv(datagram, &info);
            }
        }
        Ok(())
    }

    /// Note that the address is going away: what cannot be sent is lost.
    pub fn expect_move(&mut self) {
        self.sender.lenient.set(true);
    }

    /// The library cannot move a connection; the settings do not let it be asked.
    pub fn migrate(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        Err(Failure::NotSupported(format!("moving to {ip}")))
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        let peer = self.settings.address;
        Failure::new(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                format!("nothing listens on UDP {peer}: connection refused")
            }
            _ => format!("receiving from {peer}: {error}"),
        })
    }

    /// Fail if the connection is over or nothing of the page has arrived for too long.
    pub fn check(&mut self, last_progress: Instant) -> Outcome<()> {
        let (peer, patience) = (self.settings.address, self.settings.idle_timeout);
        let end = self.told.borrow_mut().closed.pop().map(|(_, end)| end);
        let end = end.or_else(|| self.draining());
        if let Some(End::Error(code, app, by_peer)) = end {
            return Err(Failure::new(explain(code, app, by_peer, self.settings)));
        }
        if let Some(End::Reset) = end {
            return Err(Failure::new(format!("the connection to {peer} was reset")));
        }
        if end.is_some() || last_progress.elapsed() >= patience {
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
        Ok(())
    }

    /// The end of a connection that is closing, which the library tells only when it has drained.
    fn draining(&mut self) -> Option<End> {
        let connection = self.endpoint.conn_get_mut(self.index)?;
        let (error, by_peer) = match (connection.peer_error(), connection.local_error()) {
            (Some(error), _) => (error, true),
            (None, Some(error)) => (error, false),
            (None, None) => return None,
        };
        Some(End::Error(error.error_code, error.is_app, by_peer))
    }

    /// The ticket to resume from, once one came.
    pub fn ticket(&mut self) -> Option<Vec<u8>> {
        let connection = self.endpoint.conn_get_mut(self.index)?;
        connection.session().map(<[u8]>::to_vec)
    }

    pub fn facts(&mut self) -> Facts {
        let requested_early = self.requested_early;
        let connection = self.endpoint.conn_get_mut(self.index);
        let (resumed, early_data) = connection.map_or((false, false), |connection| {
            let reason = connection.early_data_reason().ok().flatten();
            let accepted = reason == Some("accepted");
            (connection.is_resumed(), requested_early && accepted)
        });
        Facts {
            start: self.start,
            handshake: self.established.map(|at| at.duration_since(self.start)),
            resumed,
            early_data,
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
        let _ = self.endpoint.process_connections();
        if let Some(connection) = self.endpoint.conn_get_mut(self.index) {
            let _ = connection.close(true, NO_ERROR, b"");
        }
        let _ = self.endpoint.process_connections();
        self.abandon()
    }
}

/// Name the cause of an error code where it is one a user can act on.
fn explain(code: u64, app: bool, by_peer: bool, settings: &Settings) -> String {
    let who = match by_peer {
        true => "the server closed the connection",
        false => "this end closed the connection",
    };
    if app || !TLS_ALERTS.contains(&code) {
        let layer = if app { "HTTP" } else { "QUIC" };
        return format!("{who}: {layer} error {code:#x}");
    }
    let (host, alert) = (&settings.host, code - TLS_ALERTS.start());
    let cause = match alert {
        42 | 43 | 46 | 48 => {
            format!("the certificate is not one of CERTS/ca.pem for HOST {host}")
        }
        45 => format!("the certificate for {host} has expired"),
        120 => format!("the server does not offer {}", settings.protocol.name()),
        _ => "TLS handshake failed".to_owned(),
    };
    format!("{who}: {cause} (TLS alert {alert})")
}
