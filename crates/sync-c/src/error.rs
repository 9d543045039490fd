//! Statuses, and the last error of a thread in words.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ptr;

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// The lock is not free, or combining is at work; nothing was done.
    Busy = 1,
    /// The time was over before the lock was the caller's.
    TimedOut = 2,
    /// A pointer that must not be null was null.
    NullPointer = 3,
    /// No kind has that name; heddle_last_error() lists the names.
    UnknownKind = 4,
    /// The calling thread does not hold the lock that it wants to release.
    NotHolder = 5,
    /// The calling thread would wait for itself: it holds the lock, or runs an operation of the same
    /// combining.
    WouldDeadlock = 6,
    /// This kind of lock cannot do that; heddle_last_error() says which can.
    NotSupported = 7,
    /// The system could not start a thread.
    NoResources = 8,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// A failed call: its status, and the reason.
#[derive(Debug)]
pub struct Failure {
    /// The status that the call returns.
    pub status: Status,
    /// The text for [`heddle_last_error`].
    pub words: String,
}

impl Failure {
    pub(crate) fn new(status: Status, words: impl Into<String>) -> Self {
        Self { status, words: words.into() }
    }
}

/// Ends a call, and remembers the reason if it failed.
pub(crate) fn finish(call: &str, result: Result<(), Failure>) -> Status {
    let Err(failure) = result else { return Status::Ok };
    // A name from C may hold any character but NUL, and our own texts have none either.
    let words = CString::new(format!("{call}: {}", failure.words)).unwrap_or_default();
    // A thread that is ending has no last error any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = words);
    failure.status
}

/// The reason for this thread's last failed call, in a sentence; empty if none has failed.
/// `HEDDLE_STATUS_BUSY` and `HEDDLE_STATUS_TIMED_OUT` are answers and do not change it. Never null. Valid
/// until this thread's next failed call.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or_else(|_| c"".as_ptr())
}

/// A status in a few words. Never null; for a number that is no status the text says so.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_status_text(status: i32) -> *const c_char {
    const TEXTS: [(Status, &std::ffi::CStr); 9] = [
        (Status::Ok, c"done"),
        (Status::Busy, c"busy"),
        (Status::TimedOut, c"timed out"),
        (Status::NullPointer, c"null pointer"),
        (Status::UnknownKind, c"unknown kind"),
        (Status::NotHolder, c"the calling thread does not hold the lock"),
        (Status::WouldDeadlock, c"the calling thread would wait for itself"),
        (Status::NotSupported, c"not supported by this kind"),
        (Status::NoResources, c"the system cannot start a thread"),
    ];
    let found = TEXTS.iter().find(|(known, _)| *known as i32 == status);
    found.map_or(c"not a status".as_ptr(), |(_, text)| ptr::from_ref(*text).cast())
}

#[cfg(test)]
mod tests {
    use super::{Failure, Status, finish, heddle_last_error, heddle_status_text};
    use std::ffi::{CStr, c_char};

    fn words(text: *const c_char) -> String {
        // SAFETY: both functions return texts that live long enough.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    #[test]
    fn every_status_has_a_text() {
        let texts: Vec<String> = (0..9).map(|status| words(heddle_status_text(status))).collect();
        assert!(texts.iter().all(|text| text != "not a status"));
        assert_eq!(texts.iter().collect::<std::collections::HashSet<_>>().len(), texts.len());
        assert_eq!(words(heddle_status_text(9)), "not a status");
        assert_eq!(words(heddle_status_text(-1)), "not a status");
    }

    #[test]
    fn the_last_error_is_a_threads_own() {
        let failure = || Err(Failure::new(Status::NotHolder, "nobody holds it"));
        assert_eq!(finish("f", failure()), Status::NotHolder);
        assert_eq!(finish("g", Ok(())), Status::Ok);
        assert_eq!(words(heddle_last_error()), "f: nobody holds it");
        std::thread::spawn(|| assert_eq!(words(heddle_last_error()), "")).join().expect("another thread");
    }
}
