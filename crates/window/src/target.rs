//! The part of one process: its memory, and whether this process may access it.

use crate::accumulate_lock::AccumulateLock;
use heddle_objects::lifetime::hazard::thread_number;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_sync::SharedMarks;
use heddle_sync::shared_bias::Entered;

/// The epochs in which this process may access a target; each is a bit.
pub(crate) mod access {
    /// A thread of this process is taking a lock, or releasing one. Alone it gives no access: until the lock
    /// is granted nothing may be accessed, flushed or unlocked.
    pub(crate) const CHANGING: u32 = 1;
    /// Between two fences.
    pub(crate) const FENCE: u32 = 1 << 1;
    /// Between start and complete.
    pub(crate) const STARTED: u32 = 1 << 2;
    /// In a shared lock.
    pub(crate) const SHARED: u32 = 1 << 3;
    /// In an exclusive lock.
    pub(crate) const EXCLUSIVE: u32 = 1 << 4;
    /// In a lock of all processes.
    pub(crate) const ALL: u32 = 1 << 5;
    /// In a lock that was not taken, since the program says that nobody holds another one.
    pub(crate) const UNCHECKED: u32 = 1 << 6;
    /// In any lock.
    pub(crate) const LOCKED: u32 = SHARED | EXCLUSIVE | ALL;
}

/// How elements of a target that the processor can change at once are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By processor atomics while the accumulate lock is open, else by its holder.
    Chosen,
    /// The same, and nobody closes the lock.
    Atomics,
    /// By the holder of the accumulate lock.
    Lock,
}

/// One process's part of a window, as this process sees it. The first words are those
/// that every operation reads.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Target {
    /// Where its memory lies in this process; null if it is not mapped here.
    base: *mut u8,
    /// Bytes.
    size: u64,
    /// The unit of displacements, in bytes.
    disp_unit: u64,
    /// The kinds of [`access`] that this process has.
    access: AtomicU32,
    way: Way,
    /// The accumulate lock. That of another machine's process is none: there is this process's own.
    lock: *const AccumulateLock,
    /// The marks of this process.
    marks: *const SharedMarks,
    /// The process's rank in the job.
    process: u32,
    /// Where its memory lies in its own address space.
    address: u64,
}

// SAFETY: the memory belongs to the program, which the standard obliges to keep conflicting accesses apart.
unsafe impl Send for Target {}
// SAFETY: the memory belongs to the program, which the standard obliges to keep conflicting accesses apart.
unsafe impl Sync for Target {}

impl Target {
    /// # Safety
    /// The lock and the marks exist as long as the target.
    pub(crate) unsafe fn new(
        (base, size, disp_unit): (*mut u8, u64, u64),
        way: Way,
        (lock, marks): (&AccumulateLock, &SharedMarks),
        (process, address): (u32, u64),
    ) -> Target {
        let access = AtomicU32::new(0);
        Target { base, size, disp_unit, access, way, lock, marks, process, address }
    }

    /// Where the memory begins in this process; null if it is not mapped here.
    #[inline(always)]
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Bytes of memory.
    #[inline(always)]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The unit of displacements, in bytes.
    #[inline(always)]
    pub fn disp_unit(&self) -> u64 {
        self.disp_unit
    }

    /// How elements are changed that the processor can change at once.
    #[inline(always)]
    pub(crate) fn way(&self) -> Way {
        self.way
    }

    /// The accumulate lock of a process of this machine.
    #[inline(always)]
    pub(crate) fn accumulate_lock(&self) -> &AccumulateLock {
        // SAFETY: by the promise to `new`.
        unsafe { &*self.lock }
    }

