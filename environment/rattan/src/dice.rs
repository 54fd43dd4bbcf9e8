//! A random number generator for the loss stage that can be seeded again while it is in use.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use rand::{SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::counters::{count, Counters};

/// xoshiro256++ behind a handle: the loss stage draws from one copy, the control thread seeds by another.
#[derive(Clone)]
pub struct Dice {
    generator: Arc<Mutex<Xoshiro256PlusPlus>>,
    counters: Arc<Counters>,
}

impl Dice {
    pub fn new(counters: Arc<Counters>) -> Self {
        Self {
            generator: Arc::new(Mutex::new(Xoshiro256PlusPlus::seed_from_u64(0))),
            counters,
        }
    }

    /// Start the sequence that belongs to `seed`, and all counts of the direction.
    pub fn seed(&self, seed: u64) {
        let mut generator = self
            .generator
            .lock()
            .expect("the generator's lock is never poisoned");
        *generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.counters.reset();
    }

    fn draw<T>(
        &self,
        draw: impl FnOnce(&mut Xoshiro256PlusPlus) -> Result<T, Infallible>,
    ) -> Result<T, Infallible> {
        let mut generator = self
            .generator
            .lock()
            .expect("the generator's lock is never poisoned");
        count(&self.counters.draws);
        draw(&mut generator)
    }
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.draw(TryRng::try_next_u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.draw(TryRng::try_next_u64)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.draw(|generator| generator.try_fill_bytes(bytes))
    }
}
