//! The file `TIMING` of docs/formats.md, section 2.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::failure::{Context, Outcome};
use crate::page::Page;
use crate::settings::Settings;

/// What is told of the first connection.
#[derive(Clone, Copy)]
pub struct Facts {
    /// When its first packet was made.
    pub start: Instant,
    pub handshake: Option<Duration>,
    pub resumed: bool,
    pub early_data: bool,
}

/// One object; times in seconds since the start of the load.
#[derive(Debug, Serialize)]
pub struct ObjectTiming {
    pub path: String,
    pub status: u16,
    pub bytes: u64,
    /// Null where bodies are only counted.
    pub sha256: Option<String>,
    pub start_s: f64,
    pub first_byte_s: Option<f64>,
    pub end_s: Option<f64>,
}

/// What the ends agreed on, where the library tells.
#[derive(Debug, Default, Serialize)]
pub struct Negotiated {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub congestion_control: String,
}

impl Negotiated {
    /// By what alone was offered; the cipher by its name in TLS where that is certain.
    pub fn new(settings: &Settings, cipher: Option<&str>) -> Self {
        Self {
            cipher: cipher.map(str::to_owned),
            group: Some(settings.group.clone()),
            congestion_control: settings.congestion_control.clone(),
        }
    }
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
    pub negotiated: Negotiated,
    pub objects: Vec<ObjectTiming>,
}

impl Timing {
    /// What there is to tell of a complete load.
    pub fn of(
        settings: &Settings,
        clock: &Clock,
        first: &Facts,
        connections: u32,
        negotiated: Negotiated,
        page: Page,
    ) -> Outcome<Self> {
        Ok(Self {
            protocol: settings.protocol.name(),
            start: clock.unix(first.start)?,
            handshake_s: first.handshake.as_ref().map(Duration::as_secs_f64),
            resumed: first.resumed,
            early_data: first.early_data,
            connections,
            negotiated,
            objects: page.timings(first.start),
        })
    }

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

/// Unix time and the monotonic clock, read together.
pub struct Clock(SystemTime, Instant);

impl Clock {
    pub fn read() -> Self {
        Self(SystemTime::now(), Instant::now())
    }

    /// Seconds of Unix time at `at`.
    pub fn unix(&self, at: Instant) -> Outcome<f64> {
        let time = self.0 + at.duration_since(self.1);
        let since = time
            .duration_since(UNIX_EPOCH)
            .context(|| "the clock".into())?;
        Ok(since.as_secs_f64())
    }
}
