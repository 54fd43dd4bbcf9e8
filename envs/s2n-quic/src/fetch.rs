//! The requests of the client, all on one thread.

use std::cell::RefCell;
use std::time::Instant;

use bytes::{Buf, Bytes};
use contract::page::Page;
use contract::requests::{authority, target};
use contract::{Context, Failure, Outcome};
use futures::stream::{FuturesUnordered, StreamExt};
use h3::client::SendRequest;
use http::{header, Request};
use s2n_quic::connection::Handle;
use url::Url;

use crate::binding::Opener;

/// How requests are made.
#[derive(Clone)]
pub enum Http {
    H3(SendRequest<Opener, Bytes>),
    Hq(Handle),
}

/// Load the page: whatever may be asked for is, until nothing is left.
pub async fn all(http: &Http, page: &RefCell<Page>) -> Outcome<()> {
    let mut requests = FuturesUnordered::new();
    loop {
        while let Some(url) = next(page) {
            let number = page.borrow_mut().asked(Instant::now());
            requests.push(one(http.clone(), page, number, url));
        }
        match requests.next().await {
            Some(done) => done?,
            None => return Ok(()),
        }
    }
}

fn next(page: &RefCell<Page>) -> Option<Url> {
    page.borrow().next().cloned()
}

async fn one(http: Http, page: &RefCell<Page>, number: usize, url: Url) -> Outcome<()> {
    match http {
        Http::H3(requests) => h3(requests, page, number, &url).await,
        Http::Hq(handle) => hq(handle, page, number, &url).await,
    }?;
    page.borrow_mut().finish(number)
}

async fn h3(
    mut requests: SendRequest<Opener, Bytes>,
    page: &RefCell<Page>,
    number: usize,
    url: &Url,
) -> Outcome<()> {
    let at = || url.path().to_owned();
    let uri = format!("https://{}{}", authority(url), target(url));
    let request = Request::get(uri).header(header::USER_AGENT, "howquick-s2n-quic");
    let request = request.body(()).context(at)?;
    let mut stream = requests.send_request(request).await.context(at)?;
    stream.finish().await.context(at)?;
    let response = stream.recv_response().await.context(at)?;
    let length = response.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    page.borrow_mut().object(number).head(status, length)?;
    while let Some(mut data) = stream.recv_data().await.context(at)? {
        let bytes = data.copy_to_bytes(data.remaining());
        page.borrow_mut().object(number).take(&bytes);
    }
    Ok(())
}

/// HTTP/0.9 tells neither status nor length: the end of the stream is all there is.
async fn hq(mut handle: Handle, page: &RefCell<Page>, number: usize, url: &Url) -> Outcome<()> {
    let told = |error: s2n_quic::stream::Error| Failure::new(format!("{}: {error}", url.path()));
    let opened = handle.open_bidirectional_stream().await;
    let mut stream = opened.context(|| url.path().to_owned())?;
    let line = Bytes::from(format!("GET {}\r\n", target(url)));
    stream.send(line).await.map_err(told)?;
    stream.finish().map_err(told)?;
    while let Some(bytes) = stream.receive().await.map_err(told)? {
        page.borrow_mut().object(number).take_unannounced(&bytes);
    }
    // An empty object is there, too.
    page.borrow_mut().object(number).take_unannounced(&[]);
    Ok(())
}
