//! The functions `heddle_rma_lock_*`.

use crate::error::{Failure, Status, finish};
use crate::held::Held;
use crate::kind;
use crate::mpi::{self, Comm, Group};
use crate::options::{Options, Settings};
use heddle_c_interface::Patience;
use heddle_c_interface::pointer;
use std::ffi::c_char;
use std::fmt;

/// This process's handle of a lock that the processes of a communicator share. Any number of its threads may
/// use it at once. It is not recursive.
pub struct LockHandle(Held);

impl fmt::Debug for LockHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockHandle").finish_non_exhaustive()
    }
}

/// The names of all kinds of locks, separated by blanks.
///
/// `rma-rw`: readers are counted at several processes and writers wait in a tree of queues, so that the lock
/// stays within a part of the machine for a while; readers and writers have their turns. `rma-mcs`: the tree
/// of queues alone. `d-mcs`: one queue, in order. `spin`: one word, not fair. `rw`: one word with a count of
/// readers, who may keep writers out for ever. `queue-rw`: the same with a queue for those that wait.
/// `adaptive`: as `rma-rw`, but it chooses the number of counters, and for how long the lock stays within a
/// part of the machine and with writers, by the rate of acquisitions that it measures.
///
/// In `rma-mcs`, `d-mcs` and `spin` a reader excludes other readers.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_rma_lock_kinds() -> *const c_char {
    kind::NAMES.as_ptr()
}

/// Makes a free lock of the kind `kind` and stores it in `*lock`; on an error `*lock` becomes null.
/// `options` may be null: then all are the defaults.
///
/// Collective: all processes of `comm`, an intra-communicator, call it with the same kind and options
/// (`elements` may differ). If one of them cannot, none gets a lock, and the others get
/// `HEDDLE_RMA_STATUS_DISAGREEMENT`. It allocates a window of a few words at each process, so calls of it and
/// of other collective functions on `comm` must come in the same order everywhere. `comm` may be freed
/// afterwards. Failures of MPI in here go to the error handler of `comm`; a failure to reach the words later
/// ends the job.
///
/// # Safety
///
/// `kind` is null or a string; `options` is null or points to options, whose pointers are null or have the
/// number of values that is described there; `lock` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_create(
    comm: Comm,
    kind: *const c_char,
    options: *const Options,
    lock: *mut *mut LockHandle,
) -> Status {
    // A caller that forgets to check the status then finds null instead of the old value.
    // SAFETY: the caller's promise.
    let place = unsafe { pointer::store(lock, "lock", std::ptr::null_mut()) };
    let make = || {
        mpi::is_ready()?;
        if comm.is_null() {
            return Err(Failure::new(Status::WrongArgument, "the communicator is MPI_COMM_NULL"));
        }
        let group = Group::of(comm)?;
        // SAFETY: the caller's promise.
        let settings = place.and_then(|()| unsafe { Settings::read(kind, options, group.size) });
        let made = Box::into_raw(Box::new(LockHandle(Held::new(&group, settings)?)));
        // SAFETY: the caller's promise.
        unsafe { pointer::store(lock, "lock", made) }?;
        Ok(Status::Ok)
    };
    finish("heddle_rma_lock_create", make())
}

/// Calls `operation` with the lock.
///
/// # Safety
///
/// `lock` is null or a lock that is not freed before the call returns.
unsafe fn with(
    call: &str,
    lock: *const LockHandle,
    operation: impl FnOnce(&Held) -> Result<Status, Failure>,
) -> Status {
    // SAFETY: the caller's promise.
    let lock = unsafe { pointer::handle(lock, "lock") };
    finish(call, lock.and_then(|lock| operation(&lock.0)))
}

/// Waits until the calling thread may write.
///
/// # Safety
///
/// `lock` is null or a lock that is not freed before the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_acquire_write(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_acquire_write", lock, |held| held.write(Patience::Endless)) }
}

