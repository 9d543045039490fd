//! Statuses, and the last error of a thread in words.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::thread::LocalKey;

/// The statuses of an interface, of which every call returns one.
pub trait CallStatus: Copy + Eq + 'static {
    /// The lock is not free.
    const BUSY: Self;
    /// The time was over before the lock was the caller's.
    const TIMED_OUT: Self;
    /// A pointer that must not be null was null.
    const NULL_POINTER: Self;
    /// Every status with its text.
    const TEXTS: &'static [(Self, &'static CStr)];

    /// The number that C knows it by.
    fn number(self) -> i32;
}

/// A failed call: its status, and the reason.
#[derive(Debug)]
pub struct FailedCall<S> {
    /// The status that the call returns.
    pub status: S,
    /// The text for the interface's function that returns the last error.
    pub words: String,
}

impl<S> FailedCall<S> {
    /// A failure with its reason.
    pub fn new(status: S, words: impl Into<String>) -> Self {
        Self { status, words: words.into() }
    }
}

/// A thread's last error. Each interface has its own, also in a program that links both libraries.
pub type LastError = RefCell<CString>;

/// Ends a call, and remembers the reason if it failed.
pub fn finish<S>(last: &'static LocalKey<LastError>, call: &str, result: Result<S, FailedCall<S>>) -> S {
    result.unwrap_or_else(|failure| {
        // A name from C may hold any character but NUL, and our own texts have none either.
        let words = CString::new(format!("{call}: {}", failure.words)).unwrap_or_default();
        // A thread that is ending has no last error any more.
        let _ = last.try_with(|last| *last.borrow_mut() = words);
        failure.status
    })
}

/// The text of the calling thread's last error. It lives until the next one.
pub fn last_error(last: &'static LocalKey<LastError>) -> *const c_char {
    last.try_with(|last| last.borrow().as_ptr()).unwrap_or_else(|_| c"".as_ptr())
}

/// The text of the status with that number, which lives for ever.
pub fn text<S: CallStatus>(status: i32) -> *const c_char {
    let found = S::TEXTS.iter().find(|(known, _)| known.number() == status);
    found.map_or(c"not a status".as_ptr(), |(_, text)| ptr::from_ref(*text).cast())
}

#[cfg(test)]
mod tests {
    use super::{CallStatus, FailedCall, LastError, finish, last_error, text};
    use std::cell::RefCell;
    use std::ffi::{CStr, c_char};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Light {
        Green = 0,
        Red = 1,
    }

    impl CallStatus for Light {
        const BUSY: Self = Light::Red;
        const TIMED_OUT: Self = Light::Red;
        const NULL_POINTER: Self = Light::Red;
        const TEXTS: &'static [(Self, &'static CStr)] = &[(Light::Green, c"go"), (Light::Red, c"stand")];

        fn number(self) -> i32 {
            self as i32
        }
    }

    thread_local! {
        static LAST: LastError = RefCell::default();
        static ANOTHER: LastError = RefCell::default();
    }

    fn words(text: *const c_char) -> String {
        // SAFETY: both functions return texts that live long enough.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    #[test]
    fn every_status_has_its_text() {
        assert_eq!(
            [0, 1, 2, -1].map(|status| words(text::<Light>(status))),
            ["go", "stand", "not a status", "not a status"]
        );
    }

    #[test]
    fn the_last_error_is_a_threads_own() {
        let failure = || Err(FailedCall::new(Light::Red, "a train comes"));
        assert_eq!(finish(&LAST, "f", failure()), Light::Red);
        assert_eq!(finish(&LAST, "g", Ok(Light::Green)), Light::Green);
        assert_eq!(words(last_error(&LAST)), "f: a train comes");
        assert_eq!(words(last_error(&ANOTHER)), "");
        std::thread::spawn(|| assert_eq!(words(last_error(&LAST)), "")).join().expect("another thread");
    }
}
