//! One direction of the link: loss, delay, then a drop-tail queue in front of the rate, which may have a token bucket.

use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use rattan_core::cells::bandwidth::{BwCell, BwType};
use rattan_core::cells::delay::DelayCell;
use rattan_core::cells::loss::LossCell;
use rattan_core::cells::{Cell, CellState, Egress, Ingress, Packet};
use rattan_core::netem_trace::Bandwidth;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use crate::bucket::Bucket;
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
    /// What passes at once after idleness; 0: nothing does.
    pub burst_bytes: u64,
}

/// What the control thread and a direction share.
#[derive(Clone)]
pub struct Shared {
    pub dice: Dice,
    pub counters: Arc<Counters>,
    /// Set: the token bucket is full again.
    pub refill: Arc<AtomicBool>,
}

/// Build the cells of one direction and start the tasks that move frames along.
pub fn start(link: &Link, from: Arc<Port>, to: Arc<Port>, shared: &Shared) -> Result<()> {
    let Shared { dice, counters, .. } = shared.clone();
    let loss = if link.loss > 0.0 {
        Some(LossCell::new(vec![link.loss], dice).map_err(Error::other)?)
    } else {
        None
    };
    let delay = DelayCell::new(link.delay).map_err(Error::other)?;
    let (to_delay, mut from_delay) = open(delay);
    let to_rate = start_rate(link, to, shared)?;
    let lossy = counters.clone();
    tokio::spawn(async move {
        let mut stage = loss.map(open);
        loop {
            let mut frame = from.receive().await.expect("the interface can be read");
            frame.index = lossy.entered.fetch_add(1, Relaxed);
            let (index, bytes) = (frame.index, frame.length());
            let passed = match &mut stage {
                None => Some(frame),
                Some((to_loss, from_loss)) => {
                    to_loss.enqueue(frame).expect("the loss stage takes frames");
                    from_loss.dequeue().await
                }
            };
            match passed {
                Some(frame) => to_delay.enqueue(frame).expect("the delay takes frames"),
                None => {
                    count(&lossy.lost);
                    lossy.drops.add(index, "loss", bytes);
                }
            }
        }
    });
    tokio::spawn(async move {
        loop {
            if let Some(frame) = from_delay.dequeue().await {
                to_rate(frame);
            }
        }
    });
    Ok(())
}

/// Start queue and rate; returns how they get frames.
fn start_rate(link: &Link, to: Arc<Port>, shared: &Shared) -> Result<Box<dyn Fn(Frame) + Send>> {
    let counters = shared.counters.clone();
    let queue = CountedQueue::new(link.queue_bytes, counters.clone());
    if link.burst_bytes > 0 {
        let (to_bucket, frames) = unbounded_channel();
        let mut bucket = Bucket::new(
            frames,
            queue,
            link.rate_bps,
            link.burst_bytes,
            shared.refill.clone(),
        )?;
        tokio::spawn(async move {
            while let Some(frame) = bucket.pass().await {
                send(&to, &frame, &counters);
            }
        });
        return Ok(Box::new(move |frame| {
            to_bucket.send(frame).expect("the bucket takes frames")
        }));
    }
    let rate = Bandwidth::from_bps(link.rate_bps);
    let rate = BwCell::new(rate, queue, BwType::NetworkLayer).map_err(Error::other)?;
    let (to_rate, mut from_rate) = open(rate);
    tokio::spawn(async move {
        loop {
            if let Some(frame) = from_rate.dequeue().await {
                send(&to, &frame, &counters);
            }
        }
    });
    Ok(Box::new(move |frame| {
        to_rate.enqueue(frame).expect("the queue takes frames")
    }))
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
    counters
        .late_max_us
        .fetch_max(late.as_micros() as u64, Relaxed);
}