/// Takes the lock for writing if no process has it or waits in front of it, otherwise returns
/// `HEDDLE_RMA_STATUS_BUSY`. All kinds can do that. An attempt may fail because of another one at the same
/// time.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_try_acquire_write(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_try_acquire_write", lock, |held| held.write(Patience::None)) }
}

/// Waits until the calling thread may write, or until `timeout_ns` nanoseconds are over (and up to 0.2
/// milliseconds more): then it returns `HEDDLE_RMA_STATUS_TIMED_OUT`. It tries again and again, without a
/// place in a queue, so under load it may fail where `heddle_rma_lock_acquire_write` would not wait long.
/// `spin`, `rw` and `queue-rw` can do that; the others return `HEDDLE_RMA_STATUS_NOT_SUPPORTED`.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_acquire_write_timed(
    lock: *mut LockHandle,
    timeout_ns: u64,
) -> Status {
    let write = |held: &Held| held.write(Patience::of_ns(timeout_ns));
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_acquire_write_timed", lock, write) }
}

/// Ends the calling thread's writing. Returns `HEDDLE_RMA_STATUS_NOT_HOLDER` if it does not write; then
/// nothing has changed. The process's accesses to other windows have to be complete before
/// (`MPI_Win_flush`).
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_release_write(lock: *mut LockHandle) -> Status {
    let release = |held: &Held| held.end_writing().map(|()| Status::Ok);
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_release_write", lock, release) }
}

/// Waits until the calling thread may read. A thread that reads must not acquire the lock again.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_acquire_read(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_acquire_read", lock, |held| held.read(Patience::Endless)) }
}

/// Takes the lock for reading if that needs no waiting, otherwise returns `HEDDLE_RMA_STATUS_BUSY`. All kinds
/// can do that.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_try_acquire_read(lock: *mut LockHandle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_try_acquire_read", lock, |held| held.read(Patience::None)) }
}

/// Waits until the calling thread may read, or until `timeout_ns` nanoseconds are over; as
/// `heddle_rma_lock_acquire_write_timed`.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_acquire_read_timed(
    lock: *mut LockHandle,
    timeout_ns: u64,
) -> Status {
    let read = |held: &Held| held.read(Patience::of_ns(timeout_ns));
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_acquire_read_timed", lock, read) }
}

/// Ends the reading of a thread of this process. Returns `HEDDLE_RMA_STATUS_NOT_HOLDER` if none reads; then
/// nothing has changed.
///
/// # Safety
///
/// The same as for `heddle_rma_lock_acquire_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_release_read(lock: *mut LockHandle) -> Status {
    let release = |held: &Held| held.end_reading().map(|()| Status::Ok);
    // SAFETY: the caller's promise.
    unsafe { with("heddle_rma_lock_release_read", lock, release) }
}

/// Ends a lock; null is allowed. Collective: all processes that made it call it, before `MPI_Finalize`, when
/// none uses it any more. If a thread of this process still has the lock, it returns
/// `HEDDLE_RMA_STATUS_BUSY` and nothing has changed; the other processes wait until it is called again.
///
/// # Safety
///
/// `lock` is null or a lock that no thread of this process uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rma_lock_free(lock: *mut LockHandle) -> Status {
    if lock.is_null() {
        return Status::Ok;
    }
    let free = |held: &Held| {
        if held.is_held() {
            return Ok(Status::Busy);
        }
        mpi::is_ready()?;
        Ok(Status::Ok)
    };
    // SAFETY: the caller's promise.
    let status = unsafe { with("heddle_rma_lock_free", lock, free) };
    if status != Status::Ok {
        return status;
    }
    // SAFETY: from heddle_rma_lock_create, and not used any more, by the caller's promise.
    let lock = unsafe { pointer::take_back(lock) };
    finish("heddle_rma_lock_free", lock.0.free().map(|()| Status::Ok))
}
