//! What calls use: each thread publishes the handles in places of its own.
//!
//! A call that looks up a communicator or datatype writes its handle to a place of its thread, unless it stands there already.
//! It is not cleared when the call is over but when the thread needs the place, frees the object or ends: so the next call
//! with the same object finds it by one comparison and need not write anything that others read. What is kept longer than
//! needed that way is at most what the threads used last, [`KEPT`] objects each.
//!
//! A thread has [`PLACES`] places; calls that need more (nested ones, or `MPI_Alltoallw`) count references instead. A
//! thread's places are given to another one after its end, so there are as many as there were threads at once.

use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use heddle_platform::cell::Cell;
use heddle_platform::modelled::never_freed;
use heddle_platform::{array_of, barrier, const_fn, statics, thread_locals};
use std::ptr::{null, null_mut};

/// How many objects a thread's calls can use at once without counting.
const PLACES: usize = if cfg!(loom) { 3 } else { 8 };

/// What stands in a place that names nothing.
const NO_HANDLE: usize = 0;

/// How many of the places go on naming their object between calls.
const KEPT: usize = 2;

/// A place that goes on naming its object, for objects of one kind.
#[derive(Debug, Clone, Copy)]
pub enum KeptPlace {
    /// Communicators.
    Comm,
    /// Datatypes.
    Datatype,
}

impl KeptPlace {
    /// The calling thread's, if it has places.
    #[inline(always)]
    pub fn of_thread(self) -> Option<&'static Place> {
        of_thread().map(|places| &places.places[self as usize])
    }
}

/// A place where a thread says which object its calls use.
#[derive(Debug)]
pub struct Place {
    /// The object's handle, or zero. Written by its thread alone.
    handle: AtomicUsize,
    /// Where the object is, if there is one. Only its thread looks here.
    slot: Cell<*const ()>,
    /// How many uses of the object there are in calls of the thread. Only its thread looks here.
    users: Cell<u32>,
}

/// The places of a thread.
#[derive(Debug)]
#[repr(align(128))]
struct Places {
    places: [Place; PLACES],
    taken: AtomicBool,
    /// Set before it is put into the list.
    next: AtomicPtr<Places>,
}

// SAFETY: the cells are used by the thread alone that has taken the places; that they are given from one thread to the next
// is ordered by `taken`.
unsafe impl Sync for Places {}

statics! {
    /// All threads' places. The list only grows, at its beginning.
    static ALL: AtomicPtr<Places> = AtomicPtr::new(null_mut());
}

heddle_platform::thread_slot!(mine, "heddle_engine_places_slot");

/// Returns a thread's places when it ends.
struct ReturnAtExit(Cell<Option<&'static Places>>);

thread_locals! {
    static ENDING: Cell<bool> = Cell::new(false);
    static AT_EXIT: ReturnAtExit = ReturnAtExit(Cell::new(None));
}

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        // It has no destructor and so is there still, but not in a model.
        let _ = ENDING.try_with(|ending| ending.set(true));
        if let Some(places) = self.0.get() {
            mine::set(null_mut());
            for place in &places.places {
                // What a call was using when the thread was ended in it stays: nobody knows how far it had come.
                if place.users.get() == 0 {
                    place.clear();
                }
            }
            // Release: pairs with the Acquire in `take_places`.
            let order =
                if planted(Fault::PlacesRelaxedReturn) { Ordering::Relaxed } else { Ordering::Release };
            places.taken.store(false, order);
        }
    }
}

impl Place {
    const_fn! {
        const fn new() -> Place {
            Place { handle: AtomicUsize::new(NO_HANDLE), slot: Cell::new(null()), users: Cell::new(0) }
        }
    }

    /// Where the object of a handle is, if this place names it: then it exists, and may be [held again](Hold::again).
    #[inline(always)]
    pub fn slot_of(&self, handle: usize) -> Option<(&Place, *const ())> {
        if handle == NO_HANDLE || self.handle.load(Ordering::Relaxed) != handle {
            return None;
        }
        Some((self, self.slot.get()))
    }

    fn clear(&self) {
        // Release: pairs with the Acquire in `for_each`: what calls did with the object is seen by who misses the name.
        let order = if planted(Fault::HoldClearsSilently) { Ordering::Relaxed } else { Ordering::Release };
        self.handle.store(NO_HANDLE, order);
    }
}

/// What keeps an object for a call: nothing (it is predefined, or a request has it), a counted reference, or a place where
/// its handle is published. Only the thread that made it may drop it.
#[derive(Debug, PartialEq, Eq)]
pub struct Hold(usize);

