//! Descriptors that are opened while the listener may already wait for others.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A descriptor that is readable while one of those that were added is.
#[derive(Debug)]
pub(crate) struct Latecomers(OwnedFd);

impl Latecomers {
    pub(super) fn new() -> io::Result<Latecomers> {
        // SAFETY: the call touches no memory.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given this descriptor to us.
        Ok(Latecomers(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Adds a descriptor, until it is closed.
    pub(super) fn add(&self, descriptor: RawFd) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: the kernel reads one event.
        let added =
            unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, descriptor, &raw mut event) };
        if added == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_that_is_added_while_a_thread_waits_wakes_it() {
        let late = Latecomers::new().expect("a descriptor");
        let (mut from, to) = UnixStream::pair().expect("a pair");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let mut watched = libc::pollfd { fd: late.descriptor(), events: libc::POLLIN, revents: 0 };
                // SAFETY: a list of one.
                while unsafe { libc::poll(&raw mut watched, 1, -1) } != 1 {}
            });
            late.add(to.as_raw_fd()).expect("it is added");
            from.write_all(b"x").expect("written");
            waits.join().expect("it wakes");
        });
    }
}
