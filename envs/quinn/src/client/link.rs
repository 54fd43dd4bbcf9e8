//! One connection of the client.

use std::time::{Duration, Instant};

use bytes::Bytes;
use contract::end::{End, NO_ERROR};
use contract::logs::{complete, QlogFile};
use contract::settings::{Protocol, Settings};
use contract::timing::Facts;
use contract::{Context, Failure, Outcome};
use h3_quinn::OpenStreams;
use quinn::{Connection, ConnectionError, Endpoint, VarInt, ZeroRttAccepted};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use url::Url;

use super::dialler::{Dialler, Local, Session};
use super::fetch::{fetch, Event, Sender};

/// Events that may wait before reading stops.
const WAITING_EVENTS: usize = 256;

/// How long the news that the connection is over may take to leave, beyond two round trips.
const FAREWELL: Duration = Duration::from_millis(10);

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
        local: Local,
        session: Session,
        title: &str,
    ) -> Outcome<Self> {
        let settings = dialler.settings;
        dialler.verifier.was_called();
        let start = Instant::now();
        let (connecting, qlog) = dialler.dial(&local.endpoint, session, title)?;
        let early = match session {
            Session::EarlyData => connecting.into_0rtt(),
            _ => Err(connecting),
        };
        let (connection, verdict) = match early {
            Ok((connection, verdict)) => (connection, Some(verdict)),
            Err(connecting) => {
                let limit = tokio::time::timeout(settings.idle_timeout, connecting);
                let connection = tokio::select! { biased;
                    done = limit => done
                        .unwrap_or(Err(ConnectionError::TimedOut))
                        .map_err(|error| explain(&error, settings, false)),
                    () = local.ear.refused() => Err(End::Refused.failure(settings, false)),
                };
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
            endpoint: local.endpoint,
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
        complete(self.qlog.as_ref())
    }

    /// Close the connection and complete its qlog.
    pub async fn close(mut self) -> Outcome<()> {
        let patience = 2 * self.connection.rtt() + FAREWELL;
        self.connection
            .close(VarInt::from_u32(NO_ERROR as u32), b"");
        self.tasks.shutdown().await;
        // A server that cannot be told has its timeout.
        let _ = tokio::time::timeout(patience, self.endpoint.wait_idle()).await;
        complete(self.qlog.as_ref())
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

/// The outcome, with the qlog on disk if it is a failure.
fn flushed<T>(outcome: Outcome<T>, qlog: &Option<QlogFile>) -> Outcome<T> {
    if outcome.is_err() {
        complete(qlog.as_ref())?;
    }
    outcome
}

/// Name the cause of a connection's end where it is one a user can act on.
fn explain(error: &ConnectionError, settings: &Settings, established: bool) -> Failure {
    let closed = |by_peer, application, code, reason: &[u8]| End::Closed {
        by_peer,
        application,
        code,
        reason: String::from_utf8_lossy(reason).into_owned(),
    };
    let end = match error {
        ConnectionError::TimedOut => End::Silent,
        ConnectionError::Reset => End::Reset,
        ConnectionError::TransportError(error) => {
            closed(false, false, error.code.into(), error.reason.as_bytes())
        }
        ConnectionError::ConnectionClosed(close) => {
            closed(true, false, close.error_code.into(), &close.reason)
        }
        ConnectionError::ApplicationClosed(close) => {
            closed(true, true, close.error_code.into(), &close.reason)
        }
        other => return Failure::new(other.to_string()),
    };
    end.failure(settings, established)
}
