//! Statuses, and the last error of a thread in words.

use heddle_c_interface::{CallStatus, LastError, failure};
use std::cell::RefCell;
use std::ffi::{CStr, c_char};

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

impl CallStatus for Status {
    const BUSY: Status = Status::Busy;
    const TIMED_OUT: Status = Status::TimedOut;
    const NULL_POINTER: Status = Status::NullPointer;
    const TEXTS: &'static [(Status, &'static CStr)] = &[
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

    fn number(self) -> i32 {
        self as i32
    }
}

/// A failed call: its status, and the reason in words.
pub type Failure = heddle_c_interface::FailedCall<Status>;

thread_local! {
    static LAST: LastError = RefCell::default();
}

/// Ends a call, and remembers the reason if it failed.
pub(crate) fn finish(call: &str, result: Result<(), Failure>) -> Status {
    failure::finish(&LAST, call, result.map(|()| Status::Ok))
}

/// The reason for this thread's last failed call, in a sentence; empty if none has failed.
/// `HEDDLE_STATUS_BUSY` and `HEDDLE_STATUS_TIMED_OUT` are answers and do not change it. Never null. Valid
/// until this thread's next failed call.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_last_error() -> *const c_char {
    failure::last_error(&LAST)
}

/// A status in a few words. Never null; for a number that is no status the text says so.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_status_text(status: i32) -> *const c_char {
    failure::text::<Status>(status)
}

#[cfg(test)]
mod tests {
    use super::{Status, heddle_status_text};
    use std::collections::HashSet;
    use std::ffi::CStr;

    #[test]
    fn every_status_has_a_text_of_its_own() {
        // SAFETY: a text that lives for ever.
        let words = |status| unsafe { CStr::from_ptr(heddle_status_text(status)) };
        let last = Status::NoResources as i32;
        let texts: HashSet<&CStr> = (0..=last).map(words).collect();
        assert_eq!(texts.len(), last as usize + 1);
        assert!(!texts.contains(c"not a status"));
    }
}
