//! Server of one folder, one thread, one socket.

mod session;

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use contract::content::Content;
use contract::environment::text;
use contract::logs::note;
use contract::settings::{Role, Scheduling, Settings};
use contract::socket::{describe, Socket, RECEIVE_BYTES};
use contract::{wait, Context, Outcome};
use tquic::{Endpoint, PacketInfo};

use crate::handler::{Handler, Told};
use crate::sender::Sender;
use crate::{config, ABILITIES};
use session::Session;

/// How old an event may be before it is on disk. A client's last packet can get lost, so a log
/// must be complete without it.
const QLOG_DELAY: Duration = Duration::from_millis(50);

/// Reads before anything is sent, so that neither direction starves the other.
const RECEIVE_BATCH: usize = 64;

struct Server {
    endpoint: Endpoint,
    sender: Rc<Sender>,
    told: Rc<RefCell<Told>>,
    content: Content,
    sessions: HashMap<u64, Session>,
    settings: Settings,
    scheduling: Scheduling,
}

/// Serve `WWW` until SIGTERM.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(&ABILITIES, Role::Server)?;
    let signals = wait::stop_signals()?;
    wait::exact_timers()?;
    let mut server = Server::start(settings)?;
    let mut buffer = vec![0; RECEIVE_BYTES];
    let mut flush = Instant::now() + QLOG_DELAY;
    loop {
        let timeout = server.endpoint.timeout().map(|left| Instant::now() + left);
        let logging = server.settings.qlog_dir.is_some() && !server.sessions.is_empty();
        let until = [timeout, logging.then_some(flush)];
        let stuck = server.sender.was_stuck();
        let stop = wait::wait(
            &server.sender.socket.borrow(),
            Some(signals.as_fd()),
            stuck,
            until.into_iter().flatten().min(),
        )?;
        server.endpoint.on_timeout(Instant::now());
        server.receive(&mut buffer)?;
        server.advance();
        if flush <= Instant::now() || stop {
            server.sessions.values().for_each(Session::flush);
            flush = Instant::now() + QLOG_DELAY;
        }
        if stop {
            return server.stop();
        }
    }
}

impl Server {
    fn start(settings: Settings) -> Outcome<Self> {
        let content = Content::load(&PathBuf::from(text("WWW")?))?;
        let config = config::server(&settings)?;
        let scheduling = Scheduling::from_environment()?;
        let socket = Socket::bind(settings.address, &settings)?;
        note(describe(&socket, socket.local(), content.count())?);
        let sender = Rc::new(Sender::new(socket, settings.gso));
        let told = Rc::new(RefCell::new(Told::default()));
        told.borrow_mut().title = "server".into();
        let handler = Handler {
            settings: settings.clone(),
            told: told.clone(),
        };
        let endpoint = Endpoint::new(Box::new(config), true, Box::new(handler), sender.clone());
        Ok(Self {
            endpoint,
            sender,
            told,
            content,
            sessions: HashMap::new(),
            settings,
            scheduling,
        })
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Outcome<()> {
        for _ in 0..RECEIVE_BATCH {
            let received = self.sender.socket.borrow_mut().receive(buffer);
            let Some(received) = received.context(|| "receiving".into())? else {
                return Ok(());
            };
            let info = PacketInfo {
                src: received.from,
                dst: self.settings.address,
                time: Instant::now(),
            };
            for datagram in buffer[..received.bytes].chunks_mut(received.segment) {
                self.note_original_id(datagram);
                if let Err(error) = self.endpoint.recv(datagram, &info) {
                    note(format!("server: {}: {error}", received.from));
                }
            }
        }
        Ok(())
    }

    /// The library does not tell the identifier that the client chose first. It is the destination of
    /// the packet that opens the connection (RFC 8999, section 5.1), and names the qlog.
    fn note_original_id(&mut self, datagram: &[u8]) {
        if datagram.first().is_some_and(|byte| byte & 0x80 != 0) {
            let length = datagram.get(5).copied().unwrap_or_default() as usize;
            let id = datagram.get(6..6 + length).unwrap_or_default();
            self.told.borrow_mut().original_id = id.to_vec();
        }
    }

    fn advance(&mut self) {
        loop {
            // Its error is that of a connection, which tells of it when it is closed.
            let _ = self.endpoint.process_connections();
            self.open_and_close();
            let mut wrote = false;
            for (index, session) in &mut self.sessions {
                if let Some(connection) = self.endpoint.conn_get_mut(*index) {
                    wrote |= session.advance(connection, &self.content);
                }
            }
            if !wrote {
                return;
            }
        }
    }

    fn open_and_close(&mut self) {
        let opened = std::mem::take(&mut self.told.borrow_mut().opened);
        let closed = std::mem::take(&mut self.told.borrow_mut().closed);
        for (index, qlog) in opened {
            let session = Session::new(self.settings.protocol, self.scheduling, qlog);
            self.sessions.insert(index, session);
        }
        for (index, end) in closed {
            note(format!("connection over: {end:?}"));
            if let Some(session) = self.sessions.remove(&index) {
                session.flush();
            }
        }
        // What drains is over as well: its log is complete.
        for (index, session) in &self.sessions {
            let connection = self.endpoint.conn_get_mut(*index);
            if connection.is_some_and(|connection| connection.is_draining()) {
                session.flush();
            }
        }
    }

    /// Tell every client that the server ends, and complete the logs.
    fn stop(mut self) -> Outcome<()> {
        for index in self.sessions.keys() {
            if let Some(connection) = self.endpoint.conn_get_mut(*index) {
                // One that is closed already needs no word.
                let _ = connection.close(true, session::NO_ERROR, b"server stops");
            }
        }
        let _ = self.endpoint.process_connections();
        self.sessions.values().for_each(Session::flush);
        Ok(())
    }
}
