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
    /// The lock is not free; nothing was done.
    Busy = 1,
    /// The time was over before the lock was the caller's.
    TimedOut = 2,
    /// A pointer that must not be null was null.
    NullPointer = 3,
    /// No kind has that name; heddle_rma_last_error() lists the names.
    UnknownKind = 4,
    /// An option, or the communicator, is not usable; heddle_rma_last_error() says which.
    WrongArgument = 5,
    /// The processes gave different kinds or options, or the call failed in another process.
    Disagreement = 6,
    /// The caller does not hold the lock in this way.
    NotHolder = 7,
    /// The calling thread would wait for itself: it has the lock for writing.
    WouldDeadlock = 8,
    /// This kind of lock cannot do that; heddle_rma_last_error() says which can.
    NotSupported = 9,
    /// MPI is not initialised, or is finalised.
    NotReady = 10,
    /// A function of MPI failed; heddle_rma_last_error() has its words.
    MpiFailed = 11,
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
        (Status::WrongArgument, c"wrong argument"),
        (Status::Disagreement, c"the processes disagree"),
        (Status::NotHolder, c"the caller does not hold the lock"),
        (Status::WouldDeadlock, c"the calling thread would wait for itself"),
        (Status::NotSupported, c"not supported by this kind"),
        (Status::NotReady, c"MPI is not initialised, or is finalised"),
        (Status::MpiFailed, c"a function of MPI failed"),
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
pub(crate) fn finish(call: &str, result: Result<Status, Failure>) -> Status {
    failure::finish(&LAST, call, result)
}

/// The reason for this thread's last failed call, in a sentence; empty if none has failed.
/// `HEDDLE_RMA_STATUS_BUSY` and `HEDDLE_RMA_STATUS_TIMED_OUT` are answers and do not change it. Never null.
/// Valid until this thread's next failed call.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_rma_last_error() -> *const c_char {
    failure::last_error(&LAST)
}

/// A status in a few words. Never null; for a number that is no status the text says so.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_rma_status_text(status: i32) -> *const c_char {
    failure::text::<Status>(status)
}
