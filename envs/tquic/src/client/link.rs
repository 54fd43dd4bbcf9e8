//! One connection of the client.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Instant;

use contract::end::{unreachable, End, NO_ERROR};
use contract::logs::{complete, QlogFile};
use contract::page::Page;
use contract::polled::{self, Dialler, Exchange, Session};
use contract::settings::Settings;
use contract::socket::{address_is_gone, Socket, RECEIVE_BYTES};
use contract::timing::Facts;
use contract::{wait, Context, Failure, Outcome};
use tquic::{Endpoint, PacketInfo};

use super::http::Http;
use crate::config;
use crate::handler::{closed, Handler, Told};
use crate::sender::Sender;

/// Datagrams, or what the kernel joined of several, read before they are acknowledged.
const RECEIVE_BATCH: usize = 64;

/// Makes connections to the server.
pub struct Connector<'a> {
    settings: &'a Settings,
}

impl<'a> Connector<'a> {
    pub fn new(settings: &'a Settings) -> Outcome<Self> {
        config::client(settings, settings.early_data())?;
        Ok(Self { settings })
    }
}

impl<'a> Dialler for Connector<'a> {
    type Link = Link<'a>;

    fn settings(&self) -> &Settings {
        self.settings
    }

    fn dial(&mut self, socket: Socket, session: &Session, title: &str) -> Outcome<Link<'a>> {
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
    http: Option<Exchange<Http>>,
    qlog: Option<QlogFile>,
    buffer: Vec<u8>,
    start: Instant,
    established: Option<Instant>,
    requested_early: bool,
}

impl Link<'_> {
    fn receive(&mut self) -> Outcome<()> {
        let dst = self.sender.socket.borrow().local();
        for _ in 0..RECEIVE_BATCH {
            let received = self.sender.socket.borrow_mut().receive(&mut self.buffer);
            let received = match received {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(()),
                Err(error) if self.sender.lenient.get() && address_is_gone(&error) => return Ok(()),
                Err(error) => return Err(unreachable(&error, self.settings.address)),
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
}

impl polled::Link for Link<'_> {
    fn flush(&mut self) -> Outcome<Option<Instant>> {
        // Its error is that of the connection, which tells of it when it is closed.
        let _ = self.endpoint.process_connections();
        Ok(None)
    }

    fn advance(&mut self, page: &mut Page) -> Outcome<bool> {
        let Some(connection) = self.endpoint.conn_get_mut(self.index) else {
            return Ok(false);
        };
        if self.established.is_none() && connection.is_established() {
            self.established = Some(Instant::now());
        }
        let early = connection.is_in_early_data();
        if self.http.is_none() && (early || connection.is_established()) {
            let http = Http::start(self.settings.protocol, connection)?;
            self.http = Some(Exchange::new(http, page));
            self.requested_early = early;
        }
        match &mut self.http {
            Some(http) => http.advance(connection, page),
            None => Ok(false),
        }
    }

    fn wait(&mut self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> Outcome<bool> {
        let timeout = self.endpoint.timeout().map(|left| Instant::now() + left);
        let first = [timeout, until].into_iter().flatten().min();
        let stuck = self.sender.was_stuck();
        let readable = wait::wait(&self.sender.socket.borrow(), other, stuck, first)?;
        self.endpoint.on_timeout(Instant::now());
        self.receive()?;
        Ok(readable)
    }

    fn expect_move(&mut self) {
        self.sender.lenient.set(true);
    }

    fn migrate(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        Err(Failure::NotSupported(format!("moving to {ip}")))
    }

    fn end(&mut self) -> Option<End> {
        let end = self.told.borrow_mut().closed.pop().map(|(_, end)| end);
        // One that is closing is over; the library tells so only when it has drained.
        end.or_else(|| closed(self.endpoint.conn_get_mut(self.index)?))
    }

    /// The ticket to resume from, once one came.
    fn ticket(&mut self) -> Option<Vec<u8>> {
        let connection = self.endpoint.conn_get_mut(self.index)?;
        connection.session().map(<[u8]>::to_vec)
    }

    fn facts(&mut self) -> Facts {
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

    fn abandon(self) -> Outcome<()> {
        complete(self.qlog.as_ref())
    }

    fn close(mut self) -> Outcome<()> {
        // What cannot be sent any more does not undo a load: the server has its timeout.
        let _ = self.endpoint.process_connections();
        if let Some(connection) = self.endpoint.conn_get_mut(self.index) {
            let _ = connection.close(true, NO_ERROR, b"");
        }
        let _ = self.endpoint.process_connections();
        self.abandon()
    }
}
