//! qlog files and the key log of a connection.

use contract::logs::{create_qlog, open_key_log, QlogFile};
use contract::Outcome;

use crate::settings::Settings;

/// Start the qlog and the key log of a connection, as far as they are asked for.
pub fn start_logs(
    connection: &mut quiche::Connection,
    settings: &Settings,
    title: &str,
    original_id: &quiche::ConnectionId<'_>,
) -> Outcome<Option<QlogFile>> {
    if let Some(file) = open_key_log(settings)? {
        connection.set_keylog(Box::new(file));
    }
    let Some(file) = create_qlog(settings, original_id)? else {
        return Ok(None);
    };
    let pacing = settings.pacing;
    let description = format!("{}, pacing {pacing:?}", settings.description());
    connection.set_qlog(
        Box::new(file.clone()),
        format!("quiche {title}"),
        description,
    );
    Ok(Some(file))
}
