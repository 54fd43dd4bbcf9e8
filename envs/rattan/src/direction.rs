//! One direction of the link: loss, delay, then rate behind a drop-tail queue.

use std::io::{Error, Result};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Duration;

use rattan_core::cells::bandwidth::{BwCell, BwType};
use rattan_core::cells::delay::DelayCell;
use rattan_core::cells::loss::LossCell;
use rattan_core::cells::{Cell, CellState, Egress, Ingress, Packet};
use rattan_core::netem_trace::Bandwidth;
use tokio::time::Instant;

use crate::counters::{count, Counters};
use crate::dice::Dice;
use crate::frame::Frame;
use crate::port::Port;
use crate::queue::CountedQueue;

const LATE: Duration = Duration::from_millis(1);

/// What both directions of the link have in common.
#[derive(Clone, Debug)]
pub struct Link {
    pub rate_bps: u64,
    pub delay: Duration,
    /// 0 … 1
    pub loss: f64,
    pub queue_bytes: usize,
}

/// Build the cells of one direction and start the tasks that move frames along.
pub fn start(link: &Link, from: Arc<Port>, to: Arc<Port>, dice: Dice, counters: Arc<Counters>) -> Result<()> {
    let loss = if link.loss > 0.0 {
        Some(LossCell::new(vec![link.loss], dice).map_err(Error::other)?)
    } else {
        None
    };
    let delay = DelayCell::new(link.delay).map_err(Error::other)?;
    let queue = CountedQueue::new(link.queue_bytes, counters.clone());
    let rate = Bandwidth::from_bps(link.rate_bps);
    let rate = BwCell::new(rate, queue, BwType::NetworkLayer).map_err(Error::other)?;

    let (to_delay, mut from_delay) = open(delay);
    let (to_rate, mut from_rate) = open(rate);
    let lossy = counters.clone();
    tokio::spawn(async move {
        let mut stage = loss.map(open);
        loop {
            let frame = from.receive().await.expect("the interface can be read");
            count(&lossy.entered);
            let passed = match &mut stage {
                None => Some(frame),
                Some((to_loss, from_loss)) => {
                    to_loss.enqueue(frame).expect("the loss stage takes frames");
                    from_loss.dequeue().await
                }
            };
            match passed {
                Some(frame) => to_delay.enqueue(frame).expect("the delay takes frames"),
                None => count(&lossy.lost),
            }
        }
    });
    tokio::spawn(async move {
        loop {
            if let Some(frame) = from_delay.dequeue().await {
                to_rate.enqueue(frame).expect("the queue takes frames");
            }
        }
    });
    tokio::spawn(async move {
        loop {
            if let Some(frame) = from_rate.dequeue().await {
                send(&to, &frame, &counters);
            }
        }
    });
    Ok(())
}

/// Both ends of a cell, ready to work.
fn open<C: Cell<Frame>>(cell: C) -> (Arc<C::IngressType>, C::EgressType) {
    let sender = cell.sender();
    let mut receiver = cell.into_receiver();
    receiver.reset();
    receiver.change_state(CellState::Normal);
    (sender, receiver)
}

fn send(to: &Port, frame: &Frame, counters: &Counters) {
    match to.send(frame) {
        Ok(()) => count(&counters.sent),
        Err(_) => count(&counters.send_errors),
    }
    let late = Instant::now().saturating_duration_since(frame.get_timestamp());
    if late > LATE {
        count(&counters.late);
    }
    counters.late_max_us.fetch_max(late.as_micros() as u64, Relaxed);
}
