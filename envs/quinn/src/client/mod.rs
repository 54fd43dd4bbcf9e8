//! Client that loads one page over one connection, or goes on over another when its address changes.

mod address;
mod dialler;
mod fetch;
mod link;
mod load;

use std::net::Ipv4Addr;
use std::path::PathBuf;

use contract::environment::text;
use contract::gate::Gate;
use contract::page::Page;
use contract::requests::Requests;
use contract::settings::{Connection, Role, Scheduling, Settings};
use contract::timing::{Clock, Negotiated, Timing};
use contract::{Failure, Outcome};

use crate::{run, ABILITIES};
use address::Address;
use dialler::{Dialler, Local, Session};
use load::Load;

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(&ABILITIES, Role::Client)?;
    // Read again for every connection: what is wrong is said before the gate.
    Scheduling::from_environment()?;
    let requests = Requests::from_environment(&settings)?;
    let timing_path = PathBuf::from(text("TIMING")?);
    run(async move {
        let dialler = Dialler::new(&settings)?;
        if settings.connection != Connection::Cold {
            prime(&dialler, requests.prime()?)
                .await
                .map_err(|failure| Failure::new(format!("priming connection: {failure}")))?;
        }
        let local = dialler.local(Ipv4Addr::UNSPECIFIED)?;
        let address = Address::new(Gate::pass()?);
        let timing = load(&dialler, local, address, requests).await?;
        timing.write(&timing_path)
    })
}

/// Fetch `/prime` on a connection of its own, for its session ticket.
async fn prime(dialler: &Dialler<'_>, requests: Requests) -> Outcome<()> {
    let local = dialler.local(Ipv4Addr::UNSPECIFIED)?;
    let title = "client, priming connection";
    let mut load = Load::begin(dialler, local, Session::New, title, Page::new(requests)).await?;
    let done = load.run(None).await;
    let ticket = tokio::time::timeout(dialler.settings.idle_timeout, dialler.tickets.arrived());
    let arrived = done.is_ok() && ticket.await.is_ok();
    load.close().await?;
    done?;
    if arrived {
        return Ok(());
    }
    Err(Failure::new("the server gave no session ticket"))
}

async fn load(
    dialler: &Dialler<'_>,
    local: Local,
    mut address: Address,
    requests: Requests,
) -> Outcome<Timing> {
    let settings = dialler.settings;
    let clock = Clock::read();
    let session = match settings.connection {
        Connection::Cold => Session::New,
        Connection::Resumed => Session::Resumed,
        Connection::ZeroRtt => Session::EarlyData,
    };
    let mut load = Load::begin(dialler, local, session, "client", Page::new(requests)).await?;
    if let Err(failure) = load.run(Some(&mut address)).await {
        load.close().await?;
        return Err(failure);
    }
    let first = load.first;
    let (page, connections) = load.close().await?;
    // rustls does not tell through quinn, but where only one is offered, it is that one.
    let negotiated = Negotiated::new(settings, settings.cipher.tls_name());
    Timing::of(settings, &clock, &first, connections, negotiated, page)
}
