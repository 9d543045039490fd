//! A distributed hash table of 64-bit integers (paper, section 5.3).
//!
//! Each process keeps a *volume*: a table, and a heap of places for keys that find theirs in the table
//! taken. All is in words of an [`Rma`]:
//!
//! | words of a volume | meaning |
//! |---|---|
//! | `ZERO` | 1 if the key 0 is in the set: in a place, 0 says that the place is free |
//! | `USED` | places of the heap given out, and attempts on a full heap |
//! | two for each slot of the table | a key, and the last place of the list of those that found the slot taken |
//! | two for each place of the heap | a key, and the place before it in the list |
//!
//! A place is named by its number + 1, so 0 is the end of a list.
//!
//! 1. A key in a slot or in a list stays there, with the rest of the list behind it. So a look-up needs no
//!    lock beside [`insert`](HashTable::insert).
//! 2. A place of the heap is written by the process that took it alone, and all that it wrote is complete
//!    before a list names the place.
//! 3. A process enters a key at the end that it has read last, and has compared the key with all before. So
//!    no key is there twice.
//!
//! **Two ways to insert.** [`insert`](HashTable::insert) synchronises by compare-and-swap, as the
//! paper's foMPI-A does. [`insert_exclusive`](HashTable::insert_exclusive) uses reads and writes alone, while
//! the caller holds a lock of the volume for writing; look-ups then need it for reading. The two are not to
//! be mixed at a time.
//!
//! **Departures from the paper**, which has a paragraph on the table: keys are unique, and a process that
//! took a place for a key that another process has entered meanwhile keeps the place for its next key.

use crate::rma::{Rank, Rma, Word};
use std::fmt;

/// What a free slot holds.
const FREE: u64 = 0;
/// The end of a list.
const END: u64 = 0;
/// 1 if the key 0 is in the set.
const ZERO: Word = 0;
/// The number of places of the heap that were given out.
const USED: Word = 1;
/// The words in front of the table.
const HEAD: usize = 2;
/// 2^64 divided by the golden ratio: multiplicative hashing (Knuth, The Art of Computer Programming, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The heap of the key's volume has no place left. The table is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapFull {
    /// The process that keeps the volume.
    pub volume: Rank,
}

impl fmt::Display for HeapFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the overflow heap of volume {} is full", self.volume)
    }
}

impl std::error::Error for HeapFull {}

/// A process's handle of a table. All processes make theirs with the same numbers.
#[derive(Debug, Clone)]
pub struct HashTable {
    volumes: usize,
    slots: usize,
    heap: usize,
    first: Word,
    /// For each volume: a place of its heap that this process has taken and not used, or `END`.
    spare: Vec<u64>,
}

impl HashTable {
    /// A table with a volume at each of the processes 0 to `volumes` - 1, each with so many `slots`, and so
    /// many places in its `heap`. Its words begin with the word `first` of each process.
    ///
    /// # Panics
    /// If there are no volumes or no slots.
    pub fn new(volumes: usize, slots: usize, heap: usize, first: Word) -> HashTable {
        assert!(volumes > 0 && slots > 0, "a table has a volume, and a volume a slot");
        HashTable { volumes, slots, heap, first, spare: vec![END; volumes] }
    }

    /// The number of words that each process with a volume keeps.
    pub fn words(&self) -> usize {
        HEAD + 2 * (self.slots + self.heap)
    }

    /// The process that keeps this key.
    pub fn volume(&self, key: u64) -> Rank {
        share(key.wrapping_mul(GOLDEN), self.volumes)
    }

    /// The word of the key's slot; the word behind it names the last place of the slot's list.
    fn slot(&self, key: u64) -> Word {
        // The high half of the product has chosen the volume.
        let mixed = key.wrapping_mul(GOLDEN).rotate_left(32).wrapping_mul(GOLDEN);
        self.first + HEAD + 2 * share(mixed, self.slots)
    }

    /// The word with the key of a place of the heap; the word behind it names the place before.
    fn place(&self, place: u64) -> Word {
        self.first + HEAD + 2 * (self.slots + place as usize - 1)
    }

    /// Enters a key by compare-and-swap. Returns false if it was there. Other processes may insert and look
    /// up at the same time.
    ///
    /// # Errors
    /// If the heap is full and the key was not found. Each other process may hold one place of a heap for its
    /// next key, so a heap may be full with so many keys less.
    pub async fn insert(&mut self, rma: &impl Rma, key: u64) -> Result<bool, HeapFull> {
        let volume = self.volume(key);
        if key == FREE {
            return Ok(rma.compare_and_swap(1, 0, volume, self.first + ZERO).await == 0);
        }
        let slot = self.slot(key);
        let before = rma.compare_and_swap(key, FREE, volume, slot).await;
        if before == FREE || before == key {
            return Ok(before == FREE);
        }
        let mut last = rma.get(volume, slot + 1).await;
        if self.is_between(rma, key, volume, last, END).await {
            return Ok(false);
        }
        let new = self.take(rma, volume).await?;
        rma.put(key, volume, self.place(new)).await;
        loop {
            rma.put(last, volume, self.place(new) + 1).await;
            // A late put would show others a wrong key, or a list that has lost its rest (invariant 2).
            rma.flush(volume).await;
            let now = rma.compare_and_swap(new, last, volume, slot + 1).await;
            if now == last {
                return Ok(true);
            }
            // Invariant 3: compare with those that came meanwhile.
            if self.is_between(rma, key, volume, now, last).await {
                self.spare[volume] = new;
                return Ok(false);
            }
            last = now;
        }
    }

