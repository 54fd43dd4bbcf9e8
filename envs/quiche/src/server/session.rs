//! One connection of the server.

use std::time::Instant;

use quiche::h3;

use super::content::Content;
use super::responses::Responses;
use crate::failure::{Context, Outcome};
use crate::logs::{start_key_log, start_qlog, QlogFile};
use crate::outbox::{Flushed, Outbox};
use crate::pacer::Pacer;
use crate::settings::Settings;
use crate::socket::Socket;

/// The state of one connection.
pub struct Session {
    pub connection: quiche::Connection,
    pub qlog: Option<QlogFile>,
    http: Option<h3::Connection>,
    responses: Responses,
    pacer: Pacer,
    /// When the pacer lets the next packet go.
    release: Option<Instant>,
}

impl Session {
    /// Wrap a connection that was just accepted under the identifier `original_id`.
    pub fn new(
        mut connection: quiche::Connection, original_id: &quiche::ConnectionId<'_>,
        settings: &Settings,
    ) -> Outcome<Self> {
        start_key_log(&mut connection, settings)?;
        let qlog = start_qlog(&mut connection, settings, "server", original_id)?;
        Ok(Self {
            connection,
            qlog,
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
        [self.connection.timeout_instant(), self.release].into_iter().flatten().min()
    }

    /// Do all that can be done now: timers, requests, responses, packets.
    pub fn advance(
        &mut self, content: &Content, http_config: &h3::Config, outbox: &mut Outbox,
        socket: &Socket,
    ) -> Outcome<Flushed> {
        self.connection.on_timeout();
        self.start_http(http_config)?;
        if let Some(http) = &mut self.http {
            read_requests(&mut self.connection, http, &mut self.responses, content);
        }
        loop {
            let wrote = match &mut self.http {
                Some(http) => self.responses.write(&mut self.connection, http),
                None => false,
            };
            let flushed = outbox.flush(&mut self.connection, &mut self.pacer, socket)?;
            self.release = if let Flushed::Paced(at) = flushed { Some(at) } else { None };
            // Sending may make room for more of the responses.
            if flushed != Flushed::Idle || !wrote {
                return Ok(flushed);
            }
        }
    }

    fn start_http(&mut self, http_config: &h3::Config) -> Outcome<()> {
        let ready = self.connection.is_established() || self.connection.is_in_early_data();
        if ready && self.http.is_none() && !self.is_over() {
            let http = h3::Connection::with_transport(&mut self.connection, http_config)
                .context(|| "HTTP/3".into())?;
            self.http = Some(http);
        }
        Ok(())
    }
}

fn read_requests(
    connection: &mut quiche::Connection, http: &mut h3::Connection, responses: &mut Responses,
    content: &Content,
) {
    let mut ignored = [0; 4096];
    loop {
        match http.poll(connection) {
            Ok((stream, h3::Event::Headers { list, .. })) => {
                responses.answer(stream, &list, content);
            },
            Ok((stream, h3::Event::Data)) => {
                while http.recv_body(connection, stream, &mut ignored).is_ok() {}
            },
            Ok((stream, h3::Event::Reset(_))) => responses.cancel(stream),
            Ok(_) => {},
            // An error of the protocol has closed the connection; its packets go out as usual.
            Err(_) => return,
        }
    }
}
