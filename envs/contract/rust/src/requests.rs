//! What a client is asked to load, and how.

use url::Url;

use crate::environment::{choice_or, count_or, text};
use crate::failure::{Context, Failure, Outcome};
use crate::settings::{check_moves, Settings};

/// A path that every server has, so that a client can get a session ticket from it.
pub const PRIME: &str = "/prime";

const MOST_MOVES: u64 = 1000;

/// The load of a client.
#[derive(Clone, Debug)]
pub struct Requests {
    pub urls: Vec<Url>,
    /// Each object only after the one before; otherwise all at once after the first.
    pub sequential: bool,
    /// Whether bodies are hashed or only counted.
    pub hashed: bool,
    /// Address changes during the load.
    pub moves: u64,
}

impl Requests {
    /// Read `REQUESTS`, `FETCH`, `BODY` and `MOVES`.
    pub fn from_environment(settings: &Settings) -> Outcome<Self> {
        let moves = count_or("MOVES", 0, MOST_MOVES)?;
        check_moves(settings, moves)?;
        Ok(Self {
            urls: urls(settings)?,
            sequential: choice_or("FETCH", false, &[("page", false), ("sequential", true)])?,
            hashed: choice_or("BODY", true, &[("sha256", true), ("length", false)])?,
            moves,
        })
    }

    /// What a connection fetches that is made for its session ticket alone.
    pub fn prime(&self) -> Outcome<Self> {
        let url = self.urls[0].join(PRIME).context(|| "REQUESTS".into())?;
        Ok(Self {
            urls: vec![url],
            sequential: false,
            hashed: false,
            moves: 0,
        })
    }
}

/// The URLs of `REQUESTS`, all on `HOST`.
fn urls(settings: &Settings) -> Outcome<Vec<Url>> {
    let text = text("REQUESTS")?;
    let urls = text.split_ascii_whitespace().map(|word| {
        let url = Url::parse(word).context(|| format!("REQUESTS: {word}"))?;
        let host = &settings.host;
        // Url gives a path to what has none.
        let has_path = word.matches('/').count() > 2;
        if url.scheme() != "https" || url.host_str() != Some(host.as_str()) || !has_path {
            return Err(Failure::new(format!(
                "REQUESTS: {word} is not https://{host}/…"
            )));
        }
        Ok(url)
    });
    let urls = urls.collect::<Outcome<Vec<_>>>()?;
    if urls.is_empty() {
        return Err(Failure::new("REQUESTS names no URL"));
    }
    Ok(urls)
}

/// The path and query of a URL, as a request line has them.
pub fn target(url: &Url) -> &str {
    &url[url::Position::BeforePath..url::Position::AfterQuery]
}

/// The host and, if it is not the usual one, the port of a URL.
pub fn authority(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}
