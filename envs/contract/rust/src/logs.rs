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
    /// Create the file `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let writer = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        Ok(Self(Arc::new(Mutex::new(Buffered {
            writer,
            dirty: true,
            failure: None,
        }))))
    }

    fn lock(&self) -> MutexGuard<'_, Buffered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the library has let go of it, so that nothing more will come.
    pub fn is_orphan(&self) -> bool {
        Arc::strong_count(&self.0) == 1
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
pub fn create_qlog(settings: &Settings, original_id: &[u8]) -> Outcome<Option<QlogFile>> {
    let Some(folder) = &settings.qlog_dir else {
        return Ok(None);
    };
    let path = folder.join(format!("{}.sqlog", hex(original_id)));
    QlogFile::create(&path)
        .context(|| format!("QLOGDIR: {}", path.display()))
        .map(Some)
}

/// Bring a qlog to disk, if there is one.
pub fn complete(qlog: Option<&QlogFile>) -> Outcome<()> {
    qlog.map_or(Ok(()), QlogFile::flush)
        .context(|| "QLOGDIR".into())
}

/// The file `SSLKEYLOGFILE` to append secrets to, if that is asked for.
pub fn open_key_log(settings: &Settings) -> Outcome<Option<File>> {
    let Some(path) = &settings.key_log else {
        return Ok(None);
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.context(|| format!("SSLKEYLOGFILE: {}", path.display()))
        .map(Some)
}

/// Note something in the program's log. A log that cannot be written must not end the program.
pub fn note(message: impl Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Lower-case hexadecimal digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
