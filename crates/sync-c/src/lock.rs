//! The functions `heddle_lock_*`.

use crate::error::{Failure, Status, finish};
use crate::held::{AnyLock, WaitClass};
use crate::kinds;
use heddle_c_interface::Patience;
use heddle_c_interface::pointer;
use heddle_locks::kinds::LockName;
use std::ffi::c_char;
use std::fmt;

/// A lock. Any number of threads may use it at once; it is not recursive, and the thread that acquired it
/// releases it.
pub struct LockHandle(Box<dyn AnyLock>);

impl fmt::Debug for LockHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockHandle").finish_non_exhaustive()
    }
}

/// The names of all kinds of locks, separated by blanks.
///
/// `mutex` is the right one without a reason for another. `biased-mutex` costs nearly nothing while one
/// thread uses it, `core-biased-mutex` while only the threads of one core use it. `ticket`, `mcs`, `clh` and
/// `abortable-mcs` serve in order, `hmcs` serves near threads first; in all of them a running thread may come
/// again before the waiters, for 50 microseconds. `strict-X` is X without that exception, and slow with more
/// threads than cores. `p-X-Y` has two classes: X is the lock of the class that goes first, Y of the class
/// that stands back. Not all kinds can wait for a time.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_lock_kinds() -> *const c_char {
    kinds::names().as_ptr()
}

/// Makes a free lock of the kind `kind` and stores it in `*lock`; on an error `*lock` becomes null.
///
/// # Safety
///
/// `kind` is null or a string; `lock` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_create(kind: *const c_char, lock: *mut *mut LockHandle) -> Status {
    let make = || {
        // SAFETY: the caller's promise.
        let name = unsafe { pointer::name(kind) }?;
        let unknown = || {
            let known: Vec<&str> = LockName::all().map(LockName::name).collect();
            let words = format!("there is no lock {name:?}; there are {}", known.join(", "));
            Failure::new(Status::UnknownKind, words)
        };
        Ok(LockHandle(kinds::make(LockName::from_name(&name).ok_or_else(unknown)?)))
    };
    // SAFETY: the caller's promise.
    finish("heddle_lock_create", unsafe { pointer::give(lock, "lock", make) })
}

/// Acquires the lock and returns the outcome.
///
/// # Safety
///
/// `lock` is null or a lock that is not destroyed before the call returns.
unsafe fn acquire(call: &str, lock: *const LockHandle, class: WaitClass, patience: Patience) -> Status {
    // SAFETY: the caller's promise.
    match unsafe { pointer::handle(lock, "lock") }.and_then(|lock| lock.0.acquire(class, patience)) {
        Ok(status) => status,
        Err(failure) => finish(call, Err(failure)),
    }
}

/// Waits until the lock is the caller's; in the class that goes first, if the kind has classes.
///
/// # Safety
///
/// `lock` is null or a lock that is not destroyed before the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_acquire(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_acquire", lock, WaitClass::High, Patience::Endless) }
}

/// Takes the lock if that needs no waiting, otherwise returns `HEDDLE_STATUS_BUSY`.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_try_acquire(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_try_acquire", lock, WaitClass::High, Patience::None) }
}

/// Waits until the lock is the caller's, or until `timeout_ns` nanoseconds are over: then it returns
/// `HEDDLE_STATUS_TIMED_OUT`. Not every kind can do that.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_acquire_timed(lock: *mut LockHandle, timeout_ns: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_acquire_timed", lock, WaitClass::High, Patience::of_ns(timeout_ns)) }
}

/// Does the same as `heddle_lock_acquire` in the class that stands back. For kinds without
/// classes there is no difference.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_acquire_low(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_acquire_low", lock, WaitClass::Low, Patience::Endless) }
}

/// Does the same as `heddle_lock_try_acquire` in the class that stands back.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_try_acquire_low(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_try_acquire_low", lock, WaitClass::Low, Patience::None) }
}

/// Does the same as `heddle_lock_acquire_timed` in the class that stands back.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_acquire_low_timed(lock: *mut LockHandle, timeout_ns: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { acquire("heddle_lock_acquire_low_timed", lock, WaitClass::Low, Patience::of_ns(timeout_ns)) }
}

/// Gives the lock back. Returns `HEDDLE_STATUS_NOT_HOLDER` if the calling thread does not hold it;
/// then nothing has changed.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_release(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    let lock = unsafe { pointer::handle(lock, "lock") };
    finish("heddle_lock_release", lock.and_then(|lock| lock.0.release()))
}

/// Returns true if a thread waits for the lock. For the holder, `true` is certain and `false` may overlook a
/// thread; for other threads it is a hint. False for null.
///
/// # Safety
///
/// The same as for `heddle_lock_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_has_waiters(lock: *const LockHandle) -> bool {
    // SAFETY: the caller's promise.
    unsafe { pointer::borrow(lock) }.is_some_and(|lock| lock.0.has_waiters())
}

/// Ends a free lock; null is allowed. Returns `HEDDLE_STATUS_BUSY` if a thread holds it: then it lives on. No
/// call on the lock, a release included, may be in progress in another thread, and none may follow.
///
/// # Safety
///
/// `lock` is null or a lock that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_lock_destroy(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    match unsafe { pointer::borrow(lock) } {
        None => Status::Ok,
        Some(held) if held.0.is_held() => Status::Busy,
        Some(_) => {
            // SAFETY: from heddle_lock_create, and not used any more, by the caller's promise.
            drop(unsafe { pointer::take_back(lock) });
            Status::Ok
        }
    }
}
