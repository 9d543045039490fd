//! Hazard slots: each thread publishes the handles that its calls use.
//!
//! A call that looks up a communicator, a datatype or a window writes the handle to a hazard slot of its
//! thread, unless the slot has that handle already. The end of the call does not clear the slot; the thread
//! clears it when it needs the slot for another object, frees the object, or ends. So the next call with the
//! same object finds it by one comparison and writes nothing that other threads read. The price: each thread
//! may keep its last object of each kind longer than needed.
//!
//! A thread has nine slots. Calls that need more (nested ones, or `MPI_Alltoallw`) count references
//! instead. When a thread ends, its slots go to the next new thread, so their number follows the largest
//! number of threads at one time.

use heddle_platform::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use heddle_platform::cell::Cell;
use heddle_platform::modelled::never_freed;
use heddle_platform::{array_of, barrier, const_fn, statics, thread_locals};
use std::ptr::{null, null_mut};

/// The number of objects that a thread's calls can use at once without counting.
const SLOTS: usize = if cfg!(loom) { 3 } else { 9 };

/// The content of a slot that names no object.
const NO_HANDLE: usize = 0;

/// The number of slots that keep their object between calls.
const KEPT: usize = if cfg!(loom) { 2 } else { 3 };

/// A slot that keeps its object between calls; there is one for each kind of object.
#[derive(Debug, Clone, Copy)]
pub enum KeptSlot {
    /// Communicators.
    Comm,
    /// Datatypes.
    Datatype,
    /// Windows; none of the model checker's objects is one.
    Win,
}

impl KeptSlot {
    /// The calling thread's slot of this kind; `None` if the thread has not published anything yet.
    #[inline(always)]
    pub fn of_thread(self) -> Option<&'static HazardSlot> {
        of_thread().map(|slots| &slots.slots[self as usize])
    }
}

/// A word in which one thread says which object its calls use. Other threads only read the handle.
#[derive(Debug)]
pub struct HazardSlot {
    /// The object's handle, or zero. Only the slot's thread writes it.
    handle: AtomicUsize,
    /// The object's entry in its table. Only the slot's thread uses it.
    entry: Cell<*const ()>,
    /// The number of the thread's running calls that use the object. Only the slot's thread uses it.
    users: Cell<u32>,
}

/// The slots of a thread.
#[derive(Debug)]
#[repr(align(128))]
struct ThreadSlots {
    slots: [HazardSlot; SLOTS],
    taken: AtomicBool,
    /// How many were there before.
    number: usize,
    /// Written before this joins the list of all.
    next: AtomicPtr<ThreadSlots>,
}

// SAFETY: only the thread that has taken the slots uses the cells; `taken` orders one thread's uses before
// the next one's.
unsafe impl Sync for ThreadSlots {}

statics! {
    /// All threads' slots. The list only grows, at its beginning.
    static ALL: AtomicPtr<ThreadSlots> = AtomicPtr::new(null_mut());
    /// How many there are, or will be.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
}

heddle_platform::thread_slot!(mine, "heddle_objects_hazard_slots");

/// Returns a thread's slots when it ends.
struct ReturnAtExit(Cell<Option<&'static ThreadSlots>>);

thread_locals! {
    static ENDING: Cell<bool> = Cell::new(false);
    static AT_EXIT: ReturnAtExit = ReturnAtExit(Cell::new(None));
}

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        // `ENDING` has no destructor, so it still exists here, except under the model checker.
        let _ = ENDING.try_with(|ending| ending.set(true));
        if let Some(slots) = self.0.get() {
            mine::set(null_mut());
            for slot in &slots.slots {
                // A thread that was ended inside a call leaves its object protected, since it is not known
                // how far the call had come.
                if slot.users.get() == 0 {
                    slot.clear();
                }
            }
            // Release: pairs with the Acquire in `take_slots`.
            slots.taken.store(false, Ordering::Release);
        }
    }
}

impl HazardSlot {
    const_fn! {
        const fn new() -> HazardSlot {
            HazardSlot { handle: AtomicUsize::new(NO_HANDLE), entry: Cell::new(null()), users: Cell::new(0) }
        }
    }

    /// The table entry of the object with this handle, if this slot names it. The object then exists, and the
    /// thread may [protect it again](Protection::again).
    #[inline(always)]
    pub fn entry_of(&self, handle: usize) -> Option<(&HazardSlot, *const ())> {
        if handle == NO_HANDLE || self.handle.load(Ordering::Relaxed) != handle {
            return None;
        }
        Some((self, self.entry.get()))
    }

    fn clear(&self) {
        // Release: pairs with the Acquire in `for_each`. A collector that no longer finds the handle sees
        // what the calls did.
        self.handle.store(NO_HANDLE, Ordering::Release);
    }
}

