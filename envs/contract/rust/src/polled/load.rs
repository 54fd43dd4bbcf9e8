//! A page load, over as many connections as the client's addresses ask for.

use std::net::Ipv4Addr;
use std::time::Instant;

use super::{Dialler, Link, Session};
use crate::end::End;
use crate::failure::Outcome;
use crate::gate::{stdin, Gate};
use crate::page::Page;
use crate::settings::OnMove;
use crate::socket::Socket;
use crate::timing::Facts;

/// A page and the connection it comes over.
pub struct Load<D: Dialler> {
    dialler: D,
    link: D::Link,
    page: Page,
    connections: u32,
    /// What there is to tell of the first connection, once there is a second.
    first: Option<Facts>,
    /// Whether the load is complete only when a session ticket came.
    pub for_ticket: bool,
}

impl<D: Dialler> Load<D> {
    pub fn new(dialler: D, link: D::Link, page: Page) -> Self {
        Self {
            dialler,
            link,
            page,
            connections: 1,
            first: None,
            for_ticket: false,
        }
    }

    /// Run until the page is complete.
    pub fn run(&mut self, mut gate: Option<Gate>) -> Outcome<()> {
        let patience = self.dialler.settings().idle_timeout;
        let (mut last_progress, mut asked) = (Instant::now(), false);
        loop {
            let mut release = self.link.flush()?;
            if self.link.advance(&mut self.page)? {
                last_progress = Instant::now();
            }
            if self.page.is_complete() && (!self.for_ticket || self.ticket().is_some()) {
                return Ok(());
            }
            if let (Some(gate), false) = (&gate, asked) {
                asked = self.page.move_is_due();
                if asked {
                    gate.ask_to_move()?;
                    self.link.expect_move();
                }
            }
            release = self.link.flush()?.or(release);
            self.check(last_progress)?;
            let until = release.into_iter().chain([last_progress + patience]).min();
            let told = self.link.wait(asked.then(stdin), until)?;
            if let (Some(gate), true) = (&mut gate, told) {
                if let Some(ip) = gate.moved()? {
                    asked = false;
                    self.follow(ip)?;
                }
            }
        }
    }

    /// Fail if the connection is over or nothing of the page has arrived for too long.
    fn check(&mut self, last_progress: Instant) -> Outcome<()> {
        let settings = self.dialler.settings();
        let late = last_progress.elapsed() >= settings.idle_timeout;
        let end = self.link.end().or(late.then_some(End::Silent));
        match end {
            Some(end) => {
                let established = self.link.facts().handshake.is_some();
                Err(end.failure(settings, established))
            }
            None => Ok(()),
        }
    }

    /// Go on at another address.
    fn follow(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        let session = match self.dialler.settings().on_move {
            OnMove::Migrate => return self.link.migrate(ip),
            OnMove::Reconnect => Session::default(),
            OnMove::Resume => Session {
                early_data: true,
                ticket: self.ticket(),
            },
        };
        self.page.finish_received()?;
        if self.page.is_complete() {
            return Ok(());
        }
        self.first = Some(self.first());
        let socket = Socket::connected(ip, self.dialler.settings())?;
        let title = format!("client, after move {}", self.connections);
        let link = self.dialler.dial(socket, &session, &title)?;
        self.connections += 1;
        // The old address is gone: nothing can be said on the old connection.
        std::mem::replace(&mut self.link, link).abandon()
    }

    /// What there is to tell of the first connection.
    pub fn first(&mut self) -> Facts {
        let link = &mut self.link;
        self.first.unwrap_or_else(|| link.facts())
    }

    /// The ticket to resume from, once one came.
    pub fn ticket(&mut self) -> Option<Vec<u8>> {
        self.link.ticket()
    }

    /// Close the connection. Returns the page and the number of connections.
    pub fn close(self) -> Outcome<(Page, u32)> {
        self.link.close()?;
        Ok((self.page, self.connections))
    }
}
