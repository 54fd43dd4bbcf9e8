//! HTTP/3 server of one folder, one thread, one socket.

mod http;
mod responses;
mod session;

use std::collections::HashMap;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use contract::content::Content;
use contract::environment::text;
use contract::logs::note;
use contract::settings::{OnMove, Role};
use contract::socket::{describe, Socket, RECEIVE_BYTES};
use contract::{wait, Context, Outcome};
use nix::sys::signalfd::SignalFd;
use quiche::h3;

use crate::endpoint::{self, CONNECTION_ID_BYTES};
use crate::outbox::{Flushed, Outbox};
use crate::settings::Settings;
use session::Session;

/// How old an event may be before it is on disk. A client's last packet can get lost, so a log
/// must be complete without it.
const QLOG_DELAY: Duration = Duration::from_millis(50);

/// Datagrams read before anything is sent, so that neither direction starves the other.
const RECEIVE_BATCH: usize = 128;

/// Serve `WWW` until SIGTERM.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(Role::Server)?;
    let signals = wait::stop_signals()?;
    wait::exact_timers()?;
    Server::start(settings)?.run(&signals)
}

struct Server {
    config: quiche::Config,
    http_config: h3::Config,
    content: Content,
    socket: Socket,
    outbox: Outbox,
    sessions: HashMap<usize, Session>,
    /// Session by connection identifier.
    routes: HashMap<Vec<u8>, usize>,
    /// Sessions that are over, and when their late packets cannot come any more.
    retired: Vec<(usize, Instant)>,
    next_session: usize,
    qlog_flush: Option<Instant>,
    settings: Settings,
}

impl Server {
    fn start(settings: Settings) -> Outcome<Self> {
        let content = Content::load(&PathBuf::from(text("WWW")?))?;
        let config = endpoint::server(&settings)?;
        let socket = Socket::bind(settings.address, &settings)?;
        note(describe(&socket, socket.local(), content.count())?);
        Ok(Self {
            config,
            http_config: h3::Config::new().context(|| "HTTP/3".into())?,
            content,
            outbox: Outbox::new(settings.gso, socket.local()),
            socket,
            sessions: HashMap::new(),
            routes: HashMap::new(),
            retired: Vec::new(),
            next_session: 0,
            qlog_flush: None,
            settings,
        })
    }

    fn run(&mut self, signals: &SignalFd) -> Outcome<()> {
        let mut buffer = vec![0; RECEIVE_BYTES];
        let mut more = false;
        loop {
            let until = if more {
                Some(Instant::now())
            } else {
                self.due()
            };
            if wait::wait(
                &self.socket,
                Some(signals.as_fd()),
                self.outbox.is_stuck(),
                until,
            )? {
                self.close_all();
                return Ok(());
            }
            more = self.receive(&mut buffer)?;
            self.advance();
            self.flush_qlogs();
            self.retire();
        }
    }

    fn due(&self) -> Option<Instant> {
        let sessions = self.sessions.values().filter_map(Session::due).min();
        let retired = self.retired.iter().map(|(_, at)| *at).min();
        [sessions, retired, self.qlog_flush]
            .into_iter()
            .flatten()
            .min()
    }

    /// Read a batch of datagrams. Returns whether more may wait.
    fn receive(&mut self, buffer: &mut [u8]) -> Outcome<bool> {
        for _ in 0..RECEIVE_BATCH {
            let received = self.socket.receive(buffer).context(|| "receiving".into())?;
            let Some(received) = received else {
                return Ok(false);
            };
            for datagram in buffer[..received.bytes].chunks_mut(received.segment) {
                if let Err(failure) = self.dispatch(datagram, received.from) {
                    note(format!("server: {}: {failure}", received.from));
                }
            }
        }
        Ok(true)
    }

    /// Give a datagram to its session, which an Initial packet may have to open first.
    fn dispatch(&mut self, datagram: &mut [u8], from: SocketAddr) -> Outcome<()> {
        let datagram_length = datagram.len();
        let Ok(header) = quiche::Header::from_slice(datagram, CONNECTION_ID_BYTES) else {
            return Ok(()); // Not QUIC.
        };
        let id = match self.routes.get(header.dcid.as_ref()) {
            Some(id) => *id,
            None if header.version != 0 && !quiche::version_is_supported(header.version) => {
                return self.negotiate_version(&header, from);
            }
            None if header.ty == quiche::Type::Initial
                && datagram_length >= quiche::MIN_CLIENT_INITIAL_LEN =>
            {
                self.open(&header.dcid, from)?
            }
            None => return Ok(()),
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            let info = quiche::RecvInfo {
                from,
                to: self.socket.local(),
            };
            // The library closes the connection on an error and tells the peer why.
            if let Err(error) = session.connection.recv(datagram, info) {
                note(format!("server: {from}: {error}"));
            }
        }
        Ok(())
    }

