//! Threads that do not run: a signal's handler keeps a thread wherever it is, at any instruction,
//! asleep in the kernel too, until the test lets it go on. For the other threads `SIGSTOP` or a busy
//! core has the same effect.

// Each test file that includes this one uses its share of it.
#![allow(dead_code)]

pub(crate) mod acquiring;
mod watched;

pub(crate) use watched::Watched;

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::{Native, Platform, Scope, clock, futex, thread};
use heddle_sync::pool::{LocalPool, Pool};
use std::cell::Cell;
use std::io::{self, Write};
use std::ptr;
use std::sync::{LazyLock, Once};

/// How long a thread has not run when [`Stoppable::stop`] returns.
const STOP_NS: u64 = 50_000_000;
/// The time limit for events that have to happen while a thread is stopped. It ends a failing test;
/// no result depends on it.
const PATIENCE_NS: u64 = 60_000_000_000;

/// Values of `waits`.
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;

const RUNS: u32 = 0;
/// The thread is to stop, or has.
const STOPS: u32 = 1;

/// A thread that can be stopped. The thread that stops it keeps this record.
#[derive(Default)]
pub(crate) struct Stoppable {
    /// What its handler sleeps on.
    order: AtomicU32,
    /// 1 while it is in the handler.
    stopped: AtomicU32,
    /// Its pthread, 0 until it has begun.
    pthread: AtomicU64,
    /// `AWAKE` or `ASLEEP` when it waits or has waited for something: see [`Watched`].
    waits: AtomicU32,
}

thread_local! {
    static SELF: Cell<*const Stoppable> = const { Cell::new(ptr::null()) };
}

/// The signal's handler: makes two system calls, and touches atomics and a thread-local without initializer.
extern "C" fn stand_still(_: libc::c_int) {
    // SAFETY: where this thread's errno lies.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    let kept = unsafe { *errno };
    // SAFETY: null, or set by `run`, which outlives the setting.
    if let Some(this) = unsafe { SELF.get().as_ref() } {
        this.stopped.store(1, Ordering::Release);
        while this.order.load(Ordering::Acquire) == STOPS {
            futex::wait(&this.order, STOPS, None, Scope::Process);
        }
        this.stopped.store(0, Ordering::Release);
    }
    // SAFETY: this thread's own errno.
    unsafe { *errno = kept };
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        look_up_all();
        // SAFETY: zeros are a valid sigaction: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = stand_still as *const () as libc::sighandler_t;
        // SAFETY: the handler does only what handlers may; the signal has no other use.
        let rc = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut()) };
        assert_eq!(rc, 0);
    });
}

/// Does what the platform does once per process, at its first use. A thread that is stopped in the middle of
/// it would keep the others out: of the dynamic linker, which new threads need as well, or of a `OnceLock`.
fn look_up_all() {
    let _ = (Native::hardware_thread(), Native::has_core_claims(), Native::is_asymmetric());
    let _ = Native::ticks_to_ns(Native::ns_to_ticks(1));
    Native::heavy(Scope::Process);
}

/// Does what a thread does at its first allocation and with its first pool: it takes locks of the C library
/// that all threads share.
fn look_up_own() {
    static POOL: LazyLock<LocalPool<u64>> = LazyLock::new(|| LocalPool::new(Pool::new(|| 0)));
    drop(POOL.take());
}

