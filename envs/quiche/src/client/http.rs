//! What is spoken on a connection of the client.

use std::collections::HashMap;
use std::time::Instant;

use contract::page::Page;
use contract::requests::{authority, target};
use contract::settings::Protocol;
use contract::{Context, Outcome};
use quiche::h3;
use quiche::h3::NameValue;
use url::Url;

/// Bytes of a body taken from the library at once.
const READ_BYTES: usize = 1 << 16;

/// Identifiers of the streams that a client opens differ by this (RFC 9000, section 2.1).
const NEXT_STREAM: u64 = 4;

enum Dialect {
    H3(h3::Connection),
    /// HTTP/0.9, and the stream of its next request.
    Hq(u64),
}

/// The requests of one connection.
pub struct Http {
    dialect: Dialect,
    /// Numbers of objects by stream.
    streams: HashMap<u64, usize>,
    /// Objects to ask for again, from the byte reached.
    again: Vec<usize>,
    buffer: Vec<u8>,
}

impl Http {
    /// Start on a connection; what is incomplete of the page is asked for again.
    pub fn start(
        protocol: Protocol,
        connection: &mut quiche::Connection,
        page: &Page,
    ) -> Outcome<Self> {
        let dialect = match protocol {
            Protocol::Hq => Dialect::Hq(0),
            Protocol::H3 => h3::Config::new()
                .and_then(|config| h3::Connection::with_transport(connection, &config))
                .context(|| "HTTP/3".into())
                .map(Dialect::H3)?,
        };
        let mut again = page.unfinished();
        again.reverse();
        Ok(Self {
            dialect,
            streams: HashMap::new(),
            again,
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Take what arrived and ask for what may be asked for.
    ///
    /// Returns whether anything arrived. Fails on an object that is missing, short or refused.
    pub fn advance(
        &mut self,
        connection: &mut quiche::Connection,
        page: &mut Page,
    ) -> Outcome<bool> {
        let progress = match &mut self.dialect {
            Dialect::H3(http) => read_h3(connection, http, &self.streams, page, &mut self.buffer)?,
            Dialect::Hq(_) => read_hq(connection, &self.streams, page, &mut self.buffer)?,
        };
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

impl Dialect {
    /// Ask for an object. Returns its stream, or nothing if the peer has to grant one first.
    fn ask(
        &mut self,
        connection: &mut quiche::Connection,
        url: &Url,
        from: u64,
    ) -> Outcome<Option<u64>> {
        let asked = match self {
            Self::H3(http) => http.send_request(connection, &request_headers(url, from), true),
            Self::Hq(next) => {
                let stream = *next;
                let line = format!("GET {}\r\n", target(url));
                match connection.stream_send(stream, line.as_bytes(), true) {
                    Ok(_) => {
                        *next += NEXT_STREAM;
                        Ok(stream)
                    }
                    Err(error) => Err(h3::Error::TransportError(error)),
                }
            }
        };
        match asked {
            Ok(stream) => Ok(Some(stream)),
            // The peer grants further streams, or the window room, when others have ended.
            Err(
                h3::Error::StreamBlocked
                | h3::Error::Done
                | h3::Error::TransportError(quiche::Error::StreamLimit | quiche::Error::Done),
            ) => Ok(None),
            Err(error) => Err(error).context(|| format!("{}: request", url.path())),
        }
    }
}

fn read_h3(
    connection: &mut quiche::Connection,
    http: &mut h3::Connection,
    streams: &HashMap<u64, usize>,
    page: &mut Page,
    buffer: &mut [u8],
) -> Outcome<bool> {
    let mut progress = false;
    loop {
        let (stream, event) = match http.poll(connection) {
            Ok(polled) => polled,
            Err(h3::Error::Done) => return Ok(progress),
            Err(error) => return Err(error).context(|| "HTTP/3".into()),
        };
        let Some(number) = streams.get(&stream).copied() else {
            continue;
        };
        progress = true;
        match event {
            h3::Event::Headers { list, .. } => {
                // Trailers have no status.
                if let Some(status) = field(&list, b":status").and_then(|text| text.parse().ok()) {
                    let length = field(&list, b"content-length");
                    let length = length.and_then(|text| text.parse().ok());
                    page.object(number).head(status, length)?;
                }
            }
            h3::Event::Data => {
                while let Ok(bytes) = http.recv_body(connection, stream, buffer) {
                    page.object(number).take(&buffer[..bytes]);
                }
            }
            h3::Event::Finished => page.finish(number)?,
            h3::Event::Reset(code) => return Err(page.reset(number, code)),
            h3::Event::PriorityUpdate | h3::Event::GoAway => {}
        }
    }
}

fn read_hq(
    connection: &mut quiche::Connection,
    streams: &HashMap<u64, usize>,
    page: &mut Page,
    buffer: &mut [u8],
) -> Outcome<bool> {
    let mut progress = false;
    for stream in connection.readable() {
        let Some(number) = streams.get(&stream).copied() else {
            continue;
        };
        progress = true;
        loop {
            let (bytes, end) = match connection.stream_recv(stream, buffer) {
                Ok(read) => read,
                Err(quiche::Error::StreamReset(code)) => return Err(page.reset(number, code)),
                Err(_) => break,
            };
            page.object(number).take_unannounced(&buffer[..bytes]);
            if end {
                page.finish(number)?;
                break;
            }
        }
    }
    Ok(progress)
}

fn field<'a>(headers: &'a [h3::Header], name: &[u8]) -> Option<&'a str> {
    let header = headers.iter().find(|header| header.name() == name)?;
    std::str::from_utf8(header.value()).ok()
}

fn request_headers(url: &Url, from: u64) -> Vec<h3::Header> {
    let mut headers = vec![
        h3::Header::new(b":method", b"GET"),
        h3::Header::new(b":scheme", b"https"),
        h3::Header::new(b":authority", authority(url).as_bytes()),
        h3::Header::new(b":path", target(url).as_bytes()),
        h3::Header::new(b"user-agent", b"howquick-quiche"),
    ];
    if from > 0 {
        let range = format!("bytes={from}-");
        headers.push(h3::Header::new(b"range", range.as_bytes()));
    }
    headers
}
