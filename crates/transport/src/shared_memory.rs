//! Memory that one process allocates and the others of its job map: windows, and the
//! memory of `MPI_Alloc_mem`.
//!
//! It is a range of the job's file behind the segment of the rings. A counter in the segment gives each range
//! a place that no other range ever has, so processes allocate without agreement; the file is sparse, and the
//! place of a range that was given back costs nothing.
//!
//! Memory that the library uses itself gets its pages when it is allocated, so a lack of memory is an error
//! and not a `SIGBUS`. The program's memory, which may be large and of which the program may touch little,
//! gets each page when it is touched; a request beyond every limit that is known beforehand is an error all
//! the same.
//!
//! A process without a job has no file. Its memory is its own, and there is nobody to map it.

use crate::fabric::{Fabric, Shared};
use heddle_bootstrap::Mapping;
use heddle_bootstrap::mapping::{allocate, allocate_untouched, discard};
use heddle_platform::atomic::Ordering;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// The granularity of places in the file: the largest base page of the supported machines.
const GRANULE: u64 = 1 << 16;

/// The longest range: no address space has room for more. Longer ones would use up the places of the file.
const LONGEST: usize = 1 << 47;

/// Allocates a range of a file.
type Allocate = fn(BorrowedFd<'_>, u64, usize) -> io::Result<()>;

/// A place in the job's file, by which other processes find the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedRange {
    /// Bytes from the beginning of the file.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// Memory of this process, or of another one, mapped here. It is unmapped when it is dropped, and given back
/// to the system if this process allocated it.
#[derive(Debug)]
pub struct SharedMemory {
    mapping: Mapping,
    /// Its place in the file, unless this process has no job.
    file: Option<(Arc<Shared>, SharedRange)>,
    owned: bool,
}

impl Fabric {
    /// Allocates `len` bytes with their pages, all zero, at the beginning of a page.
    ///
    /// # Errors
    /// The system's error, if there is no memory.
    pub fn allocate(&self, len: usize) -> io::Result<SharedMemory> {
        self.allocate_by(len, allocate)
    }

    /// Allocates `len` bytes, all zero, at the beginning of a page. Each page gets its memory when it is
    /// touched.
    ///
    /// # Errors
    /// The system's error, if there can be no such memory.
    pub fn allocate_untouched(&self, len: usize) -> io::Result<SharedMemory> {
        self.allocate_by(len, allocate_untouched)
    }

    fn allocate_by(&self, len: usize, allocate: Allocate) -> io::Result<SharedMemory> {
        let len = len.max(1);
        let Some(shared) = &self.shared else {
            return Ok(SharedMemory { mapping: Mapping::anonymous(len)?, file: None, owned: true });
        };
        if len > LONGEST {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let offset = shared.reserve_and_allocate(len, allocate)?;
        let range = SharedRange { offset, len: len as u64 };
        match shared.map(range) {
            Ok(mapping) => Ok(SharedMemory { mapping, file: Some((shared.clone(), range)), owned: true }),
            Err(error) => {
                // The error of the mapping is the one to report.
                let _ = shared.give_back(range);
                Err(error)
            }
        }
    }

    /// Maps memory that another process of the job has allocated.
    ///
    /// # Errors
    /// The system's error; `NotFound` if this process has no job.
    pub fn map(&self, range: SharedRange) -> io::Result<SharedMemory> {
        let shared = self.shared.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(SharedMemory { mapping: shared.map(range)?, file: Some((shared.clone(), range)), owned: false })
    }
}

/// The bytes of the file that a range of `len` bytes has to itself.
fn room_of(len: u64) -> u64 {
    len.next_multiple_of(GRANULE)
}

impl Shared {
    /// Allocates `len` bytes of the file at a place that no other range has.
    fn reserve_and_allocate(&self, len: usize, allocate: Allocate) -> io::Result<u64> {
        let room = room_of(len as u64);
        // SAFETY: the mapping is live.
        let allocated = unsafe { self.geometry.allocated(self.mapping.as_ptr()) };
        // SAFETY: the mapping is live, and this is an atomic.
        let allocated = unsafe { &*allocated };
        // Relaxed: the only requirement is that no two ranges get the same place.
        let before = allocated.fetch_add(room, Ordering::Relaxed);
        let first = (self.offset + self.geometry.segment_len() as u64).next_multiple_of(GRANULE);
        let offset = first.saturating_add(before);
        let result = self.file.with(|file| allocate(file, offset, len));
        if result.is_err() {
            // The place is free again, unless another range got the next one meanwhile.
            let _ = allocated.compare_exchange(before + room, before, Ordering::Relaxed, Ordering::Relaxed);
        }
        result.map(|()| offset)
    }

    /// Gives the pages of a range back to the system.
    fn give_back(&self, range: SharedRange) -> io::Result<()> {
        // With the rest of the last page, which nobody else has: the system frees whole pages alone.
        self.file.with(|file| discard(file, range.offset, room_of(range.len) as usize))
    }

    fn map(&self, range: SharedRange) -> io::Result<Mapping> {
        self.file.with(|file| Mapping::shared(file, range.offset, range.len as usize))
    }
}

impl SharedMemory {
    /// The first byte, valid as long as `self`.
    pub fn as_ptr(&self) -> *mut u8 {
        self.mapping.as_ptr()
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.mapping.len()
    }

    /// Never: an allocation has at least a byte.
    pub fn is_empty(&self) -> bool {
        self.mapping.is_empty()
    }

    /// The place by which other processes find it; `None` if this process has no job.
    pub fn range(&self) -> Option<SharedRange> {
        self.file.as_ref().map(|(_, range)| *range)
    }

    /// Gives the memory back to the system, if this process allocated it. The bytes stay
    /// mapped and read as zeros.
    pub fn discard(&self) {
        if let (true, Some((shared, range))) = (self.owned, &self.file) {
            // A failure leaves the memory in use until the job ends.
            let _ = shared.give_back(*range);
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        self.discard();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bootstrap::{JobControl, Mechanism, World};
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn other_processes_see_what_one_has_allocated() {
        let job = JobControl::create(2).expect("the memory of a job");
        let fabric = |rank| {
            let world: World = job.world_of(rank).expect("the job is there");
            Fabric::attach(&world, 1).expect("attached")
        };
        let (first, second) = (fabric(0), fabric(1));
        let mine = first.allocate(100_000).expect("memory");
        let other = second.allocate_untouched(1).expect("memory");
        let (range, far) = (mine.range().expect("a job"), other.range().expect("a job"));
        assert!(range.offset + range.len <= far.offset);
        let seen = second.map(range).expect("mapped");
        // SAFETY: both mappings have this length, and no other thread uses them.
        unsafe { mine.as_ptr().wrapping_add(99_999).write(5) };
        // SAFETY: both mappings have this length, and no other thread uses them.
        assert_eq!(unsafe { seen.as_ptr().wrapping_add(99_999).read() }, 5);
        drop(mine);
        // SAFETY: the mapping has this length, and no other thread uses it.
        assert_eq!(unsafe { seen.as_ptr().wrapping_add(99_999).read() }, 0, "the memory was given back");
    }

    #[test]
    fn no_page_of_dropped_memory_is_kept() {
        let job = JobControl::create(1).expect("the memory of a job");
        let fabric = Fabric::attach(&job.world_of(0).expect("the job is there"), 1).expect("attached");
        let shared = fabric.shared.clone().expect("a job");
        let blocks = || {
            let file = shared.file.with(|file| file.try_clone_to_owned()).expect("one more descriptor");
            File::from(file).metadata().expect("a file").blocks()
        };
        let before = blocks();
        for len in [1, 4096, 4097, 100_001] {
            let memory = fabric.allocate(len).expect("memory");
            assert!(blocks() > before, "{len} bytes have pages");
            drop(memory);
            assert_eq!(blocks(), before, "pages of {len} bytes are left");
        }
    }

    #[test]
    fn failed_allocations_use_up_no_places() {
        let job = JobControl::create(1).expect("the memory of a job");
        let world: World = job.world_of(0).expect("the job is there");
        let fabric = Fabric::attach(&world, 1).expect("attached");
        let before = fabric.allocate(1).expect("memory").range().expect("a job");
        for len in [LONGEST - 1, LONGEST, LONGEST + 1, isize::MAX as usize, usize::MAX] {
            assert!(fabric.allocate(len).is_err(), "{len} bytes");
            assert!(fabric.allocate_untouched(len).is_err(), "{len} bytes");
        }
        let after = fabric.allocate(1).expect("memory").range().expect("a job");
        assert_eq!(after.offset - before.offset, GRANULE);
    }

    #[test]
    fn a_process_without_a_job_has_memory_too() {
        let fabric = Fabric::attach(&World::from_env(Mechanism::Single).expect("a world of one"), 1)
            .expect("attached");
        let memory = fabric.allocate(10).expect("memory");
        assert!(memory.range().is_none() && memory.len() == 10);
        assert!(fabric.map(SharedRange { offset: 0, len: 1 }).is_err());
    }
}
