//! A range of a file mapped into this process and shared with every other process that maps it.
//!
//! The bytes of a shared mapping change under the reader's hands at any time, so Rust sees them only
//! as atomics (or through raw pointers, under a protocol of the caller): [`Mapping::get`] is the one
//! place that makes references.

//! A file in memory is sparse: a page gets memory when it is first touched, and if none is left then, the
//! toucher is killed by `SIGBUS`. [`reserve`] gets the memory before, and says so if there is none.

use crate::memory_limits;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Gets memory for the pages in which `len` mapped bytes from `start` on lie, and keeps their contents. Where
/// the kernel cannot do this (before Linux 5.14) or refuses the system call it does nothing, and memory is
/// found, or not, when a page is touched.
///
/// # Errors
/// When there is no memory, or the range is not mapped.
pub fn reserve(start: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: asks for a number only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let before = start.addr() % page;
    let first = start.wrapping_sub(before);
    loop {
        // SAFETY: populating leaves the contents of mapped memory alone, and refuses what is not mapped.
        if unsafe { libc::madvise(first.cast(), before + len, libc::MADV_POPULATE_WRITE) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EINTR | libc::EAGAIN) => continue,
            Some(libc::EINVAL | libc::ENOSYS | libc::EPERM | libc::EACCES) => Ok(()),
            // This is how the kernel says that touching a page would end in SIGBUS.
            Some(libc::EFAULT) => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Err(error),
        };
    }
}

