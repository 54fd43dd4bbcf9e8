//! A page load, over as many connections as the client's addresses ask for.

use std::future::pending;
use std::net::Ipv4Addr;
use std::time::Instant;

use contract::end::End;
use contract::page::Page;
use contract::settings::OnMove;
use contract::timing::Facts;
use contract::{Context, Failure, Outcome};
use quinn::ZeroRttAccepted;

use super::address::Address;
use super::dialler::{Dialler, Local, Session};
use super::fetch::Event;
use super::link::Link;

/// A page and the connection it comes over.
pub struct Load<'a> {
    dialler: &'a Dialler<'a>,
    page: Page,
    link: Link,
    connections: u32,
    /// What there is to tell of the first connection.
    pub first: Facts,
}

impl<'a> Load<'a> {
    /// Connect; nothing is asked for yet.
    pub async fn begin(
        dialler: &'a Dialler<'a>,
        local: Local,
        session: Session,
        title: &str,
        page: Page,
    ) -> Outcome<Self> {
        let link = Link::open(dialler, local, session, title).await?;
        Ok(Self {
            dialler,
            page,
            first: link.facts,
            link,
            connections: 1,
        })
    }

    /// Run until the page and every handshake are complete.
    pub async fn run(&mut self, mut address: Option<&mut Address>) -> Outcome<()> {
        let patience = self.dialler.settings.idle_timeout;
        let mut last_progress = Instant::now();
        self.request();
        while !self.page.is_complete() || self.link.verdict.is_some() {
            let moved = match &mut address {
                Some(address) => tokio::select! { biased;
                    moved = address.changed() => Some(moved?),
                    stepped = self.step(last_progress + patience) => { stepped?; None }
                },
                None => {
                    self.step(last_progress + patience).await?;
                    None
                }
            };
            last_progress = Instant::now();
            if let Some(moved) = moved {
                self.follow(moved).await?;
            }
            self.request();
            if let Some(address) = &mut address {
                if !address.is_asked() && self.page.move_is_due() {
                    address.ask()?;
                }
            }
        }
        Ok(())
    }

    /// Wait for something of the page or the handshake, and take it.
    async fn step(&mut self, until: Instant) -> Outcome<()> {
        let established = self.link.facts.handshake.is_some();
        tokio::select! { biased;
            accepted = verdict(&mut self.link.verdict) => self.established(accepted).await,
            event = self.link.events.recv() => match event {
                Some(event) => self.take(event),
                None => Ok(()),
            },
            () = tokio::time::sleep_until(until.into()) => {
                let settings = self.dialler.settings;
                Err(End::Silent.failure(settings, established))
            }
        }
    }

    fn request(&mut self) {
        while let Some(url) = self.page.next().cloned() {
            let number = self.page.asked(Instant::now());
            self.link.ask(number, &url, 0);
        }
    }

    fn take(&mut self, event: Event) -> Outcome<()> {
        match event {
            Event::Head(number, status, length) => self.page.object(number).head(status, length),
            Event::Data(number, bytes) => {
                self.page.object(number).take(&bytes);
                Ok(())
            }
            Event::End(number) => self.page.finish(number),
            // Early data that is not taken is asked for again when that is known.
            Event::Failed(..) if self.link.verdict.is_some() => Ok(()),
            Event::Failed(number, reason) => {
                let path = self.page.object(number).url.path().to_owned();
                let cause = self.link.failure(self.dialler.settings);
                Err(cause.unwrap_or_else(|| Failure::new(format!("{path}: {reason}"))))
            }
        }
    }

    async fn established(&mut self, accepted: bool) -> Outcome<()> {
        let usable = self.link.established(self.dialler, accepted).await?;
        if self.connections == 1 {
            self.first = self.link.facts;
        }
        if let Some(failure) = self.link.failure(self.dialler.settings) {
            return Err(failure);
        }
        if !usable {
            self.ask_again();
        }
        Ok(())
    }

    /// Go on at another address.
    async fn follow(&mut self, ip: Ipv4Addr) -> Outcome<()> {
        let session = match self.dialler.settings.on_move {
            OnMove::Migrate => {
                let (socket, _) = self.dialler.socket(ip)?;
                let rebound = self.link.endpoint.rebind(socket);
                return rebound.context(|| format!("moving to {ip}"));
            }
            OnMove::Reconnect => Session::New,
            OnMove::Resume => Session::EarlyData,
        };
        self.page.finish_received()?;
        if self.page.is_complete() {
            return Ok(());
        }
        let local = self.dialler.local(ip)?;
        let title = format!("client, after move {}", self.connections);
        let link = Link::open(self.dialler, local, session, &title).await?;
        self.connections += 1;
        std::mem::replace(&mut self.link, link).abandon()?;
        self.ask_again();
        Ok(())
    }

    /// Ask for all that is incomplete from the byte reached.
    fn ask_again(&mut self) {
        for number in self.page.unfinished() {
            let object = self.page.object(number);
            let from = object.ask_again();
            let url = object.url.clone();
            self.link.ask(number, &url, from);
        }
    }

    /// Close the connection. Returns the page and the number of connections.
    pub async fn close(self) -> Outcome<(Page, u32)> {
        self.link.close().await?;
        Ok((self.page, self.connections))
    }
}

/// Whether early data was taken, once that is known.
async fn verdict(waiting: &mut Option<ZeroRttAccepted>) -> bool {
    match waiting {
        Some(accepted) => accepted.await,
        None => pending().await,
    }
}
