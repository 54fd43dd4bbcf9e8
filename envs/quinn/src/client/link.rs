//! One connection of the client.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use contract::logs::QlogFile;
use contract::settings::{Protocol, Settings};
use contract::{Context, Failure, Outcome};
use h3_quinn::OpenStreams;
use quinn::{Connection, ConnectionError, Endpoint, VarInt, ZeroRttAccepted};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use url::Url;

use super::dialler::{Dialler, Session};
use super::fetch::{fetch, Event, Sender};

/// Events that may wait before reading stops.
const WAITING_EVENTS: usize = 256;

/// How long the news that the connection is over may take to leave, beyond two round trips.
const FAREWELL: Duration = Duration::from_millis(10);

/// H3_NO_ERROR (RFC 9114, section 8.1).
const NO_ERROR: u32 = 0x100;

/// How far TLS reaches into QUIC's error codes (RFC 9001, section 4.8).
const TLS_ALERTS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// What TIMING tells of a connection.
#[derive(Clone, Copy)]
pub struct Facts {
    /// When its first packet was made.
    pub start: Instant,
    pub handshake: Option<Duration>,
    pub resumed: bool,
    pub early_data: bool,
}

/// How requests are made.
#[derive(Clone)]
pub enum Http {
    H3(h3::client::SendRequest<OpenStreams, Bytes>),
    Hq(Connection),
}

/// A connection to the server and what is under way on it.
pub struct Link {
    pub endpoint: Endpoint,
    pub connection: Connection,
    pub facts: Facts,
    pub events: mpsc::Receiver<Event>,
    /// Tells whether early data was taken, while that is not known.
    pub verdict: Option<ZeroRttAccepted>,
    http: Http,
    sender: Sender,
    tasks: JoinSet<()>,
    qlog: Option<QlogFile>,
}

impl Link {
    /// Connect. With early data the handshake is still under way when this returns.
    pub async fn open(
        dialler: &Dialler<'_>,
        endpoint: Endpoint,
        session: Session,
        title: &str,
    ) -> Outcome<Self> {
        let settings = dialler.settings;
        dialler.verifier.was_called();
        let start = Instant::now();
        let (connecting, qlog) = dialler.dial(&endpoint, session, title)?;
        let early = match session {
            Session::EarlyData => connecting.into_0rtt(),
            _ => Err(connecting),
        };
        let (connection, verdict) = match early {
            Ok((connection, verdict)) => (connection, Some(verdict)),
            Err(connecting) => {
                let limit = tokio::time::timeout(settings.idle_timeout, connecting);
                let done = limit.await.unwrap_or(Err(ConnectionError::TimedOut));
                let connection = done.map_err(|error| explain(&error, settings, false));
                (flushed(connection, &qlog)?, None)
            }
        };
        let facts = Facts {
            start,
            handshake: verdict.is_none().then(|| start.elapsed()),
            resumed: !dialler.verifier.was_called(),
            early_data: false,
        };
        let mut tasks = JoinSet::new();
        let http = start_http(settings, &connection, &mut tasks).await?;
        let (sender, events) = mpsc::channel(WAITING_EVENTS);
        Ok(Self {
            endpoint,
            connection,
            facts,
            events,
            verdict,
            http,
            sender,
            tasks,
            qlog,
        })
    }

