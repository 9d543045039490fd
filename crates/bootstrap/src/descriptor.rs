//! Descriptors that a launcher hands to a rank by their numbers.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Another descriptor for the file behind `fd`, which is closed on exec.
pub(crate) fn duplicate(fd: RawFd) -> Result<File, String> {
    // SAFETY: the call takes any number and refuses those that are not open.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(format!("descriptor {fd}: {}", io::Error::last_os_error()));
    }
    // SAFETY: the kernel has just given this descriptor to us.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(own) }))
}

/// Keeps the inherited descriptor from the programs that this one starts: they are not ranks.
pub(crate) fn close_on_exec(fd: RawFd) {
    // SAFETY: the call changes a flag of a descriptor; a failure only leaves it inheritable.
    let _ = unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}
