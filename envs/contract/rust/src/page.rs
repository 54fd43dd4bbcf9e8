//! What is loaded: the HTML, then everything else at once, or one object after the other.

use std::collections::VecDeque;
use std::time::Instant;

use url::Url;

use crate::failure::{Failure, Outcome};
use crate::object::Object;
use crate::requests::Requests;
use crate::timing::ObjectTiming;

/// The load of one page. Objects are known by their number, in the order in which they were asked for.
pub struct Page {
    /// Not yet asked for.
    waiting: VecDeque<Url>,
    objects: Vec<Object>,
    total: usize,
    finished: usize,
    sequential: bool,
    hashed: bool,
    moves: u64,
    moves_begun: u64,
}

impl Page {
    pub fn new(requests: Requests) -> Self {
        Self {
            total: requests.urls.len(),
            waiting: requests.urls.into(),
            objects: Vec::new(),
            finished: 0,
            sequential: requests.sequential,
            hashed: requests.hashed,
            moves: requests.moves,
            moves_begun: 0,
        }
    }

    pub fn is_complete(&self) -> bool {
        self.finished == self.total
    }

    /// What may be asked for now.
    pub fn next(&self) -> Option<&Url> {
        // The HTML tells a browser of the others.
        let first = self.objects.len() == 1;
        let waits = (self.sequential || first) && self.finished < self.objects.len();
        self.waiting.front().filter(|_| !waits)
    }

    /// Note that what [`Page::next`] gave was asked for at `start`. Returns its number.
    pub fn asked(&mut self, start: Instant) -> usize {
        let url = self.waiting.pop_front();
        self.objects
            .extend(url.map(|url| Object::new(url, self.hashed, start)));
        self.objects.len() - 1
    }

    pub fn object(&mut self, number: usize) -> &mut Object {
        &mut self.objects[number]
    }

    /// Note the end of an object.
    pub fn finish(&mut self, number: usize) -> Outcome<()> {
        self.objects[number].finish()?;
        self.finished += 1;
        Ok(())
    }

    /// Why an object that the server gave up fails the load.
    pub fn reset(&self, number: usize, code: u64) -> Failure {
        let path = self.objects[number].url.path();
        Failure::new(format!("{path}: reset by the server, {code:#x}"))
    }

    /// Numbers of the objects that were asked for and are not complete.
    pub fn unfinished(&self) -> Vec<usize> {
        (0..self.objects.len())
            .filter(|number| !self.objects[*number].is_finished())
            .collect()
    }

    /// Note the end of the objects of which only the end of the stream is missing: there is no byte of them
    /// left to ask for on another connection.
    pub fn finish_received(&mut self) -> Outcome<()> {
        for number in self.unfinished() {
            if self.objects[number].is_received() {
                self.finish(number)?;
            }
        }
        Ok(())
    }

    /// Whether it is time to ask for another address. It is told once for each move.
    pub fn move_is_due(&mut self) -> bool {
        if self.moves_begun == self.moves || self.is_complete() {
            return false;
        }
        let Some(expected) = self.expected_bytes() else {
            return false;
        };
        let received: u64 = self.objects.iter().map(Object::bytes).sum();
        let share = (self.moves_begun + 1) as f64 / (self.moves + 1) as f64;
        let due = received as f64 >= share * expected;
        self.moves_begun += u64::from(due);
        due
    }

    /// Bytes of the whole load. An object whose length the server has not told counts as the mean of
    /// the others; of a page the HTML alone tells nothing.
    fn expected_bytes(&self) -> Option<f64> {
        let known: Vec<u64> = self.objects.iter().filter_map(Object::announced).collect();
        let enough = if self.sequential { 1 } else { 2 };
        if known.len() < enough.min(self.total) {
            return None;
        }
        let mean = known.iter().sum::<u64>() as f64 / known.len() as f64;
        Some(mean * self.total as f64)
    }

    /// The objects in the order in which they were asked for; times count from `origin`.
    pub fn timings(self, origin: Instant) -> Vec<ObjectTiming> {
        let objects = self.objects.into_iter();
        objects.map(|object| object.timing(origin)).collect()
    }
}
