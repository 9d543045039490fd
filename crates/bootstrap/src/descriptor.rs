//! Descriptors that a rank holds, and those that a launcher hands to it by their numbers.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// The device and the number of a file there: no other file has both as long as this one exists.
type Identity = (u64, u64);

fn identity_of(file: &File) -> io::Result<Identity> {
    file.metadata().map(|status| (status.dev(), status.ino()))
}

/// A file that the library keeps open.
///
/// Programs close descriptors that they did not open, as services do at their start, and then open files of
/// their own, which get the numbers. So each use first compares the file behind the number with the
/// library's: the program's file is neither used nor closed.
#[derive(Debug)]
pub(crate) struct HeldFile {
    descriptor: RawFd,
    identity: Identity,
}

impl HeldFile {
    pub(crate) fn new(file: File) -> io::Result<HeldFile> {
        let identity = identity_of(&file)?;
        Ok(HeldFile { descriptor: ManuallyDrop::new(file).as_raw_fd(), identity })
    }

    /// The number of the descriptor.
    pub(crate) fn number(&self) -> RawFd {
        self.descriptor
    }

    /// The file, which is not closed; `None` if the program has closed it.
    pub(crate) fn get(&self) -> Option<ManuallyDrop<File>> {
        // SAFETY: nothing but its status is asked for until that has shown that it is the file that this
        // value owns, and it is not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.descriptor) });
        self.is(&file).then_some(file)
    }

    /// Returns true if this is the file.
    pub(crate) fn is(&self, file: &File) -> bool {
        identity_of(file).is_ok_and(|identity| identity == self.identity)
    }

    /// Another descriptor for the file.
    pub(crate) fn try_clone(&self) -> io::Result<File> {
        self.used()?.try_clone()
    }

    fn used(&self) -> io::Result<ManuallyDrop<File>> {
        self.get().ok_or_else(|| {
            io::Error::other(format!(
                "the program has closed descriptor {}, which it did not open",
                self.descriptor
            ))
        })
    }
}

impl Read for HeldFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.used()?.read(to)
    }
}

impl Write for HeldFile {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.used()?.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        if let Some(file) = self.get() {
            drop(ManuallyDrop::into_inner(file));
        }
    }
}

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
