//! Client that loads one page over one connection, or goes on over another when its address changes.

mod http;
mod link;
mod load;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use contract::environment::text;
use contract::gate::Gate;
use contract::page::Page;
use contract::requests::Requests;
use contract::settings::{Connection, Settings};
use contract::socket::Socket;
use contract::timing::{Clock, Negotiated, Timing};
use contract::{wait, Failure, Outcome};

use crate::ABILITIES;
use link::{Dialler, Session};
use load::Load;

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(&ABILITIES)?;
    let requests = Requests::from_environment(&settings)?;
    let timing_path = PathBuf::from(text("TIMING")?);
    wait::exact_timers()?;
    let dialler = Dialler::new(&settings)?;
    let ticket = match settings.connection {
        Connection::Cold => None,
        Connection::Resumed | Connection::ZeroRtt => {
            Some(prime(Dialler::new(&settings)?, &requests)?)
        }
    };
    let socket = Socket::connected(Ipv4Addr::UNSPECIFIED, &settings)?;
    let gate = Gate::pass()?;
    load(dialler, socket, gate, ticket, requests)?.write(&timing_path)
}

fn load(
    mut dialler: Dialler<'_>,
    socket: Socket,
    gate: Gate,
    ticket: Option<Vec<u8>>,
    requests: Requests,
) -> Outcome<Timing> {
    let settings = dialler.settings;
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
    Ok(Timing {
        protocol: settings.protocol.name(),
        start: clock.unix(first.start)?,
        handshake_s: first.handshake.as_ref().map(Duration::as_secs_f64),
        resumed: first.resumed,
        early_data: first.early_data,
        connections,
        // The library does not tell the cipher; the group is the first one offered.
        negotiated: Negotiated {
            cipher: None,
            group: Some(settings.group.clone()),
            congestion_control: settings.congestion_control.clone(),
        },
        objects: page.timings(first.start),
    })
}

/// Fetch `/prime` on a connection of its own; return the ticket that the server gave.
fn prime(mut dialler: Dialler<'_>, requests: &Requests) -> Outcome<Vec<u8>> {
    let socket = Socket::connected(Ipv4Addr::UNSPECIFIED, dialler.settings)?;
    let link = dialler.dial(socket, &Session::default(), "client, priming connection")?;
    let mut load = Load::new(dialler, link, Page::new(requests.prime()?));
    load.for_ticket = true;
    load.run(None)
        .map_err(|failure| Failure::new(format!("priming connection: {failure}")))?;
    let ticket = load.ticket();
    load.close()?;
    ticket.ok_or_else(|| Failure::new("the server gave no session ticket"))
}
