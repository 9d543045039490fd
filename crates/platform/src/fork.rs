//! Whether this process is a forked child of the one that used the library.
//!
//! A child has one thread, the one that forked, and memory as it was: a lock that another thread held at
//! that moment is held for ever. A child that only ends, by `exit`, still runs the destructors of its
//! thread. Such a destructor must not wait for a lock, so it asks here and does nothing in a child, where no
//! thread would use what it returns.

use crate::atomic::{AtomicBool, Ordering};
use std::sync::Once;

static CHILD: AtomicBool = AtomicBool::new(false);

/// From now on [`is_child`] is true in forked children. To be called before a destructor that takes locks is
/// registered.
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the handler only stores to an atomic, and lives as long as this library. Without memory
        // the call fails; children then behave as without it.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(note_child)) };
    });
}

/// Runs in a child, before `fork` returns there.
extern "C" fn note_child() {
    // Relaxed: the child's only thread.
    CHILD.store(true, Ordering::Relaxed);
}

/// Returns true if this process was forked since [`watch`] was called first.
#[must_use]
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_knows_that_it_is_one_and_its_parent_that_it_is_none() {
        watch();
        // SAFETY: the child makes system calls only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child without running anything of the test's.
            unsafe { libc::_exit(if is_child() { 42 } else { 1 }) };
        }
        assert!(child > 0 && !is_child());
        let mut status = 0;
        // SAFETY: the child of this test, and a number of ours.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 42));
    }
}
