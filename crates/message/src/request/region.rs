//! The memory of the slots: one range of addresses, so that one multiplication gives a slot's address. The
//! first use chooses where it begins: far below all that the process has mapped, since the kernel gives
//! addresses from the top down. So nothing else comes into its way, and it needs no reservation, which would
//! count against a limit of the process's addresses (ulimit -v). Where there is no room below, as under
//! valgrind, the whole range is reserved. It is never given back.

use crate::error::Error;
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_spec::constants as mpi;
use std::ptr::{null_mut, without_provenance_mut};

/// The largest number of slots. It is smaller if the addresses of the process are limited, or if something
/// else lies in the way.
pub(super) const MOST: usize = 1 << 24;

/// The distances below another mapping at which the range may begin, in bytes, by preference.
/// (ThreadSanitizer has no room for a program's memory much farther down.)
const DISTANCES: [usize; 3] = [256 << 30, 32 << 30, 4 << 30];

/// The range begins at a multiple of this, so that it can have huge pages.
const ALIGNMENT: usize = 2 << 20;

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
    /// The number of bytes, from the base on, that are backed by memory.
    backed: usize,
    /// The most slots.
    most: usize,
    /// True if the whole range is reserved.
    is_reserved: bool,
}

impl Growth {
    pub(super) const fn up_to(most: usize) -> Growth {
        Growth { slots: 0, backed: 0, most, is_reserved: false }
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

    /// Adds `count` slots; fewer if fewer are left, but at least one.
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
        let count = count.min(growth.most - growth.slots);
        if count == 0 {
            return Err(OutOfRequests);
        }
        let end = ((growth.slots + count) * size).next_multiple_of(page_size());
        if end > growth.backed {
            self.back(growth, end)?;
            growth.backed = end;
        }
        let base = self.base.load(Ordering::Relaxed);
        for index in growth.slots..growth.slots + count {
            // SAFETY: the slot lies in the range that is backed by memory.
            let new = unsafe { base.add(index) };
            // SAFETY: the slot is backed by memory, and no other thread knows of it.
            unsafe { new.write(slot()) };
        }
        growth.slots += count;
        Ok(())
    }

    /// Backs the bytes of the range up to `end` with memory.
    #[cold]
    fn back(&self, growth: &mut Growth, end: usize) -> Result<(), OutOfRequests> {
        let base = self.base.load(Ordering::Relaxed);
        let (begin, bytes) = (base.addr() + growth.backed, end - growth.backed);
        if growth.is_reserved {
            return make_usable(begin, bytes);
        }
        if !base.is_null() {
            return map_at(begin, bytes).map(drop).ok_or(OutOfRequests);
        }
        let near = somewhere().ok_or(OutOfRequests)?;
        let bases = DISTANCES.iter().filter_map(|distance| near.checked_sub(*distance));
        let base = bases.map(|base| base & !(ALIGNMENT - 1)).find_map(|base| map_at(base, end));
        let base = match base {
            Some(base) => base,
            None => self.reserve(growth, end)?,
        };
        self.base.store(base.cast(), Ordering::Relaxed);
        Ok(())
    }

    /// Reserves the whole range where the system wants it, and backs its first bytes, up to `end`.
    fn reserve(&self, growth: &mut Growth, end: usize) -> Result<*mut libc::c_void, OutOfRequests> {
        let whole = (growth.most * size_of::<T>()).next_multiple_of(page_size());
        let base = map_anywhere(whole).ok_or(OutOfRequests)?;
        make_usable(base.addr(), end)?;
        growth.is_reserved = true;
        Ok(base)
    }
}

const FLAGS: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// The address of a page that the kernel gives now.
fn somewhere() -> Option<usize> {
    let page = map_anywhere(page_size())?;
    // SAFETY: the mapping was made just now, and nothing uses it.
    unsafe { libc::munmap(page, page_size()) };
    Some(page.addr())
}

/// Takes addresses of the kernel's choice, without memory behind them.
fn map_anywhere(bytes: usize) -> Option<*mut libc::c_void> {
    // SAFETY: the call makes a new mapping; it touches no memory that is in use.
    let there = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, FLAGS, -1, 0) };
    (there != libc::MAP_FAILED).then_some(there)
}

/// Lets reserved addresses have memory.
fn make_usable(address: usize, bytes: usize) -> Result<(), OutOfRequests> {
    let (there, access) = (without_provenance_mut(address), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: the addresses are reserved by this module, and hold nothing yet.
    let changed = unsafe { libc::mprotect(there, bytes, access) };
    if changed == 0 { Ok(()) } else { Err(OutOfRequests) }
}

/// Maps memory at an address, unless the system refuses or something else is there.
fn map_at(address: usize, bytes: usize) -> Option<*mut libc::c_void> {
    let (there, access) = (without_provenance_mut(address), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: the call makes a new mapping in place of none.
    let mapped = unsafe { libc::mmap(there, bytes, access, FLAGS | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    if mapped.addr() != address {
        // A kernel before Linux 4.17, where something else is there.
        // SAFETY: the mapping was made just now, and nothing uses it.
        unsafe { libc::munmap(mapped, bytes) };
        return None;
    }
    Some(mapped)
}

fn page_size() -> usize {
    // SAFETY: the call only reads a system setting.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A region in a place of its own, so that it does not grow into that of the process, or the other way
    /// round.
    fn region(number: usize, most: usize) -> (Region<[u64; 40]>, Growth) {
        let (region, mut growth) = (Region::new(), Growth::up_to(most));
        let place = somewhere().expect("a page") - (number << 40);
        let base = map_at(place & !(ALIGNMENT - 1), page_size()).expect("nothing is there");
        region.base.store(base.cast(), Ordering::Relaxed);
        growth.backed = page_size();
        (region, growth)
    }

    #[test]
    fn slots_stay_where_they_are_while_it_grows() {
        let (region, mut growth) = region(1, MOST);
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
    fn a_range_that_is_reserved_grows_as_well() {
        let (region, mut growth) = (Region::<[u64; 40]>::new(), Growth::up_to(1000));
        let base = region.reserve(&mut growth, page_size()).expect("addresses");
        region.base.store(base.cast(), Ordering::Relaxed);
        growth.backed = page_size();
        while growth.slots() < 1000 {
            region.grow(&mut growth, 37, || [7; 40]).expect("there is room");
        }
        // SAFETY: it was made before.
        assert_eq!(*unsafe { region.at(999) }, [7; 40]);
        assert_eq!(region.grow(&mut growth, 1, || [7; 40]), Err(OutOfRequests));
    }

    #[test]
    fn what_exceeds_the_addresses_is_an_error_and_nothing_is_lost() {
        let (region, mut growth) = region(2, 100);
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
