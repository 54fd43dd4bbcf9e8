//! A page load, over as many connections as the client's addresses ask for.

use std::net::Ipv4Addr;
use std::time::Instant;

use contract::gate::{stdin, Gate};
use contract::page::Page;
use contract::settings::OnMove;
use contract::socket::Socket;
use contract::Outcome;

use super::link::{Dialler, Facts, Link, Session};

/// A page and the connection it comes over.
pub struct Load<'a> {
    dialler: Dialler<'a>,
    link: Link<'a>,
    page: Page,
    connections: u32,
    /// What there is to tell of the first connection, once there is a second.
    first: Option<Facts>,
    /// Whether the load is complete only when a session ticket came.
    pub for_ticket: bool,
}

impl<'a> Load<'a> {
    pub fn new(dialler: Dialler<'a>, link: Link<'a>, page: Page) -> Self {
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
        let patience = self.dialler.settings.idle_timeout;
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
            self.link.check(last_progress)?;
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

    /// Go on at another address.
    fn follow(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        let session = match self.dialler.settings.on_move {
            OnMove::Migrate => return self.link.migrate(ip),
            OnMove::Reconnect => Session::default(),
            OnMove::Resume => Session {
                early_data: true,
                ticket: self.ticket(),
            },
        };
        self.first = Some(self.first());
        let socket = Socket::connected(ip, self.dialler.settings)?;
        let title = format!("client, after move {}", self.connections);
        let link = self.dialler.dial(socket, &session, &title)?;
        self.connections += 1;
        // The old address is gone: nothing can be said on the old connection.
        std::mem::replace(&mut self.link, link).abandon()
    }

    /// What there is to tell of the first connection.
    pub fn first(&self) -> Facts {
        self.first.unwrap_or_else(|| self.link.facts())
    }

    /// The ticket to resume from, once one came.
    pub fn ticket(&self) -> Option<Vec<u8>> {
        self.link.ticket()
    }

    /// Close the connection. Returns the page and the number of connections.
    pub fn close(self) -> Outcome<(Page, u32)> {
        self.link.close()?;
        Ok((self.page, self.connections))
    }
}
