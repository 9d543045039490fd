//! `heddle_combine_*`: operations that exclude each other, run by the caller, by the thread that is at the
//! value, or by a dedicated thread.

use crate::error::{Failure, Status, finish};
use heddle_c_interface::pointer;
use heddle_combining::{Combining, DsmSynch, LockQueue, OffloadThread, dsm_synch, lock_queue};
use heddle_locks::mcs::StrictMcs;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_sync::{CachePadded, Lock, Mutex, Native, Platform, RawLock, WaitPolicy};
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr::NonNull;

/// The operation, called with the argument that was given for it. It may run in another thread than the one
/// that called for it, and must return: no `longjmp`, no C++ exception, no end of the thread.
pub type Operation = Option<unsafe extern "C" fn(argument: *mut c_void)>;

/// Combining. Any number of threads may use it at once.
pub struct CombineHandle {
    // Dropped in this order: posted operations still run, and read `running`.
    inner: Box<dyn AnyCombining>,
    running: Running,
    kind: &'static CombineKind,
}

impl fmt::Debug for CombineHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CombineHandle").finish_non_exhaustive()
    }
}

/// The identity of the thread that runs an operation now, or 0. A thread that finds its
/// identity there is inside.
#[derive(Debug, Default)]
struct Running(CachePadded<AtomicU64>);

/// An operation and where it runs.
struct Call {
    function: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
    running: NonNull<Running>,
}

// SAFETY: the caller that asks for an operation promises that it may run in any thread; `Running` is Sync.
unsafe impl Send for Call {}

impl Call {
    fn run(self) {
        // SAFETY: a part of the handle, which lives until everything posted has run.
        let running = unsafe { self.running.as_ref() };
        running.0.store(Native::thread_id(), Ordering::Relaxed);
        // SAFETY: the promise of the caller of heddle_combine_run or heddle_combine_post.
        unsafe { (self.function)(self.argument) };
        running.0.store(0, Ordering::Relaxed);
    }
}

/// Combining of any kind, over nothing: the data that operations work on belongs to C.
trait AnyCombining: Send + Sync {
    fn run(&self, call: Call);
    fn post(&self, call: Call);
    /// Returns false if it would have to wait.
    fn try_run(&self, call: Call) -> bool;
}

impl<C: Combining<()>> AnyCombining for C {
    fn run(&self, call: Call) {
        Combining::run(self, move |()| call.run());
    }

    fn post(&self, call: Call) {
        Combining::post(self, move |()| call.run());
    }

    fn try_run(&self, call: Call) -> bool {
        Combining::try_run(self, move |()| call.run()).is_ok()
    }
}

/// Makes combining of one kind.
type Make = fn() -> Result<Box<dyn AnyCombining>, Failure>;

/// A kind of combining.
struct CombineKind {
    name: &'static str,
    /// True if an operation may post another.
    posts_inside: bool,
    make: Make,
}

fn lock_queue<L: RawLock + Default + 'static>() -> Result<Box<dyn AnyCombining>, Failure> {
    let threshold = lock_queue::DEFAULT_THRESHOLD;
    Ok(Box::new(LockQueue::new(L::default(), (), threshold, WaitPolicy::DEFAULT)))
}

fn offload() -> Result<Box<dyn AnyCombining>, Failure> {
    match OffloadThread::start((), "heddle-offload", WaitPolicy::DEFAULT) {
        Ok(thread) => Ok(Box::new(thread)),
        Err(error) => {
            Err(Failure::new(Status::NoResources, format!("no thread for the operations: {error}")))
        }
    }
}

/// All kinds.
const KINDS: &[CombineKind] = &[
    CombineKind {
        name: "mutex",
        posts_inside: false,
        make: || Ok(Box::new(Lock::new(Mutex::default(), ()))),
    },
    CombineKind {
        name: "dsm-synch",
        posts_inside: false,
        make: || Ok(Box::new(DsmSynch::new((), dsm_synch::DEFAULT_LIMIT, WaitPolicy::DEFAULT))),
    },
    CombineKind { name: "lockq-mutex", posts_inside: true, make: lock_queue::<Mutex> },
    CombineKind { name: "lockq-mcs", posts_inside: true, make: lock_queue::<StrictMcs> },
    CombineKind { name: "offload", posts_inside: true, make: offload },
];

const NAMES: &CStr = c"mutex dsm-synch lockq-mutex lockq-mcs offload";

impl CombineHandle {
    /// A call of `operation`, unless the calling thread would wait for itself.
    fn call(&self, operation: Operation, argument: *mut c_void, waits: bool) -> Result<Call, Failure> {
        let null = || Failure::new(Status::NullPointer, "operation is null");
        let function = operation.ok_or_else(null)?;
        if waits && self.running.0.load(Ordering::Relaxed) == Native::thread_id() {
            let words = format!("called from inside an operation of the same combining ({})", self.kind.name);
            return Err(Failure::new(Status::WouldDeadlock, words));
        }
        Ok(Call { function, argument, running: NonNull::from(&self.running) })
    }
}