/// Makes a file longer, if it is not that long already.
///
/// # Errors
/// The error of the system call. A length beyond the file-size limit is refused before the call, because the
/// kernel would kill the process with `SIGXFSZ`.
pub fn lengthen(file: BorrowedFd<'_>, len: u64) -> io::Result<()> {
    if length(file)? >= len {
        return Ok(());
    }
    check_file_size(len)?;
    let wanted = libc::off_t::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: the call changes the length of an open file only.
    if unsafe { libc::ftruncate(file.as_raw_fd(), wanted) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // A file that is sealed against shrinking refuses a length that another process has passed meanwhile.
    if length(file)? >= len { Ok(()) } else { Err(error) }
}

/// The length of a file.
fn length(file: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: zeros are a valid `stat`, which the call overwrites.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is the kernel's to fill.
    match unsafe { libc::fstat(file.as_raw_fd(), &raw mut status) } {
        0 => Ok(status.st_size.cast_unsigned()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Refuses a length of a file beyond the file-size limit, because the kernel would kill
/// the process with `SIGXFSZ`.
fn check_file_size(len: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is the kernel's to fill.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 && len > limit.rlim_cur {
        let most = limit.rlim_cur;
        let what =
            format!("files may have at most {most} bytes here; raise that limit (ulimit -f unlimited)");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(())
}

/// Gets memory for a range of a file in memory, which reads as zeros. The file becomes longer if it ends
/// before the range does; processes may do this at the same time for different ranges.
///
/// # Errors
/// The error of the system call: `ENOSPC` or `ENOMEM` if there is not enough memory. A length beyond the
/// file-size limit, or beyond the memory that the system has to give, is refused before the call.
pub fn allocate(file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<()> {
    check_file_size(end(offset, len)?)?;
    memory_limits::check(len as u64)?;
    change_range(file, 0, offset, len)
}

/// Does the same, but leaves it to the touch of a page to get its memory: the range costs neither time nor
/// memory before.
///
/// # Errors
/// The error of the system call. A length beyond the file-size limit, or beyond the memory that the system
/// has to give, is refused before the call.
pub fn allocate_untouched(file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<()> {
    memory_limits::check(len as u64)?;
    lengthen(file, end(offset, len)?)
}

fn end(offset: u64, len: usize) -> io::Result<u64> {
    offset.checked_add(len as u64).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Gives back the memory of a range of a file in memory. The range reads as zeros from now on,
/// also where it is mapped.
///
/// # Errors
/// The error of the system call.
pub fn discard(file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<()> {
    change_range(file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, offset, len)
}

fn change_range(file: BorrowedFd<'_>, mode: i32, offset: u64, len: usize) -> io::Result<()> {
    let number = |value: u64| libc::off_t::try_from(value).map_err(|_| io::ErrorKind::InvalidInput);
    let (offset, len) = (number(offset)?, number(len as u64)?);
    loop {
        // SAFETY: the call changes the contents of an open file only.
        if unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, len) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A shared, readable and writable mapping; dropping it unmaps it.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<libc::c_void>,
    len: usize,
}

// SAFETY: a mapping is address space of the whole process; no thread owns it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives out raw pointers, and references only by `get`, whose caller promises
// that the type may be shared.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of `fd` from `offset` on. The file must be at least that long when the bytes are
    /// touched; a shorter one raises `SIGBUS`.
    ///
    /// # Errors
    /// The error of `mmap`; `InvalidInput` when `len` is 0 or `offset` is not a multiple of the page size.
    pub fn shared(fd: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<Self> {
        let offset =
            libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        Self::map(libc::MAP_SHARED, fd.as_raw_fd(), offset, len)
    }

    /// Maps `len` bytes of new memory, all zero, which child processes share.
    ///
    /// # Errors
    /// The error of `mmap`; `InvalidInput` when `len` is 0; `OutOfMemory` if it is more than the system has
    /// to give.
    pub fn anonymous(len: usize) -> io::Result<Self> {
        memory_limits::check(len as u64)?;
        Self::map(libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0, len)
    }

    fn map(flags: i32, fd: i32, offset: libc::off_t, len: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no memory in use.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, fd, offset)
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
    /// Any bytes must be a valid `T`, and every part of `T` that any process may write must be an atomic.
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
        // SAFETY: in bounds and aligned by the assertions, mapped as long as `self`; valid and free of data
        // races by the caller's promise.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobControl;
    use crate::control::control_len;

    #[test]
    fn processes_that_lengthen_a_file_at_once_do_not_disturb_each_other() {
        const ROUNDS: u64 = 3000;
        let job = JobControl::create(1).expect("a job");
        let begin = control_len(1) as u64;
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let job = &job;
                threads.spawn(move || {
                    for round in 0..ROUNDS {
                        let len = begin + 4 * round + thread;
                        lengthen(job.fd(), len).expect("it may be longer already");
                    }
                });
            }
        });
        assert_eq!(length(job.fd()).expect("a length"), begin + 4 * ROUNDS - 1);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error_and_no_signal() {
        let job = JobControl::create(1).expect("a job");
        let len = control_len(1);
        let mapping = Mapping::shared(job.fd(), 0, 2 * len).expect("a mapping longer than its file");
        reserve(mapping.as_ptr(), len).expect("what is in the file can be had");
        reserve(mapping.as_ptr().wrapping_add(100), 1).expect("the range need not be aligned");
        // A touch of a page behind the end of the file raises SIGBUS, as if there were no memory.
        match reserve(mapping.as_ptr().wrapping_add(len), 1) {
            Ok(()) => eprintln!("skipped: this kernel cannot reserve memory"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}"),
        }
    }

    #[test]
    fn ranges_are_allocated_in_any_order_and_given_back() {
        let job = JobControl::create(1).expect("a job");
        let first = control_len(1) as u64;
        allocate(job.fd(), first + (1 << 20), 1 << 16).expect("memory");
        allocate(job.fd(), first, 1 << 16).expect("memory");
        let file = std::fs::File::from(job.fd().try_clone_to_owned().expect("a descriptor"));
        assert_eq!(file.metadata().expect("a status").len(), first + (1 << 20) + (1 << 16));
        let mapping = Mapping::shared(job.fd(), first, 1 << 16).expect("a mapping");
        // SAFETY: the mapping is that long, and no other thread uses it.
        unsafe { mapping.as_ptr().write(7) };
        discard(job.fd(), first, 1 << 16).expect("a range of the file");
        // SAFETY: the mapping is that long, and no other thread uses it.
        assert_eq!(unsafe { mapping.as_ptr().read() }, 0);
        assert!(allocate(job.fd(), u64::MAX - 4, 8).is_err());
    }

    #[test]
    fn memory_that_nobody_touches_costs_nothing() {
        use std::os::unix::fs::MetadataExt;
        const LEN: usize = 1 << 30;
        let job = JobControl::create(1).expect("a job");
        let first = control_len(1) as u64;
        let file = std::fs::File::from(job.fd().try_clone_to_owned().expect("a descriptor"));
        let blocks = || file.metadata().expect("a status").blocks();
        let before = blocks();
        if let Err(error) = allocate_untouched(job.fd(), first, LEN) {
            return eprintln!("skipped: {error}");
        }
        assert_eq!(blocks(), before);
        let mapping = Mapping::shared(job.fd(), first, LEN).expect("a mapping");
        // SAFETY: the mapping is that long, and no other thread uses it.
        unsafe { mapping.as_ptr().wrapping_add(LEN - 1).write(7) };
        assert!(blocks() > before);
        discard(job.fd(), first, LEN).expect("a range of the file");
        assert_eq!(blocks(), before);
        assert!(allocate_untouched(job.fd(), first, 1 << 60).is_err(), "no machine has that");
        assert!(allocate_untouched(job.fd(), u64::MAX - 4, 8).is_err());
    }

    #[test]
    fn a_file_becomes_longer_and_never_shorter() {
        let job = JobControl::create(1).expect("a job");
        let len = control_len(1) as u64;
        lengthen(job.fd(), 3 * len).expect("longer");
        lengthen(job.fd(), len).expect("it is long enough");
        let file = std::fs::File::from(job.fd().try_clone_to_owned().expect("a descriptor"));
        assert_eq!(file.metadata().expect("a status").len(), 3 * len);
    }
}
