//! The folder to serve, in memory.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use percent_encoding::percent_decode_str;

use crate::failure::{Context, Failure, Outcome};
use crate::requests::PRIME;

/// One file and what it is.
#[derive(Clone)]
pub struct File {
    pub body: Arc<[u8]>,
    pub media_type: &'static str,
}

/// Every file of a folder by its path on the server. What is not in it cannot be asked for, whatever
/// the path in a request looks like.
pub struct Content(HashMap<String, File>);

impl Content {
    /// Read a folder. Links that lead out of it are an error.
    pub fn load(folder: &Path) -> Outcome<Self> {
        let root = folder
            .canonicalize()
            .context(|| format!("WWW: {}", folder.display()))?;
        let mut files = HashMap::new();
        add_folder(&root, &root, &mut files)?;
        files.entry(PRIME.to_owned()).or_insert_with(|| File {
            body: Arc::from(&b"primed\n"[..]),
            media_type: "text/plain",
        });
        Ok(Self(files))
    }

    /// The file of a request's path, without its query; `/` at the end stands for `index.html`.
    pub fn get(&self, path: &[u8]) -> Option<&File> {
        let path = std::str::from_utf8(path).ok()?;
        let path = path.split('?').next()?;
        let mut decoded = percent_decode_str(path).decode_utf8().ok()?.into_owned();
        if decoded.ends_with('/') {
            decoded.push_str("index.html");
        }
        self.0.get(&decoded)
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The first byte that a `Range: bytes=FIRST-` asks for of `length` bytes (RFC 9110, section 14.1.2).
/// None for any other form: the whole body answers that.
pub fn first_byte(range: &[u8], length: usize) -> Option<usize> {
    let text = std::str::from_utf8(range).ok()?;
    let first = text
        .strip_prefix("bytes=")?
        .strip_suffix('-')?
        .parse()
        .ok()?;
    (first < length).then_some(first)
}

fn add_folder(folder: &Path, root: &Path, files: &mut HashMap<String, File>) -> Outcome<()> {
    for entry in fs::read_dir(folder).context(|| format!("WWW: {}", folder.display()))? {
        let path = entry
            .context(|| format!("WWW: {}", folder.display()))?
            .path();
        let real = path
            .canonicalize()
            .context(|| format!("WWW: {}", path.display()))?;
        if !real.starts_with(root) {
            return Err(Failure::new(format!(
                "WWW: {} leads out of the folder",
                path.display()
            )));
        }
        if path.is_symlink() && real.is_dir() {
            return Err(Failure::new(format!(
                "WWW: {} is a link to a folder",
                path.display()
            )));
        }
        if real.is_dir() {
            add_folder(&path, root, files)?;
            continue;
        }
        let name = path
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .ok_or_else(|| Failure::new(format!("WWW: {} is not UTF-8", path.display())))?;
        let body = fs::read(&path).context(|| format!("WWW: {}", path.display()))?;
        files.insert(
            format!("/{name}"),
            File {
                body: body.into(),
                media_type: media_type(name),
            },
        );
    }
    Ok(())
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
