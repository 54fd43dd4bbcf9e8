//! qlog files and the key log.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use contract::logs::{create_qlog, hex, open_key_log, QlogFile};
use contract::settings::Settings;
use contract::Outcome;
use quinn::{QlogConfig, QlogStream};

/// Start the qlog of a connection, if qlogs are asked for: the file, and the stream that feeds it.
pub fn start_qlog(
    settings: &Settings,
    title: &str,
    original_id: &[u8],
) -> Outcome<(Option<QlogFile>, Option<QlogStream>)> {
    let Some(file) = create_qlog(settings, original_id)? else {
        return Ok((None, None));
    };
    let mut config = QlogConfig::default();
    config
        .writer(Box::new(file.clone()))
        .title(Some(format!("quinn {title}")))
        .description(Some(settings.description()))
        .start_time(Instant::now());
    Ok((Some(file), config.into_stream()))
}

/// The TLS secrets, appended to `SSLKEYLOGFILE`.
#[derive(Debug)]
struct KeyLog(Mutex<File>);

impl rustls::KeyLog for KeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection does not fail for its log; that the log is short shows when it is used.
        let _ = file.write_all(line.as_bytes());
    }
}

/// Where secrets go, if they are asked for.
pub fn key_log(settings: &Settings) -> Outcome<Option<Arc<dyn rustls::KeyLog>>> {
    let file = open_key_log(settings)?;
    Ok(file.map(|file| Arc::new(KeyLog(Mutex::new(file))) as Arc<dyn rustls::KeyLog>))
}