    fn negotiate_version(&self, header: &quiche::Header<'_>, to: SocketAddr) -> Outcome<()> {
        let mut out = [0; 128];
        let length = quiche::negotiate_version(&header.scid, &header.dcid, &mut out)
            .context(|| "version negotiation".into())?;
        let packet = [IoSlice::new(&out[..length])];
        self.socket
            .send(&packet, length, to)
            .context(|| "version negotiation".into())?;
        Ok(())
    }

    fn open(&mut self, original_id: &quiche::ConnectionId<'_>, from: SocketAddr) -> Outcome<usize> {
        let own_id = endpoint::connection_id()?;
        let local = self.socket.local();
        let connection = quiche::accept(&own_id, None, local, from, &mut self.config)
            .context(|| "accepting a connection".into())?;
        let session = Session::new(connection, original_id, &self.settings)?;
        let id = self.next_session;
        self.next_session += 1;
        self.routes.insert(original_id.to_vec(), id);
        self.routes.insert(own_id.to_vec(), id);
        self.sessions.insert(id, session);
        Ok(id)
    }

    fn advance(&mut self) {
        if !matches!(self.outbox.deliver(&self.socket), Ok(true)) {
            return;
        }
        let mut failed = Vec::new();
        let migrates = self.settings.on_move == OnMove::Migrate;
        for (id, session) in &mut self.sessions {
            if migrates {
                let spread = endpoint::spread_ids(&mut session.connection).unwrap_or_default();
                let routes = spread.iter().map(|own| (own.to_vec(), *id));
                self.routes.extend(routes);
            }
            let done = session.advance(
                &self.content,
                &self.http_config,
                &mut self.outbox,
                &self.socket,
            );
            match done {
                Ok(Flushed::Full) => break,
                Ok(_) => {}
                Err(failure) => {
                    note(format!("server: connection dropped: {failure}"));
                    failed.push(*id);
                }
            }
        }
        for id in failed {
            self.sessions.remove(&id);
            self.retired.push((id, Instant::now()));
        }
    }

    /// Bring qlogs to disk in time.
    fn flush_qlogs(&mut self) {
        let now = Instant::now();
        if self.qlog_flush.is_none_or(|at| at <= now) {
            let due = self.qlog_flush.take().is_some();
            for qlog in self
                .sessions
                .values()
                .filter_map(|session| session.qlog.as_ref())
            {
                match (qlog.is_dirty(), due) {
                    (false, _) => {}
                    (true, false) => self.qlog_flush = Some(now + QLOG_DELAY),
                    (true, true) => report(qlog.flush()),
                }
            }
        }
    }

    /// Forget sessions that are over; dropping one completes its qlog.
    ///
    /// Late packets of a connection are ignored for the time the library calls its draining period.
    fn retire(&mut self) {
        let now = Instant::now();
        let retired = &mut self.retired;
        self.sessions.retain(|id, session| {
            if session.is_over() {
                retired.push((*id, session.connection.timeout_instant().unwrap_or(now)));
                note(format!("connection over: {:?}", session.connection.stats()));
                if let Some(qlog) = &session.qlog {
                    report(qlog.flush());
                }
            }
            !session.is_over()
        });
        let routes = &mut self.routes;
        retired.retain(|(id, until)| {
            if *until <= now {
                routes.retain(|_, session| session != id);
            }
            *until > now
        });
    }

    /// Tell every client that the server ends, and complete the logs.
    fn close_all(&mut self) {
        for session in self.sessions.values_mut() {
            let no_error = h3::WireErrorCode::NoError as u64;
            if session
                .connection
                .close(true, no_error, b"server stops")
                .is_ok()
            {
                // A client that cannot be told will notice by its timeout.
                let _ = session.advance(
                    &self.content,
                    &self.http_config,
                    &mut self.outbox,
                    &self.socket,
                );
            }
            session.qlog.iter().for_each(|qlog| report(qlog.flush()));
        }
    }
}

fn report(written: std::io::Result<()>) {
    if let Err(error) = written {
        note(format!("server: QLOGDIR: {error}"));
    }
}
