//! DHT: the paper's distributed hash table (section 5.3, Fig. 6).
//!
//! The table consists of a volume at each process: elements, and a heap for those that found their element
//! taken. All processes but one access the volume of that one, at random elements.

use crate::lock::Kind;
use crate::network::{Network, Time};
use crate::process::Process;
use crate::random::Random;
use crate::simulation::{Simulation, Stuck};
use heddle_rma_locks::{Rank, Reader, Rma, Word};
use std::rc::Rc;

/// The process with the volume.
const VOLUME: Rank = 0;
/// The elements of the table; the heap has room for all that are inserted.
const ELEMENTS: usize = 4096;

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

/// Where the volume's words are.
#[derive(Debug, Clone, Copy)]
struct Volume {
    elements: Word,
    /// The next free place of the heap.
    next_free: Word,
    /// The last element in the heap.
    last: Word,
    heap: Word,
}

impl HashTable {
    /// Runs it and returns the total time, and the number of values in the table. Without a lock (foMPI-A)
    /// all accesses are atomic operations; with one they are gets and puts.
    ///
    /// # Errors
    /// If processes wait for ever.
    pub fn run(&self, kind: Option<Kind>, network: &Network) -> Result<(Time, usize), Stuck> {
        let lock = Rc::new(kind.map(|kind| kind.make(network, self.processes)));
        let elements = lock.as_ref().as_ref().map_or(0, |lock| lock.words);
        let next_free = elements + ELEMENTS;
        let volume = Volume { elements, next_free, last: next_free + 1, heap: next_free + 2 };
        let most = self.processes * self.rounds;
        let words = |p| if p == VOLUME { volume.heap + most } else { elements };
        let inserted = Rc::new(std::cell::Cell::new(0));
        let simulation = Simulation::new(network.clone(), words, self.processes, self.seed, |process| {
            let (lock, table, inserted) = (Rc::clone(&lock), self.clone(), Rc::clone(&inserted));
            async move {
                if process.rank() == VOLUME {
                    return;
                }
                let mut random = Random::new(table.seed, process.rank() as u64 + 1);
                let mut reader = Reader::default();
                for _ in 0..table.rounds {
                    let writes = random.chance(table.writers);
                    // Never 0, which is the empty element.
                    let value = random.bits() | 1;
                    let element = volume.elements + random.below(ELEMENTS as u64) as usize;
                    let Some(lock) = &*lock else {
                        if writes {
                            volume.insert_atomically(&process, value, element).await;
                        } else {
                            process.fetch_add(0, VOLUME, element).await;
                        }
                        inserted.set(inserted.get() + usize::from(writes));
                        continue;
                    };
                    lock.acquire(&process, &mut reader, writes).await;
                    if writes {
                        volume.insert(&process, value, element).await;
                    } else {
                        process.get(VOLUME, element).await;
                    }
                    lock.release(&process, &reader, writes).await;
                    inserted.set(inserted.get() + usize::from(writes));
                }
            }
        });
        let time = simulation.run()?;
        Ok((time, inserted.get()))
    }
}

impl Volume {
    async fn insert_atomically(&self, process: &Process, value: u64, element: Word) {
        if process.compare_and_swap(value, 0, VOLUME, element).await == 0 {
            return;
        }
        let place = process.fetch_add(1, VOLUME, self.next_free).await;
        process.put(value, VOLUME, self.heap + place as usize).await;
        process.flush(VOLUME).await;
        let mut last = process.fetch_add(0, VOLUME, self.last).await;
        // The last element is the one that took the last place.
        while last < place + 1 {
            let found = process.compare_and_swap(place + 1, last, VOLUME, self.last).await;
            if found == last {
                break;
            }
            last = found;
        }
    }

    /// The caller has the lock.
    async fn insert(&self, process: &Process, value: u64, element: Word) {
        if process.get(VOLUME, element).await == 0 {
            process.put(value, VOLUME, element).await;
        } else {
            let place = process.get(VOLUME, self.next_free).await;
            process.put(value, VOLUME, self.heap + place as usize).await;
            process.put(place + 1, VOLUME, self.next_free).await;
            process.put(place + 1, VOLUME, self.last).await;
        }
        process.flush(VOLUME).await;
    }
}
