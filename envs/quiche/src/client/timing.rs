//! The file `TIMING` of docs/formats.md, section 2.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::failure::{Context, Outcome};

/// One object; times in seconds since the start of the load.
#[derive(Debug, Serialize)]
pub struct ObjectTiming {
    pub path: String,
    pub status: u16,
    pub bytes: u64,
    pub sha256: String,
    pub start_s: f64,
    pub first_byte_s: Option<f64>,
    pub end_s: Option<f64>,
}

/// One page load; `start` in seconds of Unix time.
#[derive(Debug, Serialize)]
pub struct Timing {
    pub protocol: &'static str,
    pub start: f64,
    pub handshake_s: Option<f64>,
    pub resumed: bool,
    pub early_data: bool,
    pub connections: u32,
    pub objects: Vec<ObjectTiming>,
}

impl Timing {
    /// Write it under a temporary name, then rename, so that the file is whole or absent.
    pub fn write(&self, path: &Path) -> Outcome<()> {
        let what = || format!("TIMING: {}", path.display());
        let text = serde_json::to_string(self).context(what)?;
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        fs::write(&name, text + "\n").context(what)?;
        fs::rename(&name, path).context(what)
    }
}
