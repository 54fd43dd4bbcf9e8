//! The responses of one connection and the order in which their bytes leave.

use std::collections::VecDeque;
use std::sync::Arc;

use quiche::h3;
use quiche::h3::NameValue;

use super::http::Http;
use contract::content::{first_byte, Content, File};
use contract::settings::Scheduling;

/// Bytes one response may write before the next has its turn, about three packets.
const ROUND_ROBIN_BYTES: usize = 4096;

/// Least room worth a write. Without it the tail of a window would become many tiny frames, and the
/// library would tell the client with every refused attempt that it is blocked.
const LEAST_ROOM_BYTES: usize = 64;

/// The urgency of a request that names none (RFC 9218, section 4.1).
const URGENCY: u8 = 3;

struct Response {
    stream: u64,
    /// Taken once they are sent.
    headers: Option<Vec<h3::Header>>,
    body: Arc<[u8]>,
    sent: usize,
}

enum Step {
    Finished,
    Wrote,
    /// Flow or congestion control grants nothing at the moment.
    Refused,
}

/// Unfinished responses in the order of their turn.
pub struct Responses {
    queue: VecDeque<Response>,
    scheduling: Scheduling,
}

impl Responses {
    pub fn new(scheduling: Scheduling) -> Self {
        Self {
            queue: VecDeque::new(),
            scheduling,
        }
    }

    /// Queue the answer to a request.
    pub fn answer(&mut self, stream: u64, request: &[h3::Header], content: &Content) {
        let field = |name: &[u8]| {
            request
                .iter()
                .find(|h| h.name() == name)
                .map(NameValue::value)
        };
        let file = field(b":path").and_then(|path| content.get(path));
        let (status, file) = match (field(b":method"), file) {
            (Some(b"GET"), Some(file)) => ("200", file.clone()),
            (Some(b"GET"), None) => ("404", message(b"not found\n")),
            _ => ("405", message(b"only GET is served\n")),
        };
        let whole = file.body.len();
        let range = field(b"range").filter(|_| status == "200");
        let first = range.and_then(|range| first_byte(range, whole));
        let (status, sent) = first.map_or((status, 0), |first| ("206", first));
        let headers = vec![
            h3::Header::new(b":status", status.as_bytes()),
            h3::Header::new(b"server", b"quiche"),
            h3::Header::new(b"content-type", file.media_type.as_bytes()),
            h3::Header::new(b"content-length", (whole - sent).to_string().as_bytes()),
        ];
        let (headers, body) = (Some(headers), file.body);
        self.queue.push_back(Response {
            stream,
            headers,
            body,
            sent,
        });
    }

    /// Queue the answer to a line of HTTP/0.9. Returns false for one that asks for nothing there is.
    pub fn answer_line(&mut self, stream: u64, line: &[u8], content: &Content) -> bool {
        let path = line.strip_prefix(b"GET ").unwrap_or_default().trim_ascii();
        let file = content.get(path);
        self.queue.extend(file.map(|file| Response {
            stream,
            headers: None,
            body: file.body.clone(),
            sent: 0,
        }));
        file.is_some()
    }

    /// Forget the response of a stream the client no longer wants.
    pub fn cancel(&mut self, stream: u64) {
        self.queue.retain(|response| response.stream != stream);
    }

    /// Give the connection as many bytes as it takes. Returns whether it took any.
    pub fn write(&mut self, connection: &mut quiche::Connection, http: &mut Http) -> bool {
        match self.scheduling {
            Scheduling::Fifo => self.write_in_order(connection, http),
            Scheduling::RoundRobin => self.write_in_turns(connection, http),
        }
    }

    fn write_in_order(&mut self, connection: &mut quiche::Connection, http: &mut Http) -> bool {
        let priority = h3::Priority::new(URGENCY, false);
        let mut wrote = false;
        self.queue.retain_mut(|response| loop {
            match response.step(connection, http, &priority, usize::MAX) {
                Step::Finished => {
                    wrote = true;
                    return false;
                }
                Step::Wrote => wrote = true,
                Step::Refused => return true,
            }
        });
        wrote
    }

    /// The library interleaves only what was written to it, and it takes no more than the window
    /// has room for: without turns here, the first stream would take all of it.
    fn write_in_turns(&mut self, connection: &mut quiche::Connection, http: &mut Http) -> bool {
        let priority = h3::Priority::new(URGENCY, true);
        let (mut wrote, mut refusals) = (false, 0);
        while refusals < self.queue.len() {
            let Some(mut response) = self.queue.pop_front() else {
                break;
            };
            let step = response.step(connection, http, &priority, ROUND_ROBIN_BYTES);
            if matches!(step, Step::Refused) {
                refusals += 1;
            } else {
                (wrote, refusals) = (true, 0);
            }
            if !matches!(step, Step::Finished) {
                self.queue.push_back(response);
            }
        }
        wrote
    }
}

impl Response {
    /// Write the headers or up to `most` bytes of the body.
    fn step(
        &mut self,
        connection: &mut quiche::Connection,
        http: &mut Http,
        priority: &h3::Priority,
        most: usize,
    ) -> Step {
        if let Some(headers) = &self.headers {
            let empty = self.body.is_empty();
            return match http.send_head(connection, self.stream, headers, priority, empty) {
                Ok(()) => {
                    self.headers = None;
                    if empty {
                        Step::Finished
                    } else {
                        Step::Wrote
                    }
                }
                Err(error) => refused(&error),
            };
        }
        match connection.stream_capacity(self.stream) {
            Ok(room) if room < LEAST_ROOM_BYTES && !self.body.is_empty() => return Step::Refused,
            Ok(_) => {}
            Err(_) => return Step::Finished, // Stopped by the client.
        }
        let end = self.body.len().min(self.sent.saturating_add(most));
        let last = end == self.body.len();
        match http.send_body(connection, self.stream, &self.body[self.sent..end], last) {
            Ok(bytes) => {
                self.sent += bytes;
                if self.sent == self.body.len() {
                    Step::Finished
                } else {
                    Step::Wrote
                }
            }
            Err(error) => refused(&error),
        }
    }
}

/// A stream that is not merely blocked was stopped by the client: nothing is left to send.
fn refused(error: &h3::Error) -> Step {
    match error {
        h3::Error::Done | h3::Error::StreamBlocked => Step::Refused,
        _ => Step::Finished,
    }
}

fn message(text: &'static [u8]) -> File {
    File {
        body: Arc::from(text),
        media_type: "text/plain",
    }
}
