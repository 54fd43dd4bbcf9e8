//! What the library tells: connections that begin and end. The rest is polled.

use std::cell::RefCell;
use std::rc::Rc;

use contract::end::End;
use contract::logs::{create_qlog, note, open_key_log, QlogFile};
use contract::settings::Settings;
use contract::Outcome;
use tquic::{Connection, TransportHandler};

/// What was told and not yet taken.
#[derive(Default)]
pub struct Told {
    pub opened: Vec<(u64, Option<QlogFile>)>,
    pub closed: Vec<(u64, End)>,
    /// Destination identifier of the last packet that may have opened a connection.
    pub original_id: Vec<u8>,
    /// Title of the qlogs.
    pub title: String,
}

/// Notes what the library tells.
pub struct Handler {
    pub settings: Settings,
    pub told: Rc<RefCell<Told>>,
}

impl Handler {
    fn start_logs(&self, connection: &mut Connection) -> Outcome<Option<QlogFile>> {
        if let Some(file) = open_key_log(&self.settings)? {
            connection.set_keylog(Box::new(file));
        }
        let told = self.told.borrow();
        let id = match connection.is_server() {
            true => told.original_id.clone(),
            false => connection.dcid().map(|id| id.to_vec()).unwrap_or_default(),
        };
        let qlog = create_qlog(&self.settings, &id)?;
        if let Some(file) = &qlog {
            let title = format!("tquic {}", told.title);
            connection.set_qlog(Box::new(file.clone()), title, self.settings.description());
        }
        Ok(qlog)
    }
}

impl TransportHandler for Handler {
    fn on_conn_created(&mut self, connection: &mut Connection) {
        let qlog = self.start_logs(connection).unwrap_or_else(|failure| {
            note(failure);
            None
        });
        let index = connection.index().unwrap_or_default();
        self.told.borrow_mut().opened.push((index, qlog));
    }

    fn on_conn_established(&mut self, _: &mut Connection) {}

    fn on_conn_closed(&mut self, connection: &mut Connection) {
        let silent_or_reset = match connection.is_reset() {
            true => End::Reset,
            false => End::Silent,
        };
        let end = closed(connection).unwrap_or(silent_or_reset);
        let index = connection.index().unwrap_or_default();
        self.told.borrow_mut().closed.push((index, end));
    }

    fn on_stream_created(&mut self, _: &mut Connection, _: u64) {}
    fn on_stream_readable(&mut self, _: &mut Connection, _: u64) {}
    fn on_stream_writable(&mut self, _: &mut Connection, _: u64) {}
    fn on_stream_closed(&mut self, _: &mut Connection, _: u64) {}
    fn on_new_token(&mut self, _: &mut Connection, _: Vec<u8>) {}
}

/// The error that ends a connection, if one does.
pub fn closed(connection: &Connection) -> Option<End> {
    let (error, by_peer) = match (connection.peer_error(), connection.local_error()) {
        (Some(error), _) => (error, true),
        (None, Some(error)) => (error, false),
        (None, None) => return None,
    };
    Some(End::Closed {
        by_peer,
        application: error.is_app,
        code: error.error_code,
        reason: String::from_utf8_lossy(&error.reason).into_owned(),
    })
}
