//! The free list and counted references under the model checker.

use super::free_list::FreeList;
use super::{ObjectKind, Table};
use crate::sentinel::{Sentinel, step};
use heddle_platform::atomic::{AtomicU32, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::model::explore;
use heddle_platform::statics;
use heddle_platform::with_fault;
use loom::sync::Arc;
use loom::thread;

/// A free list, and the values of its slots.
struct Slots {
    free: FreeList,
    links: [AtomicU32; 3],
    values: [UnsafeCell<u32>; 3],
}

impl Slots {
    /// A list of `free` free slots, the one with index 0 in front.
    fn new(free: u32) -> Arc<Slots> {
        let slots = Arc::new(Slots {
            free: FreeList::new(),
            links: std::array::from_fn(|_| AtomicU32::new(0)),
            values: std::array::from_fn(|_| UnsafeCell::new(0)),
        });
        (0..free).rev().for_each(|index| slots.push(index));
        slots
    }

    fn pop(&self) -> Option<u32> {
        step();
        self.free.pop(|index| &self.links[index as usize])
    }

    fn push(&self, index: u32) {
        step();
        self.free.push(index, &self.links[index as usize]);
    }

    /// Uses a slot that the caller alone has.
    fn use_it(&self, index: u32) {
        // SAFETY: loom reports it if another thread has it, too.
        self.values[index as usize].with_mut(|value| unsafe { *value += 1 });
    }

    fn pop_and_use(&self) -> Option<u32> {
        let index = self.pop()?;
        self.use_it(index);
        Some(index)
    }

    /// Returns true if all slots are there, once each.
    fn are_all_free(&self, number: u32) -> bool {
        let mut free: Vec<u32> = std::iter::from_fn(|| self.pop()).take(10).collect();
        free.sort_unstable();
        free == (0..number).collect::<Vec<_>>()
    }
}

const LOST: &str = "a slot is lost";

/// One thread pops and pushes; the other takes two slots, returns the first and goes on using the second.
fn a_slot_comes_back() {
    let slots = Slots::new(2);
    let other = Arc::clone(&slots);
    let other = thread::spawn(move || {
        let (first, second) = (other.pop_and_use(), other.pop_and_use());
        if let Some(first) = first {
            other.push(first);
        }
        if let Some(second) = second {
            other.use_it(second);
            other.push(second);
        }
    });
    for _ in 0..2 {
        if let Some(index) = slots.pop_and_use() {
            slots.use_it(index);
            slots.push(index);
        }
    }
    other.join().expect("other");
    assert!(slots.are_all_free(2), "{LOST}");
}

fn three_threads_pop_and_push() {
    let slots = Slots::new(3);
    let use_one = |slots: &Slots| {
        let index = slots.pop_and_use().expect("a slot for each");
        slots.push(index);
    };
    let others = [(); 2].map(|()| {
        let slots = Arc::clone(&slots);
        thread::spawn(move || use_one(&slots))
    });
    use_one(&slots);
    others.into_iter().for_each(|other| other.join().expect("other"));
    assert!(slots.are_all_free(3), "{LOST}");
}

statics! {
    static TABLE: Table<Sentinel> = Table::new(ObjectKind::Info);
    static HANDLE: AtomicUsize = AtomicUsize::new(0);
}

/// Looks an object up and uses it.
fn look_up(handle: usize) {
    step();
    if let Some(found) = TABLE.get(handle) {
        found.check();
        let another = found.clone();
        drop(found);
        step();
        another.check();
    }
}

/// One thread uses an object that the other frees, and whose slot it uses anew.
fn use_and_free() {
    let handle = TABLE.insert(Sentinel::new());
    let user = thread::spawn(move || look_up(handle));
    let owned = TABLE.remove(handle).expect("live");
    owned.check();
    step();
    drop(owned);
    step();
    let again = TABLE.insert(Sentinel::new());
    assert_ne!(handle, again);
    look_up(again);
    assert!(TABLE.get(handle).is_none());
    user.join().expect("user");
    drop(TABLE.remove(again).expect("live"));
    assert_eq!(TABLE.existing(), 0);
}

/// Two threads free one object: one of them has freed it.
fn free_twice() {
    let handle = TABLE.insert(Sentinel::new());
    let other = thread::spawn(move || TABLE.remove(handle).map(|owned| owned.check()));
    look_up(handle);
    let here = TABLE.remove(handle).map(|owned| owned.check());
    assert_ne!(here, other.join().expect("other"));
    assert_eq!(TABLE.existing(), 0);
}

/// Two threads make the table's first objects; one looks up the object that the other has made.
fn first_objects() {
    let other = thread::spawn(|| HANDLE.store(TABLE.insert(Sentinel::new()), Ordering::Relaxed));
    let handle = TABLE.insert(Sentinel::new());
    look_up(handle);
    look_up(HANDLE.load(Ordering::Relaxed));
    other.join().expect("other");
    assert_eq!(TABLE.existing(), 2);
    for handle in [handle, HANDLE.load(Ordering::Relaxed)] {
        drop(TABLE.remove(handle).expect("live"));
    }
    assert_eq!(TABLE.existing(), 0);
}

#[test]
fn a_slot_is_given_to_one_thread_at_a_time() {
    explore(Some(4), a_slot_comes_back);
    explore(Some(2), three_threads_pop_and_push);
}

#[test]
fn an_object_lives_as_long_as_its_references() {
    explore(Some(4), use_and_free);
    explore(Some(4), free_twice);
}

#[test]
fn a_handle_leads_to_a_whole_object() {
    explore(Some(3), first_objects);
}

with_fault!(a_list_without_its_counter_is_found, a_slot_comes_back);

with_fault!(a_relaxed_push_is_found, a_slot_comes_back);

with_fault!(a_relaxed_insert_is_found, first_objects);

with_fault!(a_relaxed_last_reference_is_found, use_and_free);
