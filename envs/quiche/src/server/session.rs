//! One connection of the server.

use std::time::Instant;

use contract::content::Content;
use contract::logs::QlogFile;
use contract::settings::Protocol;
use contract::socket::Socket;
use contract::Outcome;
use quiche::h3;

use super::http::Http;
use super::responses::Responses;
use crate::logs::start_logs;
use crate::outbox::{Flushed, Outbox};
use crate::pacer::Pacer;
use crate::settings::Settings;

/// The state of one connection.
pub struct Session {
    pub connection: quiche::Connection,
    pub qlog: Option<QlogFile>,
    protocol: Protocol,
    http: Option<Http>,
    responses: Responses,
    pacer: Pacer,
    /// When the pacer lets the next packet go.
    release: Option<Instant>,
}

impl Session {
    /// Wrap a connection that was just accepted under the identifier `original_id`.
    pub fn new(
        mut connection: quiche::Connection,
        original_id: &quiche::ConnectionId<'_>,
        settings: &Settings,
    ) -> Outcome<Self> {
        let qlog = start_logs(&mut connection, settings, "server", original_id)?;
        Ok(Self {
            connection,
            qlog,
            protocol: settings.protocol,
            http: None,
            responses: Responses::new(settings.scheduling),
            pacer: Pacer::new(settings.pacing, Instant::now()),
            release: None,
        })
    }

    /// Whether the connection is over. Nothing may be sent any more, so its log is complete.
    pub fn is_over(&self) -> bool {
        self.connection.is_closed() || self.connection.is_draining()
    }

    /// When the session wants to be called again if no packet comes.
    pub fn due(&self) -> Option<Instant> {
        [self.connection.timeout_instant(), self.release]
            .into_iter()
            .flatten()
            .min()
    }

    /// Do all that can be done now: timers, requests, responses, packets.
    pub fn advance(
        &mut self,
        content: &Content,
        http_config: &h3::Config,
        outbox: &mut Outbox,
        socket: &Socket,
    ) -> Outcome<Flushed> {
        self.connection.on_timeout();
        self.start_http(http_config)?;
        if let Some(http) = &mut self.http {
            http.read(&mut self.connection, &mut self.responses, content);
        }
        loop {
            let wrote = match &mut self.http {
                Some(http) => self.responses.write(&mut self.connection, http),
                None => false,
            };
            let flushed = outbox.flush(&mut self.connection, &mut self.pacer, socket)?;
            self.release = if let Flushed::Paced(at) = flushed {
                Some(at)
            } else {
                None
            };
            // Sending may make room for more of the responses.
            if flushed != Flushed::Idle || !wrote {
                return Ok(flushed);
            }
        }
    }

    fn start_http(&mut self, http_config: &h3::Config) -> Outcome<()> {
        let ready = self.connection.is_established() || self.connection.is_in_early_data();
        if ready && self.http.is_none() && !self.is_over() {
            self.http = Some(Http::start(
                self.protocol,
                &mut self.connection,
                http_config,
            )?);
        }
        Ok(())
    }
}
