//! The memory in which a machine lives.

use super::SharedLab;
use super::line::{Line, WAYS};
use super::stats::LineMovers;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

/// Sets of the directory: four million lines, 256 MiB of programs' memory that is in use at a time.
const SETS: usize = 1 << 19;

/// A [`SharedLab`] with its directory behind it, mapped. It stays mapped: plugins use it until their process
/// ends.
#[derive(Clone, Copy, Debug)]
pub struct LabMemory {
    lab: NonNull<SharedLab>,
}

/// The directory begins on a page.
const DIRECTORY: usize = size_of::<SharedLab>().next_multiple_of(4096);
const MOVERS: usize = DIRECTORY + SETS * WAYS * size_of::<Line>();

impl LabMemory {
    /// How long the file of a machine is.
    pub const BYTES: usize = MOVERS + SETS * WAYS * size_of::<LineMovers>();

    /// Maps the machine in `file`; without one, memory of this process alone.
    ///
    /// # Errors
    ///
    /// When there is no memory or address space for it.
    ///
    /// # Panics
    ///
    /// Never: a mapping is not at address 0.
    pub fn new(file: Option<&File>) -> io::Result<Self> {
        let (flags, descriptor) = match file {
            Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
        };
        // SAFETY: a new mapping, at an address that the system chooses.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                Self::BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_NORESERVE,
                descriptor,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let lab: NonNull<SharedLab> = NonNull::new(address.cast()).expect("a mapping is not at 0");
        // SAFETY: the lab is at the mapping's beginning. Zeros are a lab: all fields are numbers, and 0 is
        // `State::Free`.
        unsafe { (*lab.as_ptr()).set_mask = SETS as u32 - 1 };
        Ok(Self { lab })
    }

    /// The lab.
    #[must_use]
    pub fn lab(self) -> *mut SharedLab {
        self.lab.as_ptr()
    }
}

impl SharedLab {
    /// The directory, which follows the lab in its mapping.
    pub(super) fn line(&mut self, index: usize) -> &mut Line {
        // SAFETY: `LabMemory` alone makes labs, and set_mask keeps the index within the directory.
        unsafe { self.behind(DIRECTORY, index) }
    }

    /// Who moved the line at `index` of the directory.
    pub(super) fn movers(&mut self, index: usize) -> &mut LineMovers {
        // SAFETY: as in `line`; the movers follow the directory.
        unsafe { self.behind(MOVERS, index) }
    }

    /// # Safety
    ///
    /// `offset` bytes behind the lab's beginning are more than `index` values of this type, for which zeros
    /// are a value.
    unsafe fn behind<T>(&mut self, offset: usize, index: usize) -> &mut T {
        // SAFETY: the caller's promise.
        let first = unsafe { ptr::from_mut(self).byte_add(offset) }.cast::<T>();
        debug_assert!(first.is_aligned());
        // SAFETY: as above.
        let value = unsafe { first.add(index) };
        // SAFETY: as above; the lab is borrowed for as long.
        unsafe { &mut *value }
    }
}
