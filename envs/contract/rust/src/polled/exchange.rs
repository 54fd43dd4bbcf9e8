//! The requests of one connection.

use std::collections::HashMap;
use std::time::Instant;

use url::Url;

use crate::failure::Outcome;
use crate::page::Page;

/// How one library speaks a protocol.
pub trait Dialect {
    type Connection;

    /// Ask for an object from byte `from` on. Returns its stream, or nothing if the peer has to grant one first.
    fn ask(
        &mut self,
        connection: &mut Self::Connection,
        url: &Url,
        from: u64,
    ) -> Outcome<Option<u64>>;

    /// Take what arrived of the objects, whose numbers are known by their `streams`. Returns whether
    /// anything arrived. Fails on an object that is missing, short or refused.
    fn read(
        &mut self,
        connection: &mut Self::Connection,
        streams: &HashMap<u64, usize>,
        page: &mut Page,
    ) -> Outcome<bool>;
}

/// What was asked for on a connection.
pub struct Exchange<D> {
    dialect: D,
    /// Numbers of objects by stream.
    streams: HashMap<u64, usize>,
    /// Objects to ask for again, from the byte reached; the next one last.
    again: Vec<usize>,
}

impl<D: Dialect> Exchange<D> {
    /// Start on a connection; what is incomplete of the page is asked for again.
    pub fn new(dialect: D, page: &Page) -> Self {
        Self {
            dialect,
            streams: HashMap::new(),
            again: page.unfinished().into_iter().rev().collect(),
        }
    }

    /// Take what arrived and ask for what may be asked for. Returns whether anything arrived.
    pub fn advance(&mut self, connection: &mut D::Connection, page: &mut Page) -> Outcome<bool> {
        let progress = self.dialect.read(connection, &self.streams, page)?;
        while let Some(number) = self.again.last().copied() {
            let object = page.object(number);
            let (url, from) = (object.url.clone(), object.ask_again());
            let Some(stream) = self.dialect.ask(connection, &url, from)? else {
                return Ok(progress);
            };
            self.streams.insert(stream, number);
            self.again.pop();
        }
        while let Some(url) = page.next() {
            let start = Instant::now();
            let Some(stream) = self.dialect.ask(connection, url, 0)? else {
                break;
            };
            self.streams.insert(stream, page.asked(start));
        }
        Ok(progress)
    }
}