impl Stoppable {
    /// Runs `body` by the calling thread, which can be stopped meanwhile.
    pub(crate) fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        install();
        look_up_own();
        SELF.set(self);
        // SAFETY: asks for the caller's own name.
        self.pthread.store(unsafe { libc::pthread_self() }, Ordering::Release);
        let result = body();
        SELF.set(ptr::null());
        result
    }

    /// Waits until the thread has begun its body.
    pub(crate) fn await_begin(&self) {
        await_that("the thread to begin", || self.pthread.load(Ordering::Acquire) != 0);
    }

    /// Waits until the thread waits for something of the [`Watched`] platform.
    pub(crate) fn await_wait(&self) {
        await_that("the thread to wait", || self.waits.load(Ordering::Relaxed) != 0);
    }

    /// Waits until the thread waits in the kernel, for the only thing that it may sleep for.
    pub(crate) fn await_sleep(&self) {
        await_that("the thread to sleep", || self.waits.load(Ordering::Relaxed) == ASLEEP);
    }

    /// Stops the thread, whose body must not end meanwhile, and lets 50 ms pass.
    pub(crate) fn stop(&self) -> Stopped<'_> {
        self.await_begin();
        self.order.store(STOPS, Ordering::Release);
        // SAFETY: a thread that has begun and does not end, by the caller's promise.
        let rc = unsafe { libc::pthread_kill(self.pthread.load(Ordering::Relaxed), libc::SIGUSR1) };
        assert_eq!(rc, 0, "the thread is there");
        await_that("the thread to stop", || self.stopped.load(Ordering::Acquire) == 1);
        let since_ns = clock::now_ns();
        while clock::now_ns() - since_ns < STOP_NS {
            thread::yield_now();
        }
        Stopped(self)
    }
}

/// While it lives the thread does not run.
#[must_use = "the thread goes on as soon as this is dropped"]
pub(crate) struct Stopped<'a>(&'a Stoppable);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.order.store(RUNS, Ordering::Release);
        futex::wake(&self.0.order, 1, Scope::Process);
    }
}

thread_local! {
    static YIELDS: Cell<u32> = const { Cell::new(0) };
    static DEAR: Cell<bool> = const { Cell::new(false) };
    static IN_VAIN: Cell<bool> = const { Cell::new(false) };
    static PLACE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// From now on the calling thread runs on that hardware thread, as [`Watched`] has it.
pub(crate) fn imagine_place(hardware_thread: usize) {
    PLACE.set(Some(hardware_thread));
}

fn imagined_place() -> Option<usize> {
    PLACE.get()
}

fn note_yield() {
    YIELDS.set(YIELDS.get() + 1);
}

fn yields_are_dear() -> bool {
    DEAR.get()
}

fn yields_are_in_vain() -> bool {
    IN_VAIN.get()
}

/// The number of yields of the calling thread in `body`.
pub(crate) fn yields_of(body: impl FnOnce()) -> u32 {
    let before = YIELDS.get();
    body();
    YIELDS.get() - before
}

/// The number of yields of the calling thread in `body`, if none lets another thread run.
pub(crate) fn yields_in_vain(body: impl FnOnce()) -> u32 {
    IN_VAIN.set(true);
    let yields = yields_of(body);
    IN_VAIN.set(false);
    yields
}

/// The number of yields of the calling thread in `body`, if each costs a whole time slice.
pub(crate) fn dear_yields(body: impl FnOnce()) -> u32 {
    DEAR.set(true);
    let yields = yields_of(body);
    DEAR.set(false);
    yields
}

/// The calling thread waits for something.
fn note_wait(how: u32) {
    // SAFETY: null, or set by `run`, which outlives the setting.
    if let Some(this) = unsafe { SELF.get().as_ref() } {
        this.waits.store(how, Ordering::Relaxed);
    }
}

/// Waits for an event that has to happen although a thread is stopped. If it does not happen, the process
/// ends, since the stopped thread and its waiters could not be joined.
pub(crate) fn await_that(what: &str, mut happened: impl FnMut() -> bool) {
    let since = clock::now_ns();
    while !happened() {
        if clock::now_ns() - since > PATIENCE_NS {
            // Past the test harness, which would keep it until the test's end.
            let _ = writeln!(io::stderr(), "waited in vain for {what}");
            std::process::abort();
        }
        thread::yield_now();
    }
}

/// Runs `work` on that many threads at once, waits for their end as [`await_that`] does.
pub(crate) fn others(threads: usize, what: &str, work: impl Fn() + Sync) {
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                work();
                done.fetch_add(1, Ordering::Release);
            });
        }
        await_that(what, || done.load(Ordering::Acquire) as usize == threads);
    });
}