/// The names of all kinds of combining, separated by blanks.
///
/// `mutex`: the caller runs its operation under a lock. `dsm-synch`: the caller, or a thread
/// before it in the queue. `lockq-X`: the caller if the lock X is free, else the lock's holder.
/// `offload`: one dedicated thread.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_combine_kinds() -> *const c_char {
    NAMES.as_ptr()
}

/// Makes combining of the kind `kind` and stores it in `*combine`; on an error `*combine` becomes null.
///
/// # Safety
///
/// `kind` is null or a string; `combine` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_combine_create(
    kind: *const c_char,
    combine: *mut *mut CombineHandle,
) -> Status {
    let make = || {
        // SAFETY: the caller's promise.
        let name = unsafe { pointer::name(kind) }?;
        let found = KINDS.iter().find(|kind| kind.name == name);
        let unknown = || {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            let words = format!("there is no combining {name:?}; there are {}", known.join(", "));
            Failure::new(Status::UnknownKind, words)
        };
        let kind = found.ok_or_else(unknown)?;
        Ok(CombineHandle { inner: (kind.make)()?, running: Running::default(), kind })
    };
    // SAFETY: the caller's promise.
    finish("heddle_combine_create", unsafe { pointer::give(combine, "combine", make) })
}

/// Has `operation(argument)` run, excluding all other operations of this combining, and returns when it has.
/// Its writes are visible then, and to all operations after it. One thread's operations run in the order of
/// its calls. Returns `HEDDLE_STATUS_WOULD_DEADLOCK` inside an operation of the same combining.
///
/// # Safety
///
/// `combine` is null or combining that is not destroyed before the call returns; `operation` may be called
/// with `argument` in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_combine_run(
    combine: *mut CombineHandle,
    operation: Operation,
    argument: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise.
    let combine = unsafe { pointer::handle(combine, "combine") };
    let run = |combine: &CombineHandle| {
        combine.inner.run(combine.call(operation, argument, true)?);
        Ok(())
    };
    finish("heddle_combine_run", combine.and_then(run))
}

/// Does the same as `heddle_combine_run`, but returns at once if the kind allows it (`lockq-X`,
/// `offload`); the operation runs in bounded time, before `heddle_combine_destroy` returns at the
/// latest. For these kinds an operation of the same combining may call it; for the others it then
/// returns `HEDDLE_STATUS_WOULD_DEADLOCK`.
///
/// # Safety
///
/// The same as for `heddle_combine_run`, and `argument` stays valid until the operation has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_combine_post(
    combine: *mut CombineHandle,
    operation: Operation,
    argument: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise.
    let combine = unsafe { pointer::handle(combine, "combine") };
    let post = |combine: &CombineHandle| {
        let waits = !combine.kind.posts_inside;
        combine.inner.post(combine.call(operation, argument, waits)?);
        Ok(())
    };
    finish("heddle_combine_post", combine.and_then(post))
}

/// Does the same as `heddle_combine_run` if no other thread is at it now, otherwise returns
/// `HEDDLE_STATUS_BUSY` and runs nothing. Always busy for `offload`.
///
/// # Safety
///
/// The same as for `heddle_combine_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_combine_try_run(
    combine: *mut CombineHandle,
    operation: Operation,
    argument: *mut c_void,
) -> Status {
    // SAFETY: the caller's promise.
    let combine = unsafe { pointer::handle(combine, "combine") };
    let call = combine.and_then(|combine| Ok((combine, combine.call(operation, argument, true)?)));
    match call.map(|(combine, call)| combine.inner.try_run(call)) {
        Ok(true) => Status::Ok,
        Ok(false) => Status::Busy,
        Err(failure) => finish("heddle_combine_try_run", Err(failure)),
    }
}

/// Runs the operations that are still posted, and ends the combining; null is allowed. No call on it may be
/// in progress in another thread, and none may follow. Inside one of its operations it returns
/// `HEDDLE_STATUS_WOULD_DEADLOCK`, and the combining lives on.
///
/// # Safety
///
/// `combine` is null or combining that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_combine_destroy(combine: *mut CombineHandle) -> Status {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { pointer::borrow(combine) }) else { return Status::Ok };
    if handle.running.0.load(Ordering::Relaxed) == Native::thread_id() {
        let failure = Failure::new(Status::WouldDeadlock, "called from inside one of its operations");
        return finish("heddle_combine_destroy", Err(failure));
    }
    // SAFETY: from heddle_combine_create, and not used any more, by the caller's promise.
    drop(unsafe { pointer::take_back(combine) });
    Status::Ok
}

#[cfg(test)]
mod tests {
    use super::{KINDS, NAMES};

    #[test]
    fn the_names_for_c_are_those_of_the_list() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(NAMES.to_str(), Ok(names.join(" ").as_str()));
    }
}
