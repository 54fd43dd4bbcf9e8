//! Which frames the link dropped, and why: the truth that the stacks' beliefs are compared with.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// More than this is no list to look at any more; the counts go on.
const MOST: usize = 20_000;

/// One frame that did not leave the link.
struct Dropped {
    /// Position among the frames that entered in this direction since the last seed, from 0.
    index: u64,
    cause: &'static str,
    bytes: usize,
    /// Microseconds since 1970.
    at_us: u128,
}

/// The drops of one direction since the last seed.
#[derive(Default)]
pub struct Drops(Mutex<Vec<Dropped>>);

impl Drops {
    pub fn add(&self, index: u64, cause: &'static str, bytes: usize) {
        let at_us = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_micros());
        let mut list = self.0.lock().expect("the list's lock is never poisoned");
        if list.len() < MOST {
            list.push(Dropped {
                index,
                cause,
                bytes,
                at_us,
            });
        }
    }

    pub fn clear(&self) {
        self.0
            .lock()
            .expect("the list's lock is never poisoned")
            .clear();
    }

    /// `[[index, cause, bytes, microseconds since 1970], …]`
    pub fn to_json(&self) -> String {
        let list = self.0.lock().expect("the list's lock is never poisoned");
        let entries: Vec<String> = list
            .iter()
            .map(|drop| {
                format!(
                    "[{},\"{}\",{},{}]",
                    drop.index, drop.cause, drop.bytes, drop.at_us
                )
            })
            .collect();
        format!("[{}]", entries.join(","))
    }
}
