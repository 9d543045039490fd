//! The memory of the slots: one range of addresses, so that a slot's address takes one multiplication. It is reserved at the
//! first use, and backed by memory as far as there are slots; it is never given back.

use crate::error::Error;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{null_mut, without_provenance_mut};

/// The most slots that are reserved: where the addresses are limited, fewer.
pub(super) const MOST: usize = 1 << 24;

/// How many slots there are at least, or none.
const LEAST: usize = 1 << 12;

/// All slots are in use, and there can be no more of them: no address or no memory is left for another one.
///
/// It says no more, so that a result with a request fits into two registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRequests;

impl From<OutOfRequests> for Error {
    #[cold]
    fn from(_: OutOfRequests) -> Error {
        let message = format!(
            "no request is left for the operation: at most {MOST} exist at once, fewer where addresses (ulimit -v) or \
             memory (ulimit -d, a cgroup's limit) are short; complete some of those under way first"
        );
        Error::new(mpi::MPI_ERR_NO_MEM, message)
    }
}

/// A growing array of slots that stay where they are.
#[derive(Debug)]
pub(super) struct Region<T> {
    base: AtomicPtr<T>,
}

/// Who may add slots: one thread at a time, which keeps this.
#[derive(Debug)]
pub(super) struct Growth {
    slots: usize,
    reserved: usize,
    /// Bytes from the base on that are backed by memory.
    backed: usize,
    /// How many may be reserved.
    most: usize,
}

impl Growth {
    pub(super) const fn up_to(most: usize) -> Growth {
        Growth { slots: 0, reserved: 0, backed: 0, most }
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }
}

impl<T> Region<T> {
    pub(super) const fn new() -> Region<T> {
        Region { base: AtomicPtr::new(null_mut()) }
    }

    /// A slot.
    ///
    /// # Safety
    /// There is one with this index, and the caller knows of it by a path that orders it behind [`grow`](Self::grow).
    #[inline(always)]
    pub(super) unsafe fn at(&self, index: u32) -> &T {
        // Relaxed: the base is written before there are slots.
        let base = self.base.load(Ordering::Relaxed);
        // SAFETY: the caller's promise.
        let slot = unsafe { base.add(index as usize) };
        // SAFETY: as above; slots are never given back.
        unsafe { &*slot }
    }

    /// Adds so many slots, or fewer where no more are reserved, but at least one.
    ///
    /// # Errors
    /// If there is no address or no memory left, even for one: the slots are those that there were.
    pub(super) fn grow(
        &self,
        growth: &mut Growth,
        count: usize,
        slot: impl Fn() -> T,
    ) -> Result<(), OutOfRequests> {
        let size = size_of::<T>();
        if growth.reserved == 0 {
            self.reserve(growth)?;
        }
        let count = count.min(growth.reserved - growth.slots);
        if count == 0 {
            return Err(OutOfRequests);
        }
        let base = self.base.load(Ordering::Relaxed);
        let end = ((growth.slots + count) * size).next_multiple_of(page_size());
        if end > growth.backed {
            // SAFETY: within what was reserved, a multiple of the page size.
            let from = unsafe { base.byte_add(growth.backed) };
            // SAFETY: nobody else has this memory, and nobody uses it yet.
            let status = unsafe {
                libc::mprotect(from.cast(), end - growth.backed, libc::PROT_READ | libc::PROT_WRITE)
            };
            if status != 0 {
                return Err(OutOfRequests);
            }
            growth.backed = end;
        }
        for index in growth.slots..growth.slots + count {
            // SAFETY: backed by memory, and nobody knows of it.
            let place = unsafe { base.add(index) };
            // SAFETY: as above.
            unsafe { place.write(slot()) };
        }
        growth.slots += count;
        Ok(())
    }

    /// Reserves addresses: as many as there may be, since those that are not used cost nothing.
    #[cold]
    fn reserve(&self, growth: &mut Growth) -> Result<(), OutOfRequests> {
        let mut reserved = growth.most;
        while reserved >= LEAST.min(growth.most) {
            let bytes = (reserved * size_of::<T>()).next_multiple_of(page_size());
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let anywhere = without_provenance_mut(0);
            // SAFETY: a new mapping that nobody may use yet.
            let base = unsafe { libc::mmap(anywhere, bytes, libc::PROT_NONE, flags, -1, 0) };
            if base != libc::MAP_FAILED {
                growth.reserved = reserved;
                self.base.store(base.cast(), Ordering::Relaxed);
                return Ok(());
            }
            reserved /= 2;
        }
        Err(OutOfRequests)
    }
}

fn page_size() -> usize {
    // SAFETY: this only asks.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stay_where_they_are_while_it_grows() {
        let (region, mut growth) = (Region::<[u64; 40]>::new(), Growth::up_to(MOST));
        let mut places: Vec<*const [u64; 40]> = Vec::new();
        for round in 0..50u64 {
            let first = growth.slots() as u32;
            region.grow(&mut growth, 37, || [round; 40]).expect("there is room");
            for index in first..growth.slots() as u32 {
                // SAFETY: it was just made.
                let slot = unsafe { region.at(index) };
                assert_eq!(*slot, [round; 40]);
                places.push(slot);
            }
            for (index, place) in (0u32..).zip(&places) {
                // SAFETY: it was made before.
                let slot: *const _ = unsafe { region.at(index) };
                assert_eq!(slot, *place);
            }
        }
        assert_eq!(growth.slots(), 50 * 37);
    }

    #[test]
    fn what_exceeds_the_addresses_is_an_error_and_nothing_is_lost() {
        let (region, mut growth) = (Region::<[u64; 40]>::new(), Growth::up_to(100));
        assert_eq!(region.grow(&mut growth, 64, || [1; 40]), Ok(()));
        assert_eq!(region.grow(&mut growth, 64, || [2; 40]), Ok(()), "fewer than asked for");
        assert_eq!(growth.slots(), 100);
        for _ in 0..2 {
            assert_eq!(region.grow(&mut growth, 1, || [3; 40]), Err(OutOfRequests));
            assert_eq!(growth.slots(), 100);
        }
        for (index, value) in [(0, 1), (63, 1), (64, 2), (99, 2)] {
            // SAFETY: it was made before.
            assert_eq!(*unsafe { region.at(index) }, [value; 40]);
        }
    }
}
