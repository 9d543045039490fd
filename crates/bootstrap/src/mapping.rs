//! A range of a file mapped into this process and shared with every other process that maps it.
//!
//! The bytes of a shared mapping change under the reader's hands at any time, so Rust sees them only as atomics
//! (or through raw pointers, under a protocol of the caller): [`Mapping::get`] is the one place that makes
//! references.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// A shared, readable and writable mapping; dropping it unmaps it.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<libc::c_void>,
    len: usize,
}

// SAFETY: a mapping is address space of the whole process; no thread owns it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives out raw pointers, and references only by `get`, whose caller promises that the
// type may be shared.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of `fd` from `offset` on. The file must be at least that long when the bytes are touched;
    /// a shorter one raises `SIGBUS`.
    ///
    /// # Errors
    /// What `mmap` reports; `InvalidInput` when `len` is 0 or `offset` is not a multiple of the page size.
    pub fn shared(fd: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<Self> {
        let offset =
            libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no memory in use.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                offset,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base).ok_or_else(|| io::Error::other("mmap gave the null page"))?;
        Ok(Self { base, len })
    }

    /// The first byte. Valid for [`len`](Self::len) bytes as long as the mapping lives.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr().cast()
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: the kernel maps no empty ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of type `T` that lies `offset` bytes into the mapping.
    ///
    /// # Safety
    /// Any bytes must be a valid `T`, and every part of `T` that somebody may write must be an atomic.
    ///
    /// # Panics
    /// When the value does not lie within the mapping or is not aligned.
    #[must_use]
    pub unsafe fn get<T: Sync>(&self, offset: usize) -> &T {
        let end = offset.checked_add(size_of::<T>());
        assert!(end.is_some_and(|end| end <= self.len), "offset {offset} lies outside the mapping");
        // SAFETY: the assertion above keeps the result within the mapping.
        let place = unsafe { self.base.byte_add(offset) }.cast::<T>();
        assert!(place.is_aligned(), "offset {offset} is not aligned");
        // SAFETY: in bounds and aligned by the assertions, mapped as long as `self`; valid and free of data races by
        // the caller's promise.
        unsafe { place.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `shared`, and references into it ended with the borrow of `self`.
        let status = unsafe { libc::munmap(self.base.as_ptr(), self.len) };
        debug_assert_eq!(status, 0, "munmap refused a range that mmap gave");
    }
}
