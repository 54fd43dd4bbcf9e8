//! The client of a library that is polled: it prepares, passes the gate, loads and tells the times.

mod exchange;
mod load;

use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Instant;

use crate::end::End;
use crate::environment::text;
use crate::failure::{Failure, Outcome};
use crate::gate::Gate;
use crate::page::Page;
use crate::requests::Requests;
use crate::settings::{Connection, Settings};
use crate::socket::Socket;
use crate::timing::{Clock, Facts, Negotiated, Timing};
use crate::wait;
pub use exchange::{Dialect, Exchange};
use load::Load;

/// What a connection starts from.
#[derive(Default)]
pub struct Session {
    pub early_data: bool,
    pub ticket: Option<Vec<u8>>,
}

/// Makes connections to the server.
pub trait Dialler {
    type Link: Link;

    fn settings(&self) -> &Settings;

    /// Prepare a connection; nothing is sent yet. Its qlog bears `title`.
    fn dial(&mut self, socket: Socket, session: &Session, title: &str) -> Outcome<Self::Link>;
}

/// A connection to the server and the HTTP on it.
pub trait Link {
    /// Send what is due. Returns when the pacer lets the next packet go, if it holds one back.
    fn flush(&mut self) -> Outcome<Option<Instant>>;

    /// Take what arrived of the page and ask for more of it. Returns whether anything arrived.
    fn advance(&mut self, page: &mut Page) -> Outcome<bool>;

    /// Wait until something arrives, `until` is reached or `other` has data, and take what arrived.
    /// Returns whether `other` has data.
    fn wait(&mut self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> Outcome<bool>;

    /// Note that the address is going away: what cannot be sent is lost.
    fn expect_move(&mut self);

    /// Move the connection to another address.
    fn migrate(&mut self, ip: Ipv4Addr) -> Outcome<()>;

    /// Why the connection is over, if it is.
    fn end(&mut self) -> Option<End>;

    /// The ticket to resume from, once one came.
    fn ticket(&mut self) -> Option<Vec<u8>>;

    fn facts(&mut self) -> Facts;

    /// Leave the connection without a word, and complete its qlog.
    fn abandon(self) -> Outcome<()>;

    /// Close the connection without waiting for the peer, and complete its qlog.
    fn close(self) -> Outcome<()>;
}

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main<D: Dialler>(settings: &Settings, dialler: impl Fn() -> Outcome<D>) -> Outcome<()> {
    let requests = Requests::from_environment(settings)?;
    let timing_path = PathBuf::from(text("TIMING")?);
    wait::exact_timers()?;
    let prepared = dialler()?;
    let ticket = match settings.connection {
        Connection::Cold => None,
        Connection::Resumed | Connection::ZeroRtt => Some(prime(dialler()?, &requests)?),
    };
    let socket = Socket::connected(Ipv4Addr::UNSPECIFIED, settings)?;
    let gate = Gate::pass()?;
    load(prepared, socket, gate, ticket, requests)?.write(&timing_path)
}

fn load<D: Dialler>(
    mut dialler: D,
    socket: Socket,
    gate: Gate,
    ticket: Option<Vec<u8>>,
    requests: Requests,
) -> Outcome<Timing> {
    let settings = dialler.settings().clone();
    let clock = Clock::read();
    let session = Session {
        early_data: settings.connection == Connection::ZeroRtt,
        ticket,
    };
    let link = dialler.dial(socket, &session, "client")?;
    let mut load = Load::new(dialler, link, Page::new(requests));
    if let Err(failure) = load.run(Some(gate)) {
        load.close()?;
        return Err(failure);
    }
    let first = load.first();
    let (page, connections) = load.close()?;
    // The library does not tell the cipher; the group is the first one offered.
    let negotiated = Negotiated::new(&settings, None);
    Timing::of(&settings, &clock, &first, connections, negotiated, page)
}

/// Fetch `/prime` on a connection of its own; return the ticket that the server gave.
fn prime<D: Dialler>(mut dialler: D, requests: &Requests) -> Outcome<Vec<u8>> {
    let socket = Socket::connected(Ipv4Addr::UNSPECIFIED, dialler.settings())?;
    let link = dialler.dial(socket, &Session::default(), "client, priming connection")?;
    let mut load = Load::new(dialler, link, Page::new(requests.prime()?));
    load.for_ticket = true;
    load.run(None)
        .map_err(|failure| Failure::new(format!("priming connection: {failure}")))?;
    let ticket = load.ticket();
    load.close()?;
    ticket.ok_or_else(|| Failure::new("the server gave no session ticket"))
}
