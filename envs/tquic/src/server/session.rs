//! One connection of the server: its requests, and its responses in the order of their turn.

use std::collections::VecDeque;

use bytes::Bytes;
use contract::content::{first_byte, Content, File};
use contract::logs::{note, QlogFile};
use contract::settings::{Protocol, Scheduling};
use tquic::h3::connection::Http3Connection;
use tquic::h3::{Header, Http3Config, Http3Error, Http3Event, NameValue};
use tquic::{Connection, Shutdown};

/// H3_NO_ERROR (RFC 9114, section 8.1).
pub const NO_ERROR: u64 = 0x100;

/// H3_REQUEST_REJECTED, for what HTTP/0.9 has no status for.
const NOT_THERE: u64 = 0x10b;

/// Bytes one response may write before the next has its turn, about three packets.
const ROUND_ROBIN_BYTES: usize = 4096;

/// The same where no other response waits: some clients take long over many small DATA frames.
const ALONE_BYTES: usize = 1 << 16;

/// Longest request line of HTTP/0.9.
const REQUEST_BYTES: usize = 8192;

struct Response {
    stream: u64,
    rest: Bytes,
}

enum Step {
    Finished,
    Wrote,
    /// Flow or congestion control grants nothing at the moment.
    Refused,
}

/// The state of one connection.
pub struct Session {
    protocol: Protocol,
    scheduling: Scheduling,
    qlog: Option<QlogFile>,
    http: Option<Http3Connection>,
    queue: VecDeque<Response>,
}

impl Session {
    pub fn new(protocol: Protocol, scheduling: Scheduling, qlog: Option<QlogFile>) -> Self {
        Self {
            protocol,
            scheduling,
            qlog,
            http: None,
            queue: VecDeque::new(),
        }
    }

    /// Bring the qlog to disk.
    pub fn flush(&self) {
        if let Some(Err(error)) = self.qlog.as_ref().map(QlogFile::flush) {
            note(format!("server: QLOGDIR: {error}"));
        }
    }

    /// Read requests and write responses. Returns whether any byte was written.
    pub fn advance(&mut self, connection: &mut Connection, content: &Content) -> bool {
        if !(connection.is_established() || connection.is_in_early_data()) {
            return false;
        }
        if self.protocol == Protocol::Hq {
            self.read_hq(connection, content);
        } else {
            // An error of the protocol closes the connection.
            self.read_h3(connection, content).unwrap_or_default();
        }
        self.write(connection)
    }

    fn read_h3(
        &mut self,
        connection: &mut Connection,
        content: &Content,
    ) -> Result<(), Http3Error> {
        if self.http.is_none() {
            let config = Http3Config::new()?;
            self.http = Some(Http3Connection::new_with_quic_conn(connection, &config)?);
        }
        let Some(http) = &mut self.http else {
            return Ok(());
        };
        loop {
            match http.poll(connection) {
                Ok((stream, Http3Event::Headers { headers, .. })) => {
                    let (head, rest) = answer(&headers, content);
                    http.send_headers(connection, stream, &head, rest.is_empty())?;
                    if !rest.is_empty() {
                        self.queue.push_back(Response { stream, rest });
                    }
                }
                Ok((stream, Http3Event::Reset(_))) => {
                    self.queue.retain(|response| response.stream != stream);
                }
                Ok(_) => {}
                Err(Http3Error::Done) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// HTTP/0.9: the line `GET PATH`, then the bytes; an object that is not there is a reset stream.
    fn read_hq(&mut self, connection: &mut Connection, content: &Content) {
        let mut line = [0; REQUEST_BYTES];
        for stream in connection.stream_readable_iter() {
            let Ok((length, _)) = connection.stream_read(stream, &mut line) else {
                continue;
            };
            if length == 0 {
                continue;
            }
            let path = line[..length].strip_prefix(b"GET ").unwrap_or_default();
            match content.get(path.trim_ascii()) {
                Some(file) => self.queue.push_back(Response {
                    stream,
                    rest: body(file),
                }),
                // A stream that is gone already needs no reset.
                None => drop(connection.stream_shutdown(stream, Shutdown::Write, NOT_THERE)),
            }
        }
    }

    /// Give the connection as many bytes as it takes. Returns whether it took any.
    fn write(&mut self, connection: &mut Connection) -> bool {
        let (mut wrote, mut refusals) = (false, 0);
        while refusals < self.queue.len() {
            let Some(mut response) = self.queue.pop_front() else {
                break;
            };
            let step = self.step(connection, &mut response);
            match step {
                Step::Refused => refusals += 1,
                Step::Wrote | Step::Finished => (wrote, refusals) = (true, 0),
            }
            match (step, self.scheduling) {
                (Step::Finished, _) => {}
                (_, Scheduling::RoundRobin) => self.queue.push_back(response),
                (step, Scheduling::Fifo) => {
                    self.queue.push_front(response);
                    if matches!(step, Step::Refused) {
                        break;
                    }
                }
            }
        }
        wrote
    }

    fn step(&mut self, connection: &mut Connection, response: &mut Response) -> Step {
        let whole = response.rest.len();
        let most = match self.scheduling {
            Scheduling::RoundRobin if self.queue.is_empty() => whole.min(ALONE_BYTES),
            Scheduling::RoundRobin => whole.min(ROUND_ROBIN_BYTES),
            Scheduling::Fifo => whole,
        };
        let room = match connection.stream_capacity(response.stream) {
            Ok(room) => room,
            Err(_) => return Step::Finished, // Stopped by the client.
        };
        if room == 0 && whole > 0 {
            return Step::Refused;
        }
        let (part, last) = (response.rest.slice(..most), most == whole);
        let sent = match &mut self.http {
            Some(http) => http
                .send_body(connection, response.stream, part, last)
                .map_err(|error| error == Http3Error::Done || error == Http3Error::StreamBlocked),
            None => connection
                .stream_write(response.stream, part, last)
                .map_err(|error| error == tquic::Error::Done),
        };
        match sent {
            Ok(bytes) => {
                let _ = response.rest.split_to(bytes);
                if response.rest.is_empty() {
                    Step::Finished
                } else {
                    Step::Wrote
                }
            }
            Err(true) => Step::Refused,
            Err(false) => Step::Finished,
        }
    }
}

/// Head and body of the answer to a request.
fn answer(request: &[Header], content: &Content) -> (Vec<Header>, Bytes) {
    let field = |name: &[u8]| {
        request
            .iter()
            .find(|h| h.name() == name)
            .map(NameValue::value)
    };
    let file = field(b":path").and_then(|path| content.get(path));
    let (status, body, kind) = match (field(b":method"), file) {
        (Some(b"GET"), Some(file)) => part(field(b"range"), file),
        (Some(b"GET"), None) => ("404", Bytes::from_static(b"not found\n"), "text/plain"),
        _ => (
            "405",
            Bytes::from_static(b"only GET is served\n"),
            "text/plain",
        ),
    };
    let head = [
        (":status", status),
        ("server", "tquic"),
        ("content-type", kind),
        ("content-length", &body.len().to_string()),
    ];
    let head = head.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
    (head.to_vec(), body)
}

/// The file, or what a `Range` asks for of it.
fn part(range: Option<&[u8]>, file: &File) -> (&'static str, Bytes, &'static str) {
    let body = body(file);
    match range.and_then(|range| first_byte(range, body.len())) {
        Some(first) => ("206", body.slice(first..), file.media_type),
        None => ("200", body, file.media_type),
    }
}

/// A file's bytes, which are shared and not copied.
fn body(file: &File) -> Bytes {
    Bytes::from_owner(file.body.clone())
}
