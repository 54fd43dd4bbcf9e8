//! What is spoken on a connection of the server.

use std::collections::HashMap;

use contract::content::Content;
use contract::settings::Protocol;
use contract::{Context, Outcome};
use quiche::h3;

use super::responses::Responses;

/// Longest request line of HTTP/0.9.
const REQUEST_BYTES: usize = 8192;

/// The error of a stream that asks for what is not there (as H3_INTERNAL_ERROR, RFC 9114, section 8.1).
const NOT_THERE: u64 = 0x102;

pub enum Http {
    H3(Box<h3::Connection>),
    /// HTTP/0.9: the request lines that are still incomplete, by stream.
    Hq(HashMap<u64, Vec<u8>>),
}

impl Http {
    pub fn start(
        protocol: Protocol,
        connection: &mut quiche::Connection,
        config: &h3::Config,
    ) -> Outcome<Self> {
        match protocol {
            Protocol::Hq => Ok(Self::Hq(HashMap::new())),
            Protocol::H3 => h3::Connection::with_transport(connection, config)
                .context(|| "HTTP/3".into())
                .map(|http| Self::H3(Box::new(http))),
        }
    }

    /// Queue the answers to the requests that have come.
    pub fn read(
        &mut self,
        connection: &mut quiche::Connection,
        responses: &mut Responses,
        content: &Content,
    ) {
        match self {
            Self::H3(http) => read_h3(connection, http, responses, content),
            Self::Hq(lines) => read_hq(connection, lines, responses, content),
        }
    }

    /// Send the head of a response, if the protocol has one.
    pub fn send_head(
        &mut self,
        connection: &mut quiche::Connection,
        stream: u64,
        headers: &[h3::Header],
        priority: &h3::Priority,
        last: bool,
    ) -> h3::Result<()> {
        match self {
            Self::H3(http) => {
                http.send_response_with_priority(connection, stream, headers, priority, last)
            }
            Self::Hq(_) => Ok(()),
        }
    }

    /// Send some of a body. Returns how many bytes were taken.
    pub fn send_body(
        &mut self,
        connection: &mut quiche::Connection,
        stream: u64,
        body: &[u8],
        last: bool,
    ) -> h3::Result<usize> {
        match self {
            Self::H3(http) => http.send_body(connection, stream, body, last),
            Self::Hq(_) => match connection.stream_send(stream, body, last) {
                Err(quiche::Error::Done) => Err(h3::Error::Done),
                sent => sent.map_err(h3::Error::TransportError),
            },
        }
    }
}

fn read_h3(
    connection: &mut quiche::Connection,
    http: &mut h3::Connection,
    responses: &mut Responses,
    content: &Content,
) {
    let mut ignored = [0; 4096];
    loop {
        match http.poll(connection) {
            Ok((stream, h3::Event::Headers { list, .. })) => {
                responses.answer(stream, &list, content);
            }
            Ok((stream, h3::Event::Data)) => {
                while http.recv_body(connection, stream, &mut ignored).is_ok() {}
            }
            Ok((stream, h3::Event::Reset(_))) => responses.cancel(stream),
            Ok(_) => {}
            // An error of the protocol has closed the connection; its packets go out as usual.
            Err(_) => return,
        }
    }
}

fn read_hq(
    connection: &mut quiche::Connection,
    lines: &mut HashMap<u64, Vec<u8>>,
    responses: &mut Responses,
    content: &Content,
) {
    let mut bytes = [0; REQUEST_BYTES];
    for stream in connection.readable() {
        while let Ok((count, end)) = connection.stream_recv(stream, &mut bytes) {
            let line = lines.entry(stream).or_default();
            line.extend_from_slice(&bytes[..count]);
            let complete = end && responses.answer_line(stream, line, content);
            if end || line.len() > REQUEST_BYTES {
                lines.remove(&stream);
                if !complete {
                    // A stream that is gone already needs no reset.
                    let _ = connection.stream_shutdown(stream, quiche::Shutdown::Write, NOT_THERE);
                }
            }
        }
    }
}