/// The place is to be cleared after its last use.
const CLEARED: usize = 2;

impl Hold {
    /// For an object that lives as long as MPI, or that a request keeps.
    pub const NOTHING: Hold = Hold(0);
    /// The hold owns a counted reference.
    pub const COUNTED: Hold = Hold(1);

    /// One more use of an object that the thread's own place names.
    #[inline(always)]
    pub fn again(place: &'static Place) -> Hold {
        place.users.set(place.users.get() + 1);
        Hold(std::ptr::from_ref(place).expose_provenance())
    }

    /// Publishes a handle in the preferred place or another one, and then asks whether it is valid. `None` if it is not;
    /// `Some(None)` if the thread has no place left.
    pub fn publish(
        handle: usize,
        preferred: KeptPlace,
        slot: *const (),
        is_valid: impl Fn() -> bool,
    ) -> Option<Option<Hold>> {
        let Some((place, cleared)) = free_place(preferred) else { return Some(None) };
        let too_early = planted(Fault::HoldChecksFirst).then(&is_valid);
        // Release: it replaces another name, as `clear` does.
        let order = if planted(Fault::HoldReplacesSilently) { Ordering::Relaxed } else { Ordering::Release };
        place.handle.store(handle, order);
        if !planted(Fault::HoldWithoutLight) {
            // Pairs with the heavy barrier of the collector.
            barrier::light();
        }
        if !too_early.unwrap_or_else(is_valid) {
            place.clear();
            return None;
        }
        place.slot.set(slot);
        Some(Some(Hold(Hold::again(place).0 | cleared)))
    }

    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.0 == Hold::NOTHING.0
    }

    /// Whether the hold owns a counted reference.
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.0 == Hold::COUNTED.0
    }

    /// Gives the object up; returns false, having done nothing, if that takes counting.
    #[inline(always)]
    pub fn give_up(&self) -> bool {
        if self.0 & (Hold::COUNTED.0 | CLEARED) != 0 {
            return self.give_up_slowly();
        }
        if !self.is_nothing() {
            let place = self.place();
            place.users.set(place.users.get() - 1);
        }
        true
    }

    #[inline(never)]
    fn give_up_slowly(&self) -> bool {
        if self.is_counted() {
            return false;
        }
        let place = self.place();
        place.users.set(place.users.get() - 1);
        if place.users.get() == 0 {
            place.clear();
        }
        true
    }

    /// The place where the object is published.
    #[inline(always)]
    fn place(&self) -> &'static Place {
        // SAFETY: neither of the other two, so the address of a place; places are never freed.
        unsafe { &*std::ptr::with_exposed_provenance::<Place>(self.0 & !CLEARED) }
    }
}

#[inline(always)]
fn of_thread() -> Option<&'static Places> {
    // SAFETY: null, or places that are never freed.
    unsafe { mine::get().cast::<Places>().as_ref() }
}

/// A place for another object: the preferred one, if no call is using what it names. With what the hold has to know.
#[inline(never)]
fn free_place(preferred: KeptPlace) -> Option<(&'static Place, usize)> {
    let places = match of_thread() {
        Some(places) => places,
        None if ENDING.with(Cell::get) => return None,
        None => {
            let places = take_places();
            mine::set(std::ptr::from_ref(places).cast_mut().cast());
            AT_EXIT.with(|at_exit| at_exit.0.set(Some(places)));
            places
        }
    };
    let unused = |place: &&Place| place.users.get() == 0;
    let first = Some(&places.places[preferred as usize]).filter(unused).map(|place| (place, 0));
    first.or_else(|| places.places[KEPT..].iter().find(unused).map(|place| (place, CLEARED)))
}

/// Places that no thread has.
fn take_places() -> &'static Places {
    let take =
        |places: &&Places| !places.taken.swap(true, Ordering::Acquire) || planted(Fault::PlacesPlainTake);
    let free = all().filter(|places| !places.taken.load(Ordering::Relaxed)).find(take);
    free.unwrap_or_else(|| {
        let new = Box::into_raw(Box::new(Places {
            places: array_of![Place::new(); PLACES],
            taken: AtomicBool::new(true),
            next: AtomicPtr::new(null_mut()),
        }));
        // SAFETY: made above; places are never freed.
        unsafe { never_freed(new) };
        // SAFETY: as above.
        let new: &'static Places = unsafe { &*new };
        let mut first = ALL.load(Ordering::Relaxed);
        loop {
            new.next.store(first, Ordering::Relaxed);
            let this = std::ptr::from_ref(new).cast_mut();
            // Release: pairs with the Acquire in `all`.
            match ALL.compare_exchange_weak(first, this, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return new,
                Err(now) => first = now,
            }
        }
    })
}

