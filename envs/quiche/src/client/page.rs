//! What is loaded: the HTML, then everything else at once.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use boring::sha::Sha256;
use quiche::h3;
use quiche::h3::NameValue;
use url::Url;

use super::timing::ObjectTiming;
use crate::failure::{Context, Failure, Outcome};
use crate::logs::hex;

/// Bytes of a body taken from the library at once.
const READ_BYTES: usize = 1 << 16;

/// One object on its way.
struct Object {
    url: Url,
    status: u16,
    announced: Option<u64>,
    bytes: u64,
    hash: Sha256,
    start: Instant,
    first_byte: Option<Instant>,
    end: Option<Instant>,
}

/// The load of one page over one connection.
pub struct Page {
    /// Not yet asked for. While the HTML, the first of all, is incomplete the rest has to wait.
    waiting: VecDeque<Url>,
    objects: Vec<Object>,
    by_stream: HashMap<u64, usize>,
    total: usize,
    finished: usize,
    buffer: Vec<u8>,
}

impl Page {
    pub fn new(urls: Vec<Url>) -> Self {
        Self {
            total: urls.len(),
            waiting: urls.into(),
            objects: Vec::new(),
            by_stream: HashMap::new(),
            finished: 0,
            buffer: vec![0; READ_BYTES],
        }
    }

    pub fn is_complete(&self) -> bool {
        self.finished == self.total
    }

    /// Take what arrived and ask for what may be asked for.
    ///
    /// Returns whether anything arrived. Fails on an object that is missing, short or refused.
    pub fn advance(
        &mut self, connection: &mut quiche::Connection, http: &mut h3::Connection,
    ) -> Outcome<bool> {
        let progress = self.read(connection, http)?;
        self.request(connection, http)?;
        Ok(progress)
    }

    fn request(
        &mut self, connection: &mut quiche::Connection, http: &mut h3::Connection,
    ) -> Outcome<()> {
        while let Some(url) = self.waiting.front() {
            if self.objects.len() == 1 && self.finished == 0 {
                return Ok(()); // The HTML tells a browser of the others.
            }
            let start = Instant::now();
            match http.send_request(connection, &request_headers(url), true) {
                Ok(stream) => {
                    self.by_stream.insert(stream, self.objects.len());
                    self.objects.extend(self.waiting.pop_front().map(|url| Object::new(url, start)));
                },
                // The peer grants further streams, or the window room, when others have ended.
                Err(
                    h3::Error::StreamBlocked
                    | h3::Error::Done
                    | h3::Error::TransportError(quiche::Error::StreamLimit | quiche::Error::Done),
                ) => return Ok(()),
                Err(error) => return Err(error).context(|| format!("{}: request", url.path())),
            }
        }
        Ok(())
    }

    fn read(
        &mut self, connection: &mut quiche::Connection, http: &mut h3::Connection,
    ) -> Outcome<bool> {
        let mut progress = false;
        loop {
            let (stream, event) = match http.poll(connection) {
                Ok(polled) => polled,
                Err(h3::Error::Done) => return Ok(progress),
                Err(error) => return Err(error).context(|| "HTTP/3".into()),
            };
            let index = self.by_stream.get(&stream);
            let Some(object) = index.and_then(|index| self.objects.get_mut(*index)) else {
                continue;
            };
            progress = true;
            match event {
                h3::Event::Headers { list, .. } => object.head(&list)?,
                h3::Event::Data => {
                    while let Ok(bytes) = http.recv_body(connection, stream, &mut self.buffer) {
                        object.take(&self.buffer[..bytes]);
                    }
                },
                h3::Event::Finished => {
                    object.finish()?;
                    self.finished += 1;
                },
                h3::Event::Reset(code) => {
                    let path = object.url.path();
                    return Err(Failure::new(format!("{path}: reset by the server, {code:#x}")));
                },
                h3::Event::PriorityUpdate | h3::Event::GoAway => {},
            }
        }
    }

    /// The objects in the order in which they were asked for; times count from `origin`.
    pub fn timings(self, origin: Instant) -> Vec<ObjectTiming> {
        self.objects.into_iter().map(|object| object.timing(origin)).collect()
    }
}

impl Object {
    fn new(url: Url, start: Instant) -> Self {
        Self {
            url,
            status: 0,
            announced: None,
            bytes: 0,
            hash: Sha256::new(),
            start,
            first_byte: None,
            end: None,
        }
    }

    fn head(&mut self, headers: &[h3::Header]) -> Outcome<()> {
        if self.first_byte.is_some() {
            return Ok(()); // Trailers.
        }
        let field = |name: &[u8]| {
            let header = headers.iter().find(|header| header.name() == name)?;
            std::str::from_utf8(header.value()).ok()
        };
        self.first_byte = Some(Instant::now());
        self.status = field(b":status").and_then(|text| text.parse().ok()).unwrap_or(0);
        self.announced = field(b"content-length").and_then(|text| text.parse().ok());
        if self.status == 200 {
            return Ok(());
        }
        Err(Failure::new(format!("{}: HTTP status {}", self.url.path(), self.status)))
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }

    fn finish(&mut self) -> Outcome<()> {
        let (path, bytes) = (self.url.path(), self.bytes);
        if self.first_byte.is_none() {
            return Err(Failure::new(format!("{path}: ended without a response")));
        }
        match self.announced {
            Some(announced) if announced != bytes => {
                Err(Failure::new(format!("{path}: {bytes} bytes of {announced} arrived")))
            },
            _ => {
                self.end = Some(Instant::now());
                Ok(())
            },
        }
    }

    fn timing(self, origin: Instant) -> ObjectTiming {
        let since = |at: Instant| at.duration_since(origin).as_secs_f64();
        ObjectTiming {
            path: self.url.path().to_owned(),
            status: self.status,
            bytes: self.bytes,
            sha256: hex(&self.hash.finish()),
            start_s: since(self.start),
            first_byte_s: self.first_byte.map(since),
            end_s: self.end.map(since),
        }
    }
}

fn request_headers(url: &Url) -> Vec<h3::Header> {
    let host = url.host_str().unwrap_or_default();
    let authority = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    vec![
        h3::Header::new(b":method", b"GET"),
        h3::Header::new(b":scheme", b"https"),
        h3::Header::new(b":authority", authority.as_bytes()),
        h3::Header::new(b":path", path.as_bytes()),
        h3::Header::new(b"user-agent", b"howquick-quiche"),
    ]
}