/// The result of [`Protection::publish`].
#[derive(Debug, PartialEq, Eq)]
pub enum PublishResult {
    /// The handle is valid, and its object protected.
    Protected(Protection),
    /// The handle is not valid.
    Invalid,
    /// The thread has no slot left.
    NoSlot,
}

/// The means by which a call keeps an object: none (it is predefined, or a request names it), a counted
/// reference, or a hazard slot. Only the thread that made it may [release](Protection::release) it.
#[derive(Debug, PartialEq, Eq)]
pub struct Protection(usize);

/// A flag beside the slot's address: the slot is cleared after its last use.
const CLEARED: usize = 2;

impl Protection {
    /// For an object that lives as long as MPI, or that a request keeps.
    pub const NONE: Protection = Protection(0);
    /// The call owns a counted reference.
    pub const COUNTED: Protection = Protection(1);

    /// One more use of the object that this slot of the calling thread names.
    #[inline(always)]
    pub fn again(slot: &'static HazardSlot) -> Protection {
        slot.users.set(slot.users.get() + 1);
        Protection(std::ptr::from_ref(slot).expose_provenance())
    }

    /// Publishes a handle in the preferred slot, or another one, and only then checks
    /// that the handle is valid.
    pub fn publish(
        handle: usize,
        preferred: KeptSlot,
        entry: *const (),
        is_valid: impl FnOnce() -> bool,
    ) -> PublishResult {
        let Some((slot, cleared)) = free_slot(preferred) else { return PublishResult::NoSlot };
        // Release: like `clear`, this ends the protection of the object that the slot named before.
        slot.handle.store(handle, Ordering::Release);
        // Pairs with the heavy barrier of the collector.
        barrier::light();
        if !is_valid() {
            slot.clear();
            return PublishResult::Invalid;
        }
        slot.entry.set(entry);
        PublishResult::Protected(Protection(Protection::again(slot).0 | cleared))
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.0 == Protection::NONE.0
    }

    /// Returns true if the call owns a counted reference.
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.0 == Protection::COUNTED.0
    }

    /// Ends the call's use of the object. Returns false, having done nothing, if the caller has to drop a
    /// counted reference.
    #[inline(always)]
    pub fn release(&self) -> bool {
        if self.0 & (Protection::COUNTED.0 | CLEARED) != 0 {
            return self.release_slowly();
        }
        if !self.is_none() {
            let slot = self.slot();
            slot.users.set(slot.users.get() - 1);
        }
        true
    }

    #[inline(never)]
    fn release_slowly(&self) -> bool {
        if self.is_counted() {
            return false;
        }
        let slot = self.slot();
        slot.users.set(slot.users.get() - 1);
        if slot.users.get() == 0 {
            slot.clear();
        }
        true
    }

    /// The slot that names the object.
    #[inline(always)]
    fn slot(&self) -> &'static HazardSlot {
        // SAFETY: the callers have excluded `NONE` and `COUNTED`, so this is the address of a slot; slots are
        // never freed.
        unsafe { &*std::ptr::with_exposed_provenance::<HazardSlot>(self.0 & !CLEARED) }
    }
}

#[inline(always)]
fn of_thread() -> Option<&'static ThreadSlots> {
    // SAFETY: the word is null, or the address of slots, which are never freed.
    unsafe { mine::get().cast::<ThreadSlots>().as_ref() }
}

/// A number of the calling thread that no other thread of the process has: a small one, since it goes from a
/// thread that has ended to a new one. `None` if the thread has not published anything yet.
#[inline(always)]
pub fn thread_number() -> Option<usize> {
    of_thread().map(|slots| slots.number)
}

/// A slot for another object: the preferred one, unless a running call uses the object that it names. The
/// number is `CLEARED` or 0, for the protection's word.
#[inline(never)]
fn free_slot(preferred: KeptSlot) -> Option<(&'static HazardSlot, usize)> {
    let slots = match of_thread() {
        Some(slots) => slots,
        None if ENDING.with(Cell::get) => return None,
        None => {
            let slots = take_slots();
            mine::set(std::ptr::from_ref(slots).cast_mut().cast());
            AT_EXIT.with(|at_exit| at_exit.0.set(Some(slots)));
            slots
        }
    };
    let unused = |slot: &&HazardSlot| slot.users.get() == 0;
    let first = Some(&slots.slots[preferred as usize]).filter(unused).map(|slot| (slot, 0));
    first.or_else(|| slots.slots[KEPT..].iter().find(unused).map(|slot| (slot, CLEARED)))
}