fn all() -> impl Iterator<Item = &'static Places> {
    // SAFETY: null, or places that are never freed.
    let behind = |place: &AtomicPtr<Places>| unsafe { place.load(Ordering::Acquire).as_ref() };
    std::iter::successors(behind(&ALL), move |places| behind(&places.next))
}

/// Clears the calling thread's places of an object that it has freed.
pub fn forget(handle: usize) {
    let places = of_thread().into_iter().flat_map(|places| &places.places);
    for place in places.filter(|place| place.users.get() == 0) {
        if place.handle.load(Ordering::Relaxed) == handle {
            place.clear();
        }
    }
}

/// Hands all published handles to `found`. Those published before the caller's last heavy barrier, by calls that have found
/// the handle valid, are among them unless they were cleared since; then what the calls did is seen by the caller.
pub(super) fn for_each(found: &mut dyn FnMut(usize)) {
    for places in all() {
        for place in &places.places {
            // Acquire: pairs with the Releases in `clear` and `publish`.
            match place.handle.load(Ordering::Acquire) {
                NO_HANDLE => {}
                handle => found(handle),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::KeptPlace::{Comm, Datatype};
    use super::*;

    fn is_published(handle: usize) -> bool {
        let mut found = false;
        for_each(&mut |published| found |= published == handle);
        found
    }

    fn publish(handle: usize, preferred: KeptPlace) -> Option<Hold> {
        Hold::publish(handle, preferred, null(), || true).expect("valid")
    }

    fn in_a_thread(body: impl FnOnce() + Send) {
        // Joined: a scope alone does not wait for what the thread does at its end.
        std::thread::scope(|scope| scope.spawn(body).join().expect("no panic"));
    }

    #[test]
    fn a_place_names_its_object_until_it_is_needed_or_the_object_is_freed() {
        in_a_thread(|| {
            let hold = publish(0xabc0, Comm).expect("a place");
            hold.give_up();
            assert!(is_published(0xabc0), "the next call finds it");
            assert!(Comm.of_thread().is_some_and(|place| place.slot_of(0xabc0).is_some()));
            let other = publish(0xabc1, Comm).expect("the same place");
            assert!(!is_published(0xabc0) && is_published(0xabc1));
            forget(0xabc1);
            assert!(is_published(0xabc1), "it is in use");
            other.give_up();
            forget(0xabc1);
            assert!(!is_published(0xabc1));
            assert_eq!(Hold::publish(0xabc2, Comm, null(), || false), None);
            assert!(!is_published(0xabc2));
            publish(0xabc3, Datatype).expect("a place").give_up();
        });
        assert!(!is_published(0xabc3), "the thread has ended");
    }

    #[test]
    fn a_thread_has_so_many_places_and_no_more() {
        in_a_thread(|| {
            let handles: Vec<usize> = (0..PLACES - 1).map(|n| 0xdef0 + n).collect();
            let holds: Vec<Hold> = handles.iter().map(|h| publish(*h, Datatype).expect("a place")).collect();
            assert_eq!(publish(1, Datatype), None);
            assert!(handles.iter().all(|handle| is_published(*handle)));
            holds[3].give_up();
            assert!(!is_published(handles[3]), "only the first places name objects between calls");
            let again = Hold::again(Datatype.of_thread().expect("places"));
            holds[0].give_up();
            assert_eq!(publish(2, Datatype).map(|hold| hold.give_up()), Some(true), "in another place");
            assert!(is_published(handles[0]), "it has a second user");
            again.give_up();
            for (number, hold) in holds.iter().enumerate().filter(|(number, _)| ![0, 3].contains(number)) {
                hold.give_up();
                assert!(!is_published(handles[number]));
            }
        });
    }

    #[test]
    fn threads_that_come_and_go_share_places() {
        let use_a_place = || assert!(publish(0x7770, Comm).expect("a place").give_up());
        in_a_thread(use_a_place);
        let before = all().count();
        (0..100).for_each(|_| in_a_thread(use_a_place));
        // Other tests have threads, too, but not a hundred.
        assert!(all().count() < before + 50);
    }
}
