//! Hazard slots and cycles under the model checker: an object that a call or a request uses exists, and any
//! other is destroyed.
//!
//! The table, the hazard slots, the collector and the words of a request are those that ship.
//!
//! | file | idea |
//! |---|---|
//! | `hazards.rs` | calls and requests against one thread that frees and collects |
//! | `cycles.rs` | cycles at once, slots that are used anew, the number of eligible objects |

mod cycles;
mod hazards;

use super::collector::{Collected, Collector, Step};
use super::hazard::{KeptSlot, forget};
use crate::request::RequestNames;
use crate::sentinel::{Sentinel, step};
use crate::table::{ObjectKind, Protected, Table};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
use heddle_platform::modelled::never_freed;
use heddle_platform::statics;
use loom::thread::JoinHandle;
use std::ptr::null_mut;

statics! {
    // SAFETY: there is no other collected table in a model.
    static TABLE: Table<Sentinel> = unsafe { Table::collected(ObjectKind::Session) };
    static COLLECTOR: Collector = Collector::new(tables());
    static REQUEST: Slot = Slot {
        generation: AtomicU32::new(0),
        comm: AtomicUsize::new(0),
        datatype: AtomicPtr::new(null_mut()),
    };
}

/// The words of a request's slot that a cycle reads.
struct Slot {
    generation: AtomicU32,
    comm: AtomicUsize,
    datatype: AtomicPtr<()>,
}

impl Slot {
    fn names(&self) -> RequestNames<'_, ()> {
        RequestNames { generation: &self.generation, comm: &self.comm, datatype: &self.datatype }
    }
}

fn tables() -> &'static [&'static dyn Collected] {
    let tables: *mut [&'static dyn Collected] = Box::into_raw(Box::new([&*TABLE as &'static dyn Collected]));
    // SAFETY: `tables` comes from a box made here.
    unsafe { never_freed(tables) };
    // SAFETY: `tables` comes from a box made here, and is never freed.
    unsafe { &*tables }
}

fn requests(root: &mut dyn FnMut(usize)) -> usize {
    REQUEST.names().roots(root);
    1
}

fn new_object() -> usize {
    step();
    TABLE.insert(Sentinel::new())
}

fn free(handle: usize) {
    step();
    let owned = TABLE.remove(handle).expect("live");
    step();
    drop(owned);
    forget(handle);
}

fn cycle() {
    COLLECTOR.cycle(requests, &mut |at| {
        if !matches!(at, Step::Begun | Step::Claimed | Step::Over) {
            step();
        }
    });
}

fn protect(handle: usize) -> Option<Protected<Sentinel>> {
    step();
    TABLE.protect(handle, KeptSlot::Comm)
}

fn use_it(protected: &Protected<Sentinel>) {
    // SAFETY: the object is protected, or a request names it.
    unsafe { protected.value.as_ref() }.check();
}

/// The thread's last call with the object is over.
fn release(protected: &Protected<Sentinel>, handle: usize) {
    step();
    assert!(protected.protection.release());
    forget(handle);
}

/// A call that uses an object.
fn call(handle: usize) {
    if let Some(protected) = protect(handle) {
        use_it(&protected);
        release(&protected, handle);
    }
}

/// No object is in use any more, so a cycle leaves none.
fn nothing_is_left() {
    cycle();
    assert_eq!(TABLE.existing(), 0, "{LEFT}");
    // One that was found before its last reference was counted may be counted after its end, until its slot
    // is used again.
    assert!(TABLE.eligible() <= 1, "{TOO_MANY}");
}

const LEFT: &str = "an object is left";
const TOO_MANY: &str = "more objects are eligible than there are";

fn done(thread: JoinHandle<()>) {
    thread.join().expect("no panic");
}
