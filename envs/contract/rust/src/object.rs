//! One object on its way.

use std::time::Instant;

use sha2::{Digest, Sha256};
use url::Url;

use crate::failure::{Failure, Outcome};
use crate::logs::hex;
use crate::timing::ObjectTiming;

const OK: u16 = 200;
const PARTIAL_CONTENT: u16 = 206;

/// One object that was asked for.
pub struct Object {
    pub url: Url,
    status: u16,
    /// Length by the server, of the whole object.
    announced: Option<u64>,
    bytes: u64,
    /// Where the request goes on that is under way.
    asked_from: u64,
    hash: Option<Sha256>,
    start: Instant,
    first_byte: Option<Instant>,
    end: Option<Instant>,
}

impl Object {
    pub fn new(url: Url, hashed: bool, start: Instant) -> Self {
        Self {
            url,
            status: 0,
            announced: None,
            bytes: 0,
            asked_from: 0,
            hash: hashed.then(Sha256::new),
            start,
            first_byte: None,
            end: None,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn announced(&self) -> Option<u64> {
        self.announced
    }

    pub fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    /// Whether all the bytes that were announced are here.
    pub fn is_received(&self) -> bool {
        self.announced == Some(self.bytes)
    }

    /// Note that it is asked for again, from the byte reached. Returns that byte.
    pub fn ask_again(&mut self) -> u64 {
        self.asked_from = self.bytes;
        self.bytes
    }

    /// Take the head of the answer: status and length of what follows. Fails if it is not what was
    /// asked for.
    pub fn head(&mut self, status: u16, length: Option<u64>) -> Outcome<()> {
        self.first_byte.get_or_insert_with(Instant::now);
        let wanted = if self.asked_from > 0 {
            PARTIAL_CONTENT
        } else {
            OK
        };
        if status != wanted {
            let path = self.url.path();
            return Err(Failure::new(format!("{path}: HTTP status {status}")));
        }
        self.status = OK;
        self.announced = length.map(|length| length + self.asked_from);
        Ok(())
    }

    pub fn take(&mut self, bytes: &[u8]) {
        self.first_byte.get_or_insert_with(Instant::now);
        self.bytes += bytes.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
    }

    /// As [`Object::take`], of an answer without a head: HTTP/0.9 has no status, so what is there is
    /// what was asked for.
    pub fn take_unannounced(&mut self, bytes: &[u8]) {
        self.status = OK;
        self.take(bytes);
    }

    /// Note its end. Fails if it has no answer or another length than announced.
    pub fn finish(&mut self) -> Outcome<()> {
        let (path, bytes) = (self.url.path(), self.bytes);
        if self.first_byte.is_none() {
            return Err(Failure::new(format!("{path}: ended without a response")));
        }
        match self.announced {
            Some(announced) if announced != bytes => Err(Failure::new(format!(
                "{path}: {bytes} bytes of {announced} arrived"
            ))),
            _ => {
                self.end = Some(Instant::now());
                Ok(())
            }
        }
    }

    /// Its line of TIMING; times count from `origin`.
    pub fn timing(self, origin: Instant) -> ObjectTiming {
        let since = |at: Instant| at.duration_since(origin).as_secs_f64();
        ObjectTiming {
            path: self.url.path().to_owned(),
            status: self.status,
            bytes: self.bytes,
            sha256: self.hash.map(|hash| hex(&hash.finalize())),
            start_s: since(self.start),
            first_byte_s: self.first_byte.map(since),
            end_s: self.end.map(since),
        }
    }
}
