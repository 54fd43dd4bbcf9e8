//! The command line.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use crate::direction::Link;

pub const USAGE: &str = "usage: link-emulator --to-client INTERFACE --to-server INTERFACE \
--rate-bps N --delay-us N --loss 0…1 --queue-bytes N [--burst-bytes N]
Joins two interfaces of the current network namespace by a link: in each direction loss, then one-way delay, then a
drop-tail queue in front of the rate, which with --burst-bytes has a token bucket of so many bytes. Bytes are those of Ethernet frames.
Prints \"ready\", then answers each line on standard input by one line of JSON:
  seed UP DOWN   restart the losses of both directions (up: client to server), fill the buckets, zero all counts
  stats          counts since the last seed
  drops          each frame that was dropped since: index among those that entered, loss or queue, bytes, time
It ends at the end of standard input, and with its parent.";

pub struct Arguments {
    pub to_client: String,
    pub to_server: String,
    pub link: Link,
}

pub fn parse(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut given = HashMap::new();
    let mut words = words;
    while let Some(name) = words.next() {
        let value = words.next().ok_or(format!("{name} needs a value"))?;
        given.insert(name, value);
    }
    let arguments = Arguments {
        to_client: take(&mut given, "--to-client")?,
        to_server: take(&mut given, "--to-server")?,
        link: Link {
            rate_bps: take(&mut given, "--rate-bps")?,
            delay: Duration::from_nanos(
                (take::<f64>(&mut given, "--delay-us")?.max(0.0) * 1e3) as u64,
            ),
            loss: take(&mut given, "--loss")?,
            queue_bytes: take(&mut given, "--queue-bytes")?,
            burst_bytes: if given.contains_key("--burst-bytes") {
                take(&mut given, "--burst-bytes")?
            } else {
                0
            },
        },
    };
    if let Some(name) = given.keys().next() {
        return Err(format!("unknown argument {name}"));
    }
    if arguments.link.rate_bps == 0
        || arguments.link.queue_bytes == 0
        || !(0.0..=1.0).contains(&arguments.link.loss)
    {
        return Err("--rate-bps and --queue-bytes must be above 0, --loss within 0…1".into());
    }
    Ok(arguments)
}

fn take<T: FromStr>(given: &mut HashMap<String, String>, name: &str) -> Result<T, String> {
    let text = given.remove(name).ok_or(format!("{name} is missing"))?;
    text.parse()
        .map_err(|_| format!("{name} does not take \"{text}\""))
}