/// Hazard slots that no other thread has.
fn take_slots() -> &'static ThreadSlots {
    let is_free = |slots: &&ThreadSlots| !slots.taken.load(Ordering::Relaxed);
    // Acquire: pairs with the Release of the thread that ended.
    let take = |slots: &&ThreadSlots| !slots.taken.swap(true, Ordering::Acquire);
    let free = all().filter(is_free).find(take);
    free.unwrap_or_else(|| {
        let new = Box::into_raw(Box::new(ThreadSlots {
            slots: array_of![HazardSlot::new(); SLOTS],
            taken: AtomicBool::new(true),
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            next: AtomicPtr::new(null_mut()),
        }));
        // SAFETY: `new` comes from a box made here, and slots are never freed.
        unsafe { never_freed(new) };
        // SAFETY: `new` comes from a box made here, and slots are never freed.
        let new: &'static ThreadSlots = unsafe { &*new };
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

fn all() -> impl Iterator<Item = &'static ThreadSlots> {
    // SAFETY: the pointer is null, or leads to slots, which are never freed.
    let behind = |slot: &AtomicPtr<ThreadSlots>| unsafe { slot.load(Ordering::Acquire).as_ref() };
    std::iter::successors(behind(&ALL), move |slots| behind(&slots.next))
}

/// Clears the calling thread's slots that name an object which the thread has freed and no running call of it
/// uses.
pub fn forget(handle: usize) {
    let slots = of_thread().into_iter().flat_map(|slots| &slots.slots);
    for slot in slots.filter(|slot| slot.users.get() == 0) {
        if slot.handle.load(Ordering::Relaxed) == handle {
            slot.clear();
        }
    }
}

/// Hands all published handles to `found`. A handle that was published before the caller's last heavy
/// barrier, by a call that then found it valid, is among them unless its slot was cleared or reused since; in
/// that case the caller sees everything that the call did.
pub(super) fn for_each(found: &mut dyn FnMut(usize)) {
    for slots in all() {
        for slot in &slots.slots {
            // Acquire: pairs with the Releases in `clear` and `publish`.
            match slot.handle.load(Ordering::Acquire) {
                NO_HANDLE => {}
                handle => found(handle),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::KeptSlot::{Comm, Datatype};
    use super::*;

    fn is_published(handle: usize) -> bool {
        let mut found = false;
        for_each(&mut |published| found |= published == handle);
        found
    }

    fn publish(handle: usize, preferred: KeptSlot) -> Option<Protection> {
        match Protection::publish(handle, preferred, null(), || true) {
            PublishResult::Protected(protection) => Some(protection),
            PublishResult::NoSlot => None,
            PublishResult::Invalid => panic!("it is valid"),
        }
    }

    fn in_a_thread(body: impl FnOnce() + Send) {
        // Joined: a scope alone does not wait for the destructors of a thread's locals.
        std::thread::scope(|scope| scope.spawn(body).join().expect("no panic"));
    }

    #[test]
    fn a_slot_names_its_object_until_it_is_needed_or_the_object_is_freed() {
        in_a_thread(|| {
            let protection = publish(0xabc0, Comm).expect("a slot");
            protection.release();
            assert!(is_published(0xabc0), "the next call finds it");
            assert!(Comm.of_thread().is_some_and(|slot| slot.entry_of(0xabc0).is_some()));
            let other = publish(0xabc1, Comm).expect("the same slot");
            assert!(!is_published(0xabc0) && is_published(0xabc1));
            forget(0xabc1);
            assert!(is_published(0xabc1), "it is in use");
            other.release();
            forget(0xabc1);
            assert!(!is_published(0xabc1));
            assert_eq!(Protection::publish(0xabc2, Comm, null(), || false), PublishResult::Invalid);
            assert!(!is_published(0xabc2));
            publish(0xabc3, Datatype).expect("a slot").release();
        });
        assert!(!is_published(0xabc3), "the thread has ended");
    }

    #[test]
    fn a_thread_has_a_fixed_number_of_slots() {
        in_a_thread(|| {
            let handles: Vec<usize> = (0..=SLOTS - KEPT).map(|n| 0xdef0 + n).collect();
            let protections: Vec<Protection> =
                handles.iter().map(|h| publish(*h, Datatype).expect("a slot")).collect();
            assert_eq!(publish(1, Datatype), None);
            assert!(handles.iter().all(|handle| is_published(*handle)));
            protections[3].release();
            assert!(!is_published(handles[3]), "only the first slots name objects between calls");
            let again = Protection::again(Datatype.of_thread().expect("slots"));
            protections[0].release();
            assert_eq!(
                publish(2, Datatype).map(|protection| protection.release()),
                Some(true),
                "in another slot"
            );
            assert!(is_published(handles[0]), "it has a second user");
            again.release();
            for (number, protection) in
                protections.iter().enumerate().filter(|(number, _)| ![0, 3].contains(number))
            {
                protection.release();
                assert!(!is_published(handles[number]));
            }
        });
    }

    #[test]
    fn threads_that_come_and_go_share_slots() {
        let use_a_slot = || assert!(publish(0x7770, Comm).expect("a slot").release());
        in_a_thread(use_a_slot);
        let before = all().count();
        (0..100).for_each(|_| in_a_thread(use_a_slot));
        // Other tests have threads, too, but not a hundred.
        assert!(all().count() < before + 50);
    }
}