    /// Takes a place of the heap.
    async fn take(&mut self, rma: &impl Rma, volume: Rank) -> Result<u64, HeapFull> {
        let spare = std::mem::replace(&mut self.spare[volume], END);
        if spare != END {
            return Ok(spare);
        }
        // Attempts on a full heap count, too: 64 bits have room for more than there can ever be.
        let before = rma.fetch_add(1, volume, self.first + USED).await;
        if before < self.heap as u64 { Ok(before + 1) } else { Err(HeapFull { volume }) }
    }

    /// Enters a key without atomic operations, while the caller holds a lock of the key's volume for
    /// writing. Returns false if it was there. All is complete at the end.
    ///
    /// # Errors
    /// If the heap is full and the key was not found.
    pub async fn insert_exclusive(&mut self, rma: &impl Rma, key: u64) -> Result<bool, HeapFull> {
        let volume = self.volume(key);
        if self.contains(rma, key).await {
            return Ok(false);
        }
        let slot = self.slot(key);
        if key == FREE {
            rma.put(1, volume, self.first + ZERO).await;
        } else if rma.get(volume, slot).await == FREE {
            rma.put(key, volume, slot).await;
        } else {
            let used = rma.get(volume, self.first + USED).await;
            if used >= self.heap as u64 {
                return Err(HeapFull { volume });
            }
            let (new, last) = (used + 1, rma.get(volume, slot + 1).await);
            rma.put(new, volume, self.first + USED).await;
            rma.put(key, volume, self.place(new)).await;
            rma.put(last, volume, self.place(new) + 1).await;
            rma.put(new, volume, slot + 1).await;
        }
        // Before the caller releases the lock: the next one would not see a late put.
        rma.flush(volume).await;
        Ok(true)
    }

    /// Returns true if the key is in the table.
    pub async fn contains(&self, rma: &impl Rma, key: u64) -> bool {
        let volume = self.volume(key);
        if key == FREE {
            return rma.get(volume, self.first + ZERO).await != 0;
        }
        let slot = self.slot(key);
        match rma.get(volume, slot).await {
            FREE => false,
            there if there == key => true,
            _ => {
                let last = rma.get(volume, slot + 1).await;
                self.is_between(rma, key, volume, last, END).await
            }
        }
    }

    /// Returns true if the key is in a list from the place `from` on, before the place `to`.
    async fn is_between(&self, rma: &impl Rma, key: u64, volume: Rank, from: u64, to: u64) -> bool {
        let mut place = from;
        while place != to {
            if rma.get(volume, self.place(place)).await == key {
                return true;
            }
            place = rma.get(volume, self.place(place) + 1).await;
        }
        false
    }

    /// All keys of a volume, in no order; those that are entered meanwhile may be missing.
    pub async fn keys(&self, rma: &impl Rma, volume: Rank) -> Vec<u64> {
        let mut keys = Vec::new();
        if rma.get(volume, self.first + ZERO).await != 0 {
            keys.push(FREE);
        }
        for slot in 0..self.slots {
            let slot = self.first + HEAD + 2 * slot;
            let key = rma.get(volume, slot).await;
            if key == FREE {
                continue;
            }
            keys.push(key);
            let mut place = rma.get(volume, slot + 1).await;
            while place != END {
                keys.push(rma.get(volume, self.place(place)).await);
                place = rma.get(volume, self.place(place) + 1).await;
            }
        }
        keys
    }
}

/// The share of a random number among `count` equal ones, by its high bits.
fn share(random: u64, count: usize) -> usize {
    ((u128::from(random) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::HashTable;

    #[test]
    fn neighbouring_keys_are_spread_over_volumes_and_slots() {
        let table = HashTable::new(8, 64, 0, 0);
        let mut counts = [[0_u32; 64]; 8];
        for key in 0..8 * 64 * 16 {
            counts[table.volume(key)][(table.slot(key) - 2) / 2] += 1;
        }
        let (least, most) = (counts.iter().flatten().min(), counts.iter().flatten().max());
        assert!(least > Some(&2) && most < Some(&48), "{least:?} {most:?} where 16 are expected");
    }
}