    /// Note the end of the handshake of a connection with early data. What was asked for has to be
    /// asked for again if this returns false.
    pub async fn established(&mut self, dialler: &Dialler<'_>, accepted: bool) -> Outcome<bool> {
        self.verdict = None;
        self.facts.handshake = Some(self.facts.start.elapsed());
        self.facts.resumed = !dialler.verifier.was_called();
        self.facts.early_data = accepted;
        if !accepted && self.connection.close_reason().is_none() {
            self.tasks.shutdown().await;
            (self.sender, self.events) = mpsc::channel(WAITING_EVENTS);
            self.http = start_http(dialler.settings, &self.connection, &mut self.tasks).await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Ask for an object from byte `from` on; its events bear `number`.
    pub fn ask(&mut self, number: usize, url: &Url, from: u64) {
        let task = fetch(
            self.http.clone(),
            self.sender.clone(),
            number,
            url.clone(),
            from,
        );
        self.tasks.spawn(task);
    }

    /// Why the connection is over.
    pub fn failure(&self, settings: &Settings) -> Option<Failure> {
        let established = self.facts.handshake.is_some();
        let reason = self.connection.close_reason()?;
        Some(explain(&reason, settings, established))
    }

    /// Leave the connection without a word: its address is gone.
    pub fn abandon(mut self) -> Outcome<()> {
        self.tasks.abort_all();
        flush(&self.qlog)
    }

    /// Close the connection and complete its qlog.
    pub async fn close(mut self) -> Outcome<()> {
        let patience = 2 * self.connection.rtt() + FAREWELL;
        self.connection.close(VarInt::from_u32(NO_ERROR), b"");
        self.tasks.shutdown().await;
        // A server that cannot be told has its timeout.
        let _ = tokio::time::timeout(patience, self.endpoint.wait_idle()).await;
        flush(&self.qlog)
    }
}

async fn start_http(
    settings: &Settings,
    connection: &Connection,
    tasks: &mut JoinSet<()>,
) -> Outcome<Http> {
    if settings.protocol == Protocol::Hq {
        return Ok(Http::Hq(connection.clone()));
    }
    let mut builder = h3::client::builder();
    let transport = h3_quinn::Connection::new(connection.clone());
    let (mut driver, requests) = builder
        .send_grease(false)
        .build(transport)
        .await
        .context(|| "HTTP/3".into())?;
    tasks.spawn(async move {
        // Its error is the connection's close reason.
        driver.wait_idle().await;
    });
    Ok(Http::H3(requests))
}

fn flush(qlog: &Option<QlogFile>) -> Outcome<()> {
    qlog.as_ref()
        .map_or(Ok(()), QlogFile::flush)
        .context(|| "QLOGDIR".into())
}

/// The outcome, with the qlog on disk if it is a failure.
fn flushed<T>(outcome: Outcome<T>, qlog: &Option<QlogFile>) -> Outcome<T> {
    if outcome.is_err() {
        flush(qlog)?;
    }
    outcome
}

/// Name the cause of a connection's end where it is one a user can act on.
fn explain(error: &ConnectionError, settings: &Settings, established: bool) -> Failure {
    let peer = settings.address;
    Failure::new(match error {
        ConnectionError::TimedOut => return silence(settings.idle_timeout, peer, established),
        ConnectionError::TransportError(error) => {
            let code = u64::from(error.code);
            match code {
                1 if error.reason.contains("driver") => {
                    format!("nothing listens on UDP {peer}: connection refused")
                }
                code if TLS_ALERTS.contains(&code) => tls(code, &error.reason, settings),
                _ => format!("this end closed the connection: {error}"),
            }
        }
        ConnectionError::ConnectionClosed(close) => {
            let code = u64::from(close.error_code);
            if TLS_ALERTS.contains(&code) {
                tls(code, &String::from_utf8_lossy(&close.reason), settings)
            } else {
                format!("the server closed the connection: {close}")
            }
        }
        ConnectionError::ApplicationClosed(close) => {
            format!("the server closed the connection: HTTP error {close}")
        }
        other => other.to_string(),
    })
}

/// Nothing came for too long.
pub fn silence(patience: Duration, peer: SocketAddr, established: bool) -> Failure {
    let what = if established {
        "stalled"
    } else {
        "no handshake"
    };
    let seconds = patience.as_secs();
    Failure::new(format!("{what}: nothing from {peer} for {seconds} s"))
}

fn tls(code: u64, reason: &str, settings: &Settings) -> String {
    let alert = code - TLS_ALERTS.start();
    let host = &settings.host;
    let cause = match alert {
        42 | 43 | 46 | 48 => {
            format!("the certificate is not one of CERTS/ca.pem for HOST {host}")
        }
        45 => format!("the certificate for {host} has expired"),
        120 => format!("the server does not offer {}", settings.protocol.name()),
        _ => format!("TLS handshake failed: {reason}"),
    };
    format!("{cause} (TLS alert {alert})")
}
