//! One connection of the client.

use std::io::IoSlice;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use contract::end::{unreachable, End, NO_ERROR};
use contract::logs::{complete, QlogFile};
use contract::page::Page;
use contract::polled::{self, Dialler, Exchange, Session};
use contract::settings::{OnMove, Settings as CommonSettings};
use contract::socket::{address_is_gone, Socket, RECEIVE_BYTES};
use contract::timing::Facts;
use contract::{wait, Context, Outcome};

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

/// `ssl_early_data_accepted` of BoringSSL's `ssl_early_data_reason_t`.
const EARLY_DATA_ACCEPTED: u32 = 2;

/// Makes connections to the server.
pub struct Connector<'a> {
    settings: &'a Settings,
    plain: quiche::Config,
    early: quiche::Config,
}

impl<'a> Connector<'a> {
    pub fn new(settings: &'a Settings) -> Outcome<Self> {
        let plain = endpoint::client(settings, false)?;
        let early = endpoint::client(settings, true)?;
        Ok(Self {
            settings,
            plain,
            early,
        })
    }
}

impl<'a> Dialler for Connector<'a> {
    type Link = Link<'a>;

    fn settings(&self) -> &CommonSettings {
        self.settings
    }

    fn dial(&mut self, socket: Socket, session: &Session, title: &str) -> Outcome<Link<'a>> {
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
    http: Option<Exchange<Http>>,
    qlog: Option<QlogFile>,
    outbox: Outbox,
    pacer: Pacer,
    buffer: Vec<u8>,
    /// When the first packet was made.
    start: Instant,
    established: Option<Instant>,
    requested_early: bool,
}

impl Link<'_> {
    fn receive(&mut self) -> Outcome<()> {
        let to = self.socket.local();
        for _ in 0..RECEIVE_BATCH {
            let received = match self.socket.receive(&mut self.buffer) {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(()),
                Err(error) if self.outbox.lenient && address_is_gone(&error) => return Ok(()),
                Err(error) => return Err(unreachable(&error, self.settings.address)),
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
}

impl polled::Link for Link<'_> {
    fn flush(&mut self) -> Outcome<Option<Instant>> {
        let (connection, socket) = (&mut self.connection, &self.socket);
        match self.outbox.flush(connection, &mut self.pacer, socket)? {
            Flushed::Paced(at) => Ok(Some(at)),
            Flushed::Idle | Flushed::Full => Ok(None),
        }
    }

    fn advance(&mut self, page: &mut Page) -> Outcome<bool> {
        if self.established.is_none() && self.connection.is_established() {
            self.established = Some(Instant::now());
        }
        if self.settings.on_move == OnMove::Migrate {
            endpoint::spread_ids(&mut self.connection)?;
        }
        let early = self.connection.is_in_early_data();
        if self.http.is_none() && (early || self.connection.is_established()) {
            let http = Http::start(self.settings.protocol, &mut self.connection)?;
            self.http = Some(Exchange::new(http, page));
            self.requested_early = early;
        }
        match &mut self.http {
            Some(http) => http.advance(&mut self.connection, page),
            None => Ok(false),
        }
    }

    fn wait(&mut self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> Outcome<bool> {
        let until = [self.connection.timeout_instant(), until];
        let stuck = self.outbox.is_stuck();
        let first = until.into_iter().flatten().min();
        let readable = wait::wait(&self.socket, other, stuck, first)?;
        self.connection.on_timeout();
        self.receive()?;
        Ok(readable)
    }

    fn expect_move(&mut self) {
        self.outbox.lenient = true;
    }

    fn migrate(&mut self, ip: Ipv4Addr) -> Outcome<()> {
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

    fn end(&mut self) -> Option<End> {
        let connection = &self.connection;
        let told = |error: &quiche::ConnectionError, by_peer| End::Closed {
            by_peer,
            application: error.is_app,
            code: error.error_code,
            reason: String::from_utf8_lossy(&error.reason).into_owned(),
        };
        if let Some(error) = connection.local_error() {
            return Some(told(error, false));
        }
        if let Some(error) = connection.peer_error() {
            return Some(told(error, true));
        }
        if connection.is_timed_out() {
            return Some(End::Silent);
        }
        let over = connection.is_closed() || connection.is_draining();
        over.then_some(End::Reset)
    }

    fn ticket(&mut self) -> Option<Vec<u8>> {
        self.connection.session().map(<[u8]>::to_vec)
    }

    fn facts(&mut self) -> Facts {
        let reason = self.connection.early_data_reason();
        Facts {
            start: self.start,
            handshake: self.established.map(|at| at.duration_since(self.start)),
            resumed: self.connection.is_resumed(),
            early_data: self.requested_early && reason == EARLY_DATA_ACCEPTED,
        }
    }

    fn abandon(self) -> Outcome<()> {
        complete(self.qlog.as_ref())
    }

    fn close(mut self) -> Outcome<()> {
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
