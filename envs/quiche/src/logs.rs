//! qlog files and the key log.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::failure::{Context, Outcome};
use crate::settings::Settings;

/// Large, so that logging seldom makes a system call while a page loads.
const BUFFER_BYTES: usize = 1 << 18;

struct Buffered {
    writer: BufWriter<File>,
    dirty: bool,
    /// The library ignores a failed write; the owner hears of it at the next flush.
    failure: Option<io::Error>,
}

/// A qlog file that its owner can bring to disk while the library still writes to it.
///
/// qlog's JSON-SEQ form has no end mark, so a flushed file is whole up to its last event.
#[derive(Clone)]
pub struct QlogFile(Arc<Mutex<Buffered>>);

impl QlogFile {
    fn create(path: &Path) -> io::Result<Self> {
        let writer = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        Ok(Self(Arc::new(Mutex::new(Buffered { writer, dirty: true, failure: None }))))
    }

    fn lock(&self) -> MutexGuard<'_, Buffered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether events wait in memory.
    pub fn is_dirty(&self) -> bool {
        self.lock().dirty
    }

    /// Write what waits in memory to the file.
    pub fn flush(&self) -> io::Result<()> {
        let mut buffered = self.lock();
        buffered.dirty = false;
        let flushed = buffered.writer.flush();
        buffered.failure.take().map_or(flushed, Err)
    }
}

impl Write for QlogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut buffered = self.lock();
        buffered.dirty = true;
        let written = buffered.writer.write(bytes);
        if let Err(error) = &written {
            buffered.failure.get_or_insert_with(|| error.kind().into());
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        QlogFile::flush(self)
    }
}

/// Start the qlog `QLOGDIR/<original destination connection id>.sqlog`, if qlogs are asked for.
///
/// Both ends name the file by the identifier that the client chose first, so that they can be paired.
pub fn start_qlog(
    connection: &mut quiche::Connection, settings: &Settings, title: &str,
    original_id: &quiche::ConnectionId<'_>,
) -> Outcome<Option<QlogFile>> {
    let Some(folder) = &settings.qlog_dir else { return Ok(None) };
    let path = folder.join(format!("{}.sqlog", hex(original_id)));
    let file = QlogFile::create(&path).context(|| format!("QLOGDIR: {}", path.display()))?;
    let description = format!(
        "congestion control {}, initial window {} packets, pacing {:?}, connection {:?}",
        settings.congestion_control,
        settings.initial_window_packets,
        settings.pacing,
        settings.connection,
    );
    connection.set_qlog(Box::new(file.clone()), format!("quiche {title}"), description);
    Ok(Some(file))
}

/// Have the connection append its secrets to `SSLKEYLOGFILE`, if that is asked for.
pub fn start_key_log(connection: &mut quiche::Connection, settings: &Settings) -> Outcome<()> {
    if let Some(path) = &settings.key_log {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .context(|| format!("SSLKEYLOGFILE: {}", path.display()))?;
        connection.set_keylog(Box::new(file));
    }
    Ok(())
}

/// Note something in the program's log. A log that cannot be written must not end the program.
pub fn note(message: impl Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Lower-case hexadecimal digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
