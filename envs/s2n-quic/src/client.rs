//! Client that loads one page over one connection.

use std::cell::RefCell;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use contract::end::{End, NO_ERROR};
use contract::environment::text;
use contract::gate::Gate;
use contract::page::Page;
use contract::refusal::Ear;
use contract::requests::Requests;
use contract::settings::{Protocol, Role, Settings};
use contract::socket::plain;
use contract::timing::{Clock, Facts, Negotiated, Timing};
use contract::{Context, Failure, Outcome};
use s2n_quic::client::Connect;
use s2n_quic::connection::{self, Handle};
use s2n_quic::provider::{congestion_controller, tls as tls_provider};
use s2n_quic::{Client, Connection};

use crate::binding::{application_error, Transport};
use crate::fetch::{self, Http};
use crate::transport::{io, limits, Control};
use crate::{run, settings, tls};

/// How long the news that the connection is over may take to leave.
const FAREWELL: Duration = Duration::from_millis(20);

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = settings(Role::Client)?;
    let requests = Requests::from_environment(&settings)?;
    if requests.moves > 0 {
        let moves = requests.moves;
        return Err(Failure::NotSupported(format!(
            "MOVES={moves}; this client follows none"
        )));
    }
    let path = PathBuf::from(text("TIMING")?);
    run(async move {
        let socket = plain((Ipv4Addr::UNSPECIFIED, 0).into(), &settings)?;
        let ear = Ear::new(&socket, settings.address)?;
        let client = match Control::new(&settings) {
            Control::Cubic(control) => start(&settings, socket, control)?,
            Control::Bbr(control) => start(&settings, socket, control)?,
        };
        Gate::pass()?;
        load(&client, &ear, &settings, requests).await?.write(&path)
    })
}

fn start(
    settings: &Settings,
    socket: UdpSocket,
    control: impl congestion_controller::Provider,
) -> Outcome<Client> {
    let tls = tls_provider::rustls::Client::from(tls::client(settings)?);
    Client::builder()
        .with_io(io(socket, settings)?)
        .and_then(|builder| builder.with_tls(tls))
        .context(|| "TLS".into())?
        .with_limits(limits(settings)?)
        .context(|| "limits".into())?
        .with_congestion_controller(control)
        .context(|| "congestion control".into())?
        .start()
        .context(|| "UDP socket".into())
}

async fn load(
    client: &Client,
    ear: &Ear,
    settings: &Settings,
    requests: Requests,
) -> Outcome<Timing> {
    let page = RefCell::new(Page::new(requests));
    let clock = Clock::read();
    let start = Instant::now();
    let connect = Connect::new(settings.address).with_server_name(settings.host.as_str());
    let connection = tokio::select! { biased;
        connected = client.connect(connect) => connected.map_err(|error| end(&error)),
        () = ear.refused() => Err(End::Refused),
    };
    let connection = connection.map_err(|end| end.failure(settings, false))?;
    let handshake = start.elapsed();
    let handle = connection.handle();
    let loaded = exchange(connection, settings, &page).await;
    let ended = ended(&handle);
    handle.close(application_error(NO_ERROR));
    // A server that cannot be told has its timeout.
    let _ = tokio::time::timeout(FAREWELL, client.clone().wait_idle()).await;
    loaded.map_err(|failure| match ended {
        Some(error) => end(&error).failure(settings, true),
        None => failure,
    })?;
    let first = Facts {
        start,
        handshake: Some(handshake),
        resumed: false,
        early_data: false,
    };
    let negotiated = Negotiated::new(settings, settings.cipher.tls_name());
    Timing::of(settings, &clock, &first, 1, negotiated, page.into_inner())
}

/// Speak the protocol until the page is complete.
async fn exchange(
    connection: Connection,
    settings: &Settings,
    page: &RefCell<Page>,
) -> Outcome<()> {
    if settings.protocol == Protocol::Hq {
        return fetch::all(&Http::Hq(connection.handle()), page).await;
    }
    let mut builder = h3::client::builder();
    let started = builder.send_grease(false).build(Transport::new(connection));
    let (mut driver, requests) = started.await.context(|| "HTTP/3".into())?;
    let http = Http::H3(requests);
    tokio::select! { biased;
        loaded = fetch::all(&http, page) => loaded,
        error = driver.wait_idle() => Err(Failure::new(format!("HTTP/3: {error}"))),
    }
}

/// Why the connection is over, if it is.
fn ended(handle: &Handle) -> Option<connection::Error> {
    handle.clone().ping().err()
}

fn end(error: &connection::Error) -> End {
    match error {
        connection::Error::Transport {
            code,
            reason,
            initiator,
            ..
        } => End::Closed {
            by_peer: initiator.is_remote(),
            application: false,
            code: code.as_u64(),
            reason: (*reason).to_owned(),
        },
        connection::Error::Application {
            error, initiator, ..
        } => End::Closed {
            by_peer: initiator.is_remote(),
            application: true,
            code: u64::from(*error),
            reason: String::new(),
        },
        connection::Error::StatelessReset { .. } => End::Reset,
        connection::Error::IdleTimerExpired { .. }
        | connection::Error::MaxHandshakeDurationExceeded { .. } => End::Silent,
        other => End::Closed {
            by_peer: false,
            application: true,
            code: NO_ERROR,
            reason: other.to_string(),
        },
    }
}