    /// Lets the calling thread change elements by processor atomics, together with others, if the lock is
    /// open.
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        self.marks().enter(thread_number(), self.accumulate_lock().bias())
    }

    /// Lets a thread that has a mark do the same with one element. Returns false, having done nothing, if it
    /// has none or has to take its turn.
    #[inline(always)]
    pub fn change_one(&self, change: impl Fn()) -> bool {
        self.change_one_as(thread_number, change)
    }

    #[inline(always)]
    fn change_one_as(&self, thread: impl Fn() -> Option<usize>, change: impl Fn()) -> bool {
        match self.way {
            Way::Chosen => {
                let lock = self.accumulate_lock().bias();
                let inside = thread().and_then(|number| self.marks().enter_by_own_mark(number, lock));
                match inside {
                    Some(_inside) => change(),
                    None => return false,
                }
            }
            Way::Atomics => change(),
            Way::Lock => return false,
        }
        true
    }

    #[inline(always)]
    fn marks(&self) -> &SharedMarks {
        // SAFETY: by the promise to `new`.
        unsafe { &*self.marks }
    }

    /// The process's rank in the job.
    pub fn process(&self) -> usize {
        self.process as usize
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns true if this process is in an epoch in which it may access the memory.
    #[inline(always)]
    pub fn is_accessible(&self) -> bool {
        // One comparison, since all bits that give access are above this one.
        self.access.load(Ordering::Relaxed) > access::CHANGING
    }

    /// Returns true if this process holds a lock.
    #[inline(always)]
    pub fn is_locked(&self) -> bool {
        self.access() & access::LOCKED != 0
    }

    /// Where `len` bytes at a displacement lie in this process, if they are mapped, within the
    /// memory, and accessible now.
    #[inline(always)]
    pub fn at_once(&self, disp: i64, len: usize) -> Option<*mut u8> {
        // A negative displacement is a large one here. The limits keep the product and the sum below 2^64.
        let disp = disp as u64;
        if disp > u64::from(u32::MAX) || self.disp_unit > u64::from(u32::MAX) {
            return None;
        }
        let offset = disp * self.disp_unit;
        let fits = offset <= self.size && len as u64 <= self.size - offset;
        (fits && self.is_accessible() && !self.base.is_null())
            .then(|| self.base.wrapping_add(offset as usize))
    }

    pub(crate) fn access(&self) -> u32 {
        self.access.load(Ordering::Relaxed)
    }

    /// Changes the kinds of access from `old` to `new`; returns false, having done
    /// nothing, if they are others.
    pub(crate) fn change(&self, old: u32, new: u32) -> bool {
        self.access.compare_exchange(old, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Grants these kinds of access to a thread that was [changing](access::CHANGING) them. No other thread
    /// changes them meanwhile.
    pub(crate) fn settle(&self, kind: u32) {
        self.access.store(kind, Ordering::Release);
    }

    /// Ends all access of a thread that was [changing](access::CHANGING) it.
    pub(crate) fn end_access(&self) {
        self.settle(0);
    }

    pub(crate) fn grant(&self, kind: u32) {
        self.access.fetch_or(kind, Ordering::Relaxed);
    }

    pub(crate) fn withdraw(&self, kind: u32) {
        self.access.fetch_and(!kind, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_thread_changes_no_element_on_its_own_where_the_lock_is_closed() {
        let (lock, marks) = (AccumulateLock::default(), SharedMarks::default());
        // SAFETY: both outlive the target.
        let target =
            unsafe { Target::new((std::ptr::null_mut(), 0, 1), Way::Chosen, (&lock, &marks), (0, 0)) };
        let change_one = |thread| {
            let changes = Cell::new(0);
            let may = target.change_one_as(|| thread, || changes.set(changes.get() + 1));
            (may, changes.get())
        };
        assert_eq!(change_one(None), (false, 0));
        assert_eq!(change_one(Some(3)), (false, 0), "it has no mark yet");
        assert!(marks.enter(Some(3), lock.bias()).is_some());
        assert_eq!(change_one(Some(3)), (true, 1));
        lock.close(&mut lock.bias().try_alone().expect("nobody has it"));
        assert_eq!(change_one(Some(3)), (false, 0));
    }
}
