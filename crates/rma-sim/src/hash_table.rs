//! DHT: the paper's distributed hash table (section 5.3, Fig. 6).
//!
//! The table is [`heddle_rma_locks::HashTable`] with one volume. All processes but the volume's insert random
//! keys and look them up.

use crate::lock::LockKind;
use crate::network::{SimulatedNetwork, Time};
use crate::random::Random;
use crate::simulation::{Simulation, Stuck};
use heddle_rma_locks::{HashTable as Table, Rank, Reader, Rma};
use std::cell::Cell;
use std::rc::Rc;

/// The process with the volume.
const VOLUME: Rank = 0;
/// The slots of its table; the heap has room for all keys that are inserted.
const SLOTS: usize = 4096;

/// A run of the hash table.
#[derive(Debug, Clone)]
pub struct HashTable {
    /// The number of processes; all but the first access the table.
    pub processes: usize,
    /// How many times each does.
    pub rounds: usize,
    /// F_W: the share of inserts; the others read.
    pub writers: f64,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl HashTable {
    /// Runs it and returns the total time, and the number of keys in the table. Without a lock (foMPI-A)
    /// inserts are by compare-and-swap; with one all accesses are gets and puts.
    ///
    /// # Errors
    /// If processes wait for ever.
    ///
    /// # Panics
    /// Never: the heap has room for every key.
    pub fn run(&self, kind: Option<LockKind>, network: &SimulatedNetwork) -> Result<(Time, usize), Stuck> {
        let lock = Rc::new(kind.map(|kind| kind.make(network, self.processes)));
        let first = lock.as_ref().as_ref().map_or(0, |lock| lock.words);
        let table = Table::new(1, SLOTS, self.processes * self.rounds, first);
        let words = |p| first + if p == VOLUME { table.words() } else { 0 };
        let inserted = Rc::new(Cell::new(0));
        let simulation = Simulation::new(network.clone(), words, self.processes, self.seed, |process| {
            let (lock, run, mut table) = (Rc::clone(&lock), self.clone(), table.clone());
            let inserted = Rc::clone(&inserted);
            async move {
                if process.rank() == VOLUME {
                    return;
                }
                let mut random = Random::new(run.seed, process.rank() as u64 + 1);
                let mut reader = Reader::default();
                for _ in 0..run.rounds {
                    let writes = random.chance(run.writers);
                    let key = random.bits();
                    if let Some(lock) = &*lock {
                        lock.acquire(&process, &mut reader, writes).await;
                    }
                    let is_new = match (writes, &*lock) {
                        (false, _) => {
                            table.contains(&process, key).await;
                            Ok(false)
                        }
                        (true, None) => table.insert(&process, key).await,
                        (true, Some(_)) => table.insert_exclusive(&process, key).await,
                    };
                    let is_new = is_new.expect("the heap has room for every key");
                    if let Some(lock) = &*lock {
                        lock.release(&process, &reader, writes).await;
                    }
                    inserted.set(inserted.get() + usize::from(is_new));
                }
            }
        });
        let time = simulation.run()?;
        Ok((time, inserted.get()))
    }
}
