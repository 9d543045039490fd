//! The hash table on real memory: random keys against an oracle, volumes and heaps that are full, and
//! processes that insert the same keys at once.

mod memory;

use heddle_rma_locks::{HashTable, HeapFull, Rma, RmaRw, now};
use memory::{Memory, Process};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Mutex;

fn insert(table: &mut HashTable, rma: &impl Rma, key: u64, is_exclusive: bool) -> Result<bool, HeapFull> {
    if is_exclusive { now(table.insert_exclusive(rma, key)) } else { now(table.insert(rma, key)) }
}

/// All keys of all volumes.
fn keys(table: &HashTable, rma: &impl Rma, volumes: usize) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..volumes).flat_map(|volume| now(table.keys(rma, volume))).collect();
    keys.sort_unstable();
    keys
}

proptest! {
    #[test]
    fn one_process_against_an_oracle(
        volumes in 1_usize..4,
        slots in 1_usize..9,
        heap in 0_usize..9,
        first in 0_usize..3,
        is_exclusive in any::<bool>(),
        tried in prop::collection::vec(prop_oneof![0_u64..40, any::<u64>()], 0..80),
    ) {
        let mut table = HashTable::new(volumes, slots, heap, first);
        let memory = Memory::of(volumes, first + table.words());
        let process = Process { rank: 0, memory: &memory };
        let mut oracle = HashSet::new();
        for key in tried {
            prop_assert_eq!(now(table.contains(&process, key)), oracle.contains(&key));
            match insert(&mut table, &process, key, is_exclusive) {
                Ok(is_new) => prop_assert_eq!(is_new, oracle.insert(key)),
                Err(full) => {
                    prop_assert_eq!(full, HeapFull { volume: table.volume(key) });
                    prop_assert!(!oracle.contains(&key));
                    // Each place of the heap holds a key, and so does the key's slot.
                    let there = now(table.keys(&process, full.volume)).len();
                    prop_assert!(there > heap);
                }
            }
            prop_assert_eq!(now(table.contains(&process, key)), oracle.contains(&key));
        }
        let mut expected: Vec<u64> = oracle.into_iter().collect();
        expected.sort_unstable();
        prop_assert_eq!(keys(&table, &process, volumes), expected);
        for word in 0..first {
            prop_assert_eq!(now(process.get(0, word)), 0);
        }
    }
}

#[test]
fn a_full_volume_says_so_and_loses_nothing() {
    const HEAP: usize = 10;
    for is_exclusive in [false, true] {
        let mut table = HashTable::new(1, 1, HEAP, 0);
        let memory = Memory::of(1, table.words());
        let process = Process { rank: 0, memory: &memory };
        for key in 1..=1 + HEAP as u64 {
            assert_eq!(insert(&mut table, &process, key, is_exclusive), Ok(true));
        }
        for key in 100..200 {
            let full = insert(&mut table, &process, key, is_exclusive).expect_err("no place is left");
            assert_eq!(full.to_string(), "the overflow heap of volume 0 is full");
            assert!(!now(table.contains(&process, key)));
        }
        // 0 needs no place, and what is there is still found.
        assert_eq!(insert(&mut table, &process, 0, is_exclusive), Ok(true));
        for key in 0..=1 + HEAP as u64 {
            assert_eq!(insert(&mut table, &process, key, is_exclusive), Ok(false));
        }
        assert_eq!(keys(&table, &process, 1), (0..=1 + HEAP as u64).collect::<Vec<_>>());
    }
}

const PROCESSES: usize = 6;

/// Runs `work` in threads, each of which is a process; returns how many keys they said were new.
fn at_once(memory: &Memory, work: impl Fn(&Process<'_>) -> usize + Sync) -> usize {
    let sum = Mutex::new(0);
    std::thread::scope(|scope| {
        for rank in 0..PROCESSES {
            let (work, sum) = (&work, &sum);
            scope.spawn(move || {
                let new = work(&Process { rank, memory });
                *sum.lock().expect("no thread has failed") += new;
            });
        }
    });
    sum.into_inner().expect("no thread has failed")
}

/// Each process begins with another key and looks up all that it has inserted.
#[test]
fn the_same_keys_at_once() {
    const KEYS: u64 = 600;
    let blank = HashTable::new(2, 16, KEYS as usize + PROCESSES, 1);
    let memory = Memory::of(PROCESSES, 1 + blank.words());
    let new = at_once(&memory, |process| {
        let mut table = blank.clone();
        let mut new = 0;
        for index in 0..KEYS {
            let key = (index + process.rank as u64 * 7) % KEYS;
            new += usize::from(now(table.insert(process, key)).expect("there is room"));
            assert!(now(table.contains(process, key)));
        }
        new
    });
    assert_eq!(new, KEYS as usize);
    assert_eq!(keys(&blank, &Process { rank: 0, memory: &memory }, 2), (0..KEYS).collect::<Vec<_>>());
}

/// More keys than places: each is there if and only if one process was told so.
#[test]
fn a_heap_that_becomes_full_at_once() {
    const HEAP: usize = 200;
    let blank = HashTable::new(1, 8, HEAP, 0);
    let memory = Memory::of(PROCESSES, blank.words());
    let inserted = Mutex::new(Vec::new());
    at_once(&memory, |process| {
        let mut table = blank.clone();
        let mut own = Vec::new();
        for index in 0..200 {
            let key = 1 + process.rank as u64 + index * PROCESSES as u64;
            if now(table.insert(process, key)).is_ok() {
                own.push(key);
            }
        }
        inserted.lock().expect("no thread has failed").extend(own);
        0
    });
    let mut inserted = inserted.into_inner().expect("no thread has failed");
    inserted.sort_unstable();
    let there = keys(&blank, &Process { rank: 0, memory: &memory }, 1);
    assert_eq!(there, inserted);
    // All keys differ, so nobody keeps a spare place.
    assert_eq!(there.len(), 8 + HEAP);
}

/// The lock and the table share the words of the processes.
#[test]
fn under_rma_rw() {
    const KEYS: u64 = 300;
    let layout = heddle_rma_locks::Layout::flat(PROCESSES, 2);
    let blank = HashTable::new(1, 16, KEYS as usize, layout.words());
    let memory = Memory::of(PROCESSES, layout.words() + blank.words());
    let lock = RmaRw::new(layout, Vec::new(), 2);
    let new = at_once(&memory, |process| {
        let mut table = blank.clone();
        let mut new = 0;
        for index in 0..KEYS {
            let key = (index + process.rank as u64 * 7) % KEYS;
            now(lock.acquire_write(process));
            new += usize::from(now(table.insert_exclusive(process, key)).expect("there is room"));
            now(lock.release_write(process));
            now(lock.acquire_read(process));
            assert!(now(table.contains(process, key)));
            now(lock.release_read(process));
        }
        new
    });
    assert_eq!(new, KEYS as usize);
    assert_eq!(keys(&blank, &Process { rank: 0, memory: &memory }, 1), (0..KEYS).collect::<Vec<_>>());
}
