//! Holds and cycles under the model checker: what a call or a request uses is there, and what nobody uses goes.
//!
//! The table, the holds, the collector and the words of a request are those that ship.
//!
//! | file | idea |
//! |---|---|
//! | `holds.rs` | calls and requests against one thread that frees and collects |
//! | `cycles.rs` | cycles at once, slots that are used anew, the number of eligible objects |

mod cycles;
mod holds;

use super::collector::{Collected, Collector, Step};
use super::hazard::{KeptPlace, forget};
use crate::canary::{Canary, step};
use crate::request::Names;
use crate::table::{Held, Kind, Table};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
use heddle_platform::modelled::never_freed;
use heddle_platform::statics;
use loom::thread::JoinHandle;
use std::ptr::null_mut;

statics! {
    // SAFETY: there is no other collected table in a model.
    static TABLE: Table<Canary> = unsafe { Table::collected(Kind::Session) };
    static COLLECTOR: Collector = Collector::new(tables());
    static REQUEST: Slot = Slot {
        generation: AtomicU32::new(0),
        comm: AtomicUsize::new(0),
        datatype: AtomicPtr::new(null_mut()),
    };
}

/// As much of a request's slot as a cycle sees.
struct Slot {
    generation: AtomicU32,
    comm: AtomicUsize,
    datatype: AtomicPtr<()>,
}

impl Slot {
    fn names(&self) -> Names<'_, ()> {
        Names { generation: &self.generation, comm: &self.comm, datatype: &self.datatype }
    }
}

fn tables() -> &'static [&'static dyn Collected] {
    let tables: *mut [&'static dyn Collected] = Box::into_raw(Box::new([&*TABLE as &'static dyn Collected]));
    // SAFETY: made above.
    unsafe { never_freed(tables) };
    // SAFETY: as above.
    unsafe { &*tables }
}

fn requests(root: &mut dyn FnMut(usize)) -> usize {
    REQUEST.names().roots(root);
    1
}

fn new_object() -> usize {
    step();
    TABLE.insert(Canary::new())
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

fn hold(handle: usize) -> Option<Held<Canary>> {
    step();
    TABLE.hold(handle, KeptPlace::Comm)
}

fn use_it(held: &Held<Canary>) {
    // SAFETY: the object is held, or a request names it.
    unsafe { held.value.as_ref() }.sing();
}

/// The thread's last call with the object is over.
fn give_up(held: &Held<Canary>, handle: usize) {
    step();
    assert!(held.hold.give_up());
    forget(handle);
}

/// A call that uses an object.
fn call(handle: usize) {
    if let Some(held) = hold(handle) {
        use_it(&held);
        give_up(&held, handle);
    }
}

/// Nobody uses anything any more, so a cycle leaves nothing.
fn nothing_is_left() {
    cycle();
    assert_eq!(TABLE.existing(), 0, "{LEFT}");
    // One that was found before its last reference was counted may be counted after its end, until its slot is used again.
    assert!(TABLE.eligible() <= 1, "{TOO_MANY}");
}

const LEFT: &str = "an object is left";
const TOO_MANY: &str = "more objects are eligible than there are";

fn done(thread: JoinHandle<()>) {
    thread.join().expect("no panic");
}
