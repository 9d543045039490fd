//! The hash table, with a few processes, in all interleavings.
//!
//! A process notes its results in words of its own behind the table, as a part of the memory, so two ends
//! of an exploration that differ in them are different states, and the check at the end sees them.

mod explorer;

use explorer::{Explorer, Presence, Process, Report};
use heddle_rma_locks::{HashTable, Rma, SimpleRw};
use std::future::Future;
use std::pin::Pin;

/// The words of a process: the lock, the table, and a note for each of its operations.
const LOCK: SimpleRw = SimpleRw { home: 0, word: 0 };
const TABLE: usize = 1;

/// What an insertion returned, or a look-up found.
const NEW: u64 = 1;
const KNOWN: u64 = 2;
const FULL: u64 = 3;

/// A test for `ci/faults.py`, which runs it with a fault in the source.
macro_rules! with_fault {
    ($name:ident, $report:expr) => {
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            sound(&$report);
        }
    };
}

/// The states of a run without a failure.
fn sound(report: &Report) -> usize {
    assert_eq!(report.failure, None);
    report.states
}

/// How the processes exclude each other.
#[derive(Clone, Copy)]
enum Form {
    CompareAndSwap,
    Locked,
}

/// One volume with one slot, so that all keys but the first come into its list.
fn table(heap: usize) -> HashTable {
    HashTable::new(1, 1, heap, TABLE)
}

/// Inserts a key, and returns the result for the notes.
async fn insert(form: Form, table: &mut HashTable, process: &Process, key: u64) -> u64 {
    let result = match form {
        Form::CompareAndSwap => table.insert(process, key).await,
        Form::Locked => {
            LOCK.acquire_write(process).await;
            let result = table.insert_exclusive(process, key).await;
            process.visit(Presence::Writes).await;
            LOCK.release_write(process).await;
            result
        }
    };
    result.map_or(FULL, |is_new| if is_new { NEW } else { KNOWN })
}

/// Looks a key up, and returns the result for the notes.
async fn look_up(form: Form, table: &HashTable, process: &Process, key: u64) -> u64 {
    let found = match form {
        Form::CompareAndSwap => table.contains(process, key).await,
        Form::Locked => {
            LOCK.acquire_read(process).await;
            let found = table.contains(process, key).await;
            process.visit(Presence::Reads).await;
            LOCK.release_read(process).await;
            found
        }
    };
    u64::from(found)
}

/// Each process inserts the keys that are listed for it, and looks each up after it has inserted it.
fn explore(form: Form, heap: usize, keys: &'static [&'static [u64]]) -> Report {
    let notes = TABLE + table(heap).words();
    let most = keys.iter().map(|keys| keys.len()).max().expect("processes");
    let at_end = |memory: &[Vec<u64>]| check(memory, heap, keys, notes);
    let task = |process: Process| -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let mut table = table(heap);
            let note = async |value, word| {
                process.put(value, process.rank(), notes + word).await;
                process.flush(process.rank()).await;
            };
            for (index, key) in keys[process.rank()].iter().enumerate() {
                note(insert(form, &mut table, &process, *key).await, 2 * index).await;
                // A round depends on its number alone; with compare-and-swap on the spare place, too.
                if let Form::Locked = form {
                    process.begin_round(2 * index as u64);
                }
                note(look_up(form, &table, &process, *key).await, 2 * index + 1).await;
                if let Form::Locked = form {
                    process.begin_round(2 * index as u64 + 1);
                }
            }
        })
    };
    let words = notes + 2 * most;
    let (processes, places) = (keys.len(), explorer::Places::default());
    Explorer { processes, words, task: &task, at_end: &at_end, weak: true, places }.explore()
}

/// What is wrong with the table and the results, if anything is.
fn check(memory: &[Vec<u64>], heap: usize, keys: &[&[u64]], notes: usize) -> Option<String> {
    let words = &memory[0][TABLE..];
    // Read without the code under test: two words in front, two for the slot, then the heap.
    let mut there: Vec<u64> = words[2..3].to_vec();
    let mut place = words[3] as usize;
    while place != 0 && there.len() <= heap + 1 {
        there.push(words[2 + 2 * place]);
        place = words[3 + 2 * place] as usize;
    }
    let mut inserted = Vec::new();
    let mut refused = 0;
    for (p, keys) in keys.iter().enumerate() {
        for (index, key) in keys.iter().enumerate() {
            let (result, found) = (memory[p][notes + 2 * index], memory[p][notes + 2 * index + 1] != 0);
            match result {
                NEW if found => inserted.push(*key),
                KNOWN if found => {}
                FULL => refused += 1,
                _ => return Some(format!("process {p} does not find {key}: {memory:?}")),
            }
        }
    }
    inserted.sort_unstable();
    there.sort_unstable();
    if inserted != there || there.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some(format!("{inserted:?} were inserted, {there:?} are there: {memory:?}"));
    }
    // A process whose key was there keeps one place at most.
    let is_known = |p: usize| (0..keys[p].len()).any(|index| memory[p][notes + 2 * index] == KNOWN);
    let (taken, keepers) = ((words[1] as usize).min(heap), (0..keys.len()).filter(|p| is_known(*p)).count());
    if taken > there.len().saturating_sub(1) + keepers {
        return Some(format!("{taken} places are taken, for {there:?}: {memory:?}"));
    }
    // A place that a process keeps for its next key is lost for others.
    let idle_places = heap + 1 - there.len();
    (refused > 0 && idle_places >= keys.len())
        .then(|| format!("full with {idle_places} free places: {memory:?}"))
}

/// Returns true if the larger sizes are explored, too: in `make verify`.
fn is_long() -> bool {
    std::env::var_os("HEDDLE_EXPLORE_LONG").is_some()
}

fn explore_all(form: Form, sizes: &[(usize, &'static [&'static [u64]])]) {
    for (heap, keys) in sizes {
        println!("heap {heap}, keys {keys:?}: {} states", sound(&explore(form, *heap, keys)));
    }
}

#[test]
fn compare_and_swap() {
    // Different keys; the same keys in another order; the same key three times; a heap that is too small.
    explore_all(
        Form::CompareAndSwap,
        &[
            (0, &[&[1], &[2]]),
            (3, &[&[5], &[5], &[5]]),
            (2, &[&[1, 2], &[3]]),
            (3, &[&[1, 2], &[2, 1]]),
            (1, &[&[1], &[2], &[3]]),
            (4, &[&[1, 2], &[3, 4]]),
            (3, &[&[1, 2, 3], &[3, 2]]),
            (4, &[&[1, 2, 3], &[2, 3]]),
        ],
    );
    if is_long() {
        explore_all(
            Form::CompareAndSwap,
            &[(3, &[&[1], &[2], &[3]]), (5, &[&[1, 2, 3], &[4, 5]]), (4, &[&[1, 2, 3], &[3, 2, 1]])],
        );
    }
}

#[test]
fn locked() {
    explore_all(
        Form::Locked,
        &[(2, &[&[1, 2], &[3]]), (2, &[&[1, 2], &[2, 1]]), (1, &[&[1, 2], &[3]]), (0, &[&[1], &[2]])],
    );
}

with_fault!(a_late_place_is_found, explore(Form::CompareAndSwap, 4, &[&[1, 2], &[3, 4]]));
with_fault!(a_key_that_came_meanwhile_is_found, explore(Form::CompareAndSwap, 3, &[&[1, 2], &[2, 1]]));
with_fault!(a_lock_without_flush_is_found, explore(Form::Locked, 2, &[&[1, 2], &[3]]));
