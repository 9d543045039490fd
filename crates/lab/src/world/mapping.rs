//! The memory in which a machine lives.

use super::lines::{Line, WAYS};
use super::stats::Movers;
use super::World;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

/// Sets of the directory: a million lines, 64 MiB of programs' memory that is in use at a time.
const SETS: usize = 1 << 17;

/// A [`World`] with its directory behind it, mapped. It stays mapped: plugins use it until their process ends.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    world: NonNull<World>,
}

/// The directory begins on a page.
const DIRECTORY: usize = size_of::<World>().next_multiple_of(4096);
const MOVERS: usize = DIRECTORY + SETS * WAYS * size_of::<Line>();

impl Mapping {
    /// How long the file of a machine is.
    pub const BYTES: usize = MOVERS + SETS * WAYS * size_of::<Movers>();

    /// Maps the machine in `file`; without one, memory of this process alone.
    ///
    /// # Errors
    ///
    /// When there is no memory or address space for it.
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
        let world: NonNull<World> = NonNull::new(address.cast()).expect("mmap succeeded");
        // SAFETY: the world is at the mapping's beginning. Zeros are a world: all fields are numbers, and 0 is `State::Free`.
        unsafe { (*world.as_ptr()).set_mask = SETS as u32 - 1 };
        Ok(Self { world })
    }

    /// The world.
    #[must_use]
    pub fn world(self) -> *mut World {
        self.world.as_ptr()
    }
}

impl World {
    /// The directory, which follows the world in its mapping.
    pub(super) fn line(&mut self, index: usize) -> &mut Line {
        let base = ptr::from_mut(self).cast::<u8>();
        // SAFETY: a world is made by `Mapping` alone, and set_mask keeps the index within the directory behind it.
        unsafe { &mut *base.add(DIRECTORY).cast::<Line>().add(index) }
    }

    /// Who moved the line at `index` of the directory.
    pub(super) fn movers(&mut self, index: usize) -> &mut Movers {
        let base = ptr::from_mut(self).cast::<u8>();
        // SAFETY: as in `line`; the movers follow the directory.
        unsafe { &mut *base.add(MOVERS).cast::<Movers>().add(index) }
    }

    /// How many lines the directory has room for.
    pub(super) fn directory_size(&self) -> usize {
        (self.set_mask as usize + 1) * WAYS
    }
}
