//! What is spoken on a connection of the client.

use std::collections::HashMap;

use bytes::Bytes;
use contract::page::Page;
use contract::polled::Dialect;
use contract::requests::{authority, target};
use contract::settings::Protocol;
use contract::{Context, Outcome};
use tquic::h3::connection::Http3Connection;
use tquic::h3::{Header, Http3Config, Http3Error, Http3Event, NameValue};
use tquic::{Connection, Error};
use url::Url;

/// Bytes of a body taken from the library at once.
const READ_BYTES: usize = 1 << 16;

/// The library's urgency for a request that names none (RFC 9218, section 4.1: 3).
const URGENCY: u8 = 3;

/// The language of a connection, HTTP/0.9 without HTTP/3, and room for what is read.
pub struct Http {
    h3: Option<Http3Connection>,
    buffer: Vec<u8>,
}

impl Http {
    /// Begin to speak on a connection.
    pub fn start(protocol: Protocol, connection: &mut Connection) -> Outcome<Self> {
        let h3 = match protocol {
            Protocol::Hq => None,
            Protocol::H3 => Http3Config::new()
                .and_then(|config| Http3Connection::new_with_quic_conn(connection, &config))
                .context(|| "HTTP/3".into())
                .map(Some)?,
        };
        Ok(Self {
            h3,
            buffer: vec![0; READ_BYTES],
        })
    }
}

impl Dialect for Http {
    type Connection = Connection;

    fn ask(&mut self, connection: &mut Connection, url: &Url, from: u64) -> Outcome<Option<u64>> {
        let asked = match &mut self.h3 {
            Some(http) => http.stream_new(connection).and_then(|stream| {
                http.send_headers(connection, stream, &request_headers(url, from), true)?;
                Ok(stream)
            }),
            None => ask_hq(connection, url).map_err(Http3Error::from),
        };
        match asked {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_limit(&error) => Ok(None),
            Err(error) => Err(error).context(|| format!("{}: request", url.path())),
        }
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        streams: &HashMap<u64, usize>,
        page: &mut Page,
    ) -> Outcome<bool> {
        match &mut self.h3 {
            Some(http) => read_h3(connection, http, streams, page, &mut self.buffer),
            None => read_hq(connection, streams, page, &mut self.buffer),
        }
    }
}

/// The peer grants further streams, or the window room, when others have ended.
fn is_limit(error: &Http3Error) -> bool {
    matches!(
        error,
        Http3Error::Done
            | Http3Error::StreamBlocked
            | Http3Error::TransportError(Error::StreamLimitError | Error::Done)
    )
}

fn ask_hq(connection: &mut Connection, url: &Url) -> Result<u64, Error> {
    let stream = connection.stream_bidi_new(URGENCY, true)?;
    let line = format!("GET {}\r\n", target(url));
    connection.stream_write(stream, Bytes::from(line), true)?;
    Ok(stream)
}

fn read_h3(
    connection: &mut Connection,
    http: &mut Http3Connection,
    streams: &HashMap<u64, usize>,
    page: &mut Page,
    buffer: &mut [u8],
) -> Outcome<bool> {
    let mut progress = false;
    loop {
        let (stream, event) = match http.poll(connection) {
            Ok(polled) => polled,
            Err(Http3Error::Done) => return Ok(progress),
            Err(error) => return Err(error).context(|| "HTTP/3".into()),
        };
        let Some(number) = streams.get(&stream).copied() else {
            continue;
        };
        progress = true;
        match event {
            Http3Event::Headers { headers, .. } => {
                // Trailers have no status.
                if let Some(status) = number_of(&headers, b":status") {
                    let length = number_of(&headers, b"content-length");
                    page.object(number).head(status as u16, length)?;
                }
            }
            Http3Event::Data => {
                while let Ok(bytes) = http.recv_body(connection, stream, buffer) {
                    page.object(number).take(&buffer[..bytes]);
                }
            }
            Http3Event::Finished => page.finish(number)?,
            Http3Event::Reset(code) => return Err(page.reset(number, code)),
            Http3Event::PriorityUpdate | Http3Event::GoAway => {}
        }
    }
}

fn read_hq(
    connection: &mut Connection,
    streams: &HashMap<u64, usize>,
    page: &mut Page,
    buffer: &mut [u8],
) -> Outcome<bool> {
    let mut progress = false;
    for stream in connection.stream_readable_iter() {
        let Some(number) = streams.get(&stream).copied() else {
            continue;
        };
        progress = true;
        loop {
            let (bytes, end) = match connection.stream_read(stream, buffer) {
                Ok(read) => read,
                Err(Error::StreamReset(code)) => return Err(page.reset(number, code)),
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

fn number_of(headers: &[Header], name: &[u8]) -> Option<u64> {
    let header = headers.iter().find(|header| header.name() == name)?;
    std::str::from_utf8(header.value()).ok()?.parse().ok()
}

fn request_headers(url: &Url, from: u64) -> Vec<Header> {
    let range = format!("bytes={from}-");
    let mut fields = vec![
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", authority(url)),
        (":path", target(url)),
        ("user-agent", "howquick-tquic"),
    ];
    if from > 0 {
        fields.push(("range", &range));
    }
    let header = |(name, value): (&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
    fields.into_iter().map(header).collect()
}
