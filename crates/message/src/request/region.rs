//! The memory of the slots: one range of addresses, so that one multiplication gives a slot's
//! address. The first use reserves the range; only the part that holds slots is backed by memory. The
//! range is never given back.

use crate::error::Error;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{null_mut, without_provenance_mut};

/// The largest number of slots that are reserved. The number is smaller if the addresses of
/// the process are limited.
pub(super) const MOST: usize = 1 << 24;

/// The smallest number of slots that are worth reserving. If there is no room for them, no slots are made.
const LEAST: usize = 1 << 12;

/// The error when all slots are in use and no more can be made, because no addresses or no memory are left.
///
/// It has no fields, so that a result with a request fits into two registers.
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

/// The right to add slots, and the state that this needs. One thread at a time has it.
#[derive(Debug)]
pub(super) struct Growth {
    slots: usize,
    reserved: usize,
    /// The number of bytes, from the base on, that are backed by memory.
    backed: usize,
    /// The number of slots that may be reserved.
    most: usize,
}

impl Growth {
    pub(super) const fn up_to(most: usize) -> Growth {
        Growth { slots: 0, reserved: 0, backed: 0, most }
    }

    /// The number of slots.
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
    /// A slot with this index exists, and the caller knows the index by a path that orders it
    /// after [`grow`](Self::grow).
    #[inline(always)]
    pub(super) unsafe fn at(&self, index: u32) -> &T {
        // Relaxed: the base is written before there are slots, and the caller's knowledge of the
        // index is ordered after that.
        let base = self.base.load(Ordering::Relaxed);
        // SAFETY: the caller promises that the slot exists, so its address is in the range.
        let slot = unsafe { base.add(index as usize) };
        // SAFETY: the caller promises that the slot exists; slots are never moved or given back.
        unsafe { &*slot }
    }

    /// Adds `count` slots; fewer if fewer are left of those reserved, but at least one.
    ///
    /// # Errors
    /// If no address or no memory is left even for one slot. Then the number of slots is unchanged.
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
            // SAFETY: the address lies in the reserved range, at a multiple of the page size.
            let from = unsafe { base.byte_add(growth.backed) };
            // SAFETY: this range reserved the memory, and no thread uses it yet.
            let status = unsafe {
                libc::mprotect(from.cast(), end - growth.backed, libc::PROT_READ | libc::PROT_WRITE)
            };
            if status != 0 {
                return Err(OutOfRequests);
            }
            growth.backed = end;
        }
        for index in growth.slots..growth.slots + count {
            // SAFETY: the slot lies in the range that is backed by memory.
            let new = unsafe { base.add(index) };
            // SAFETY: the slot is backed by memory, and no other thread knows of it.
            unsafe { new.write(slot()) };
        }
        growth.slots += count;
        Ok(())
    }

    /// Reserves addresses for `growth.most` slots, since unused addresses cost nothing. If the system
    /// refuses, tries half the number, and so on.
    #[cold]
    fn reserve(&self, growth: &mut Growth) -> Result<(), OutOfRequests> {
        let mut reserved = growth.most;
        while reserved >= LEAST.min(growth.most) {
            let bytes = (reserved * size_of::<T>()).next_multiple_of(page_size());
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let anywhere = without_provenance_mut(0);
            // SAFETY: the call makes a new mapping; it touches no memory that is in use.
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
    // SAFETY: the call only reads a system setting.
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
