//! What is spoken on a connection of the client.

use std::collections::HashMap;

use contract::page::Page;
use contract::polled::Dialect;
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

enum Language {
    H3(Box<h3::Connection>),
    /// HTTP/0.9, and the stream of its next request.
    Hq(u64),
}

/// The language of a connection, and room for what is read.
pub struct Http {
    language: Language,
    buffer: Vec<u8>,
}

impl Http {
    /// Begin to speak on a connection.
    pub fn start(protocol: Protocol, connection: &mut quiche::Connection) -> Outcome<Self> {
        let language = match protocol {
            Protocol::Hq => Language::Hq(0),
            Protocol::H3 => h3::Config::new()
                .and_then(|config| h3::Connection::with_transport(connection, &config))
                .context(|| "HTTP/3".into())
                .map(|http| Language::H3(Box::new(http)))?,
        };
        Ok(Self {
            language,
            buffer: vec![0; READ_BYTES],
        })
    }
}

impl Dialect for Http {
    type Connection = quiche::Connection;

    fn ask(
        &mut self,
        connection: &mut quiche::Connection,
        url: &Url,
        from: u64,
    ) -> Outcome<Option<u64>> {
        let asked = match &mut self.language {
            Language::H3(http) => http.send_request(connection, &request_headers(url, from), true),
            Language::Hq(next) => {
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

    fn read(
        &mut self,
        connection: &mut quiche::Connection,
        streams: &HashMap<u64, usize>,
        page: &mut Page,
    ) -> Outcome<bool> {
        let buffer = &mut self.buffer;
        match &mut self.language {
            Language::H3(http) => read_h3(connection, http, streams, page, buffer),
            Language::Hq(_) => read_hq(connection, streams, page, buffer),
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
