//! Bodies of models that both locks with a bias have to pass. Their threads are put on cores, of which a bias
//! to a thread takes no notice.

use crate::model::clocked::{self, Clocked};
use heddle_locks::{Biased, CoreBiased};
use heddle_platform::model::move_to_core;
use heddle_sync::{Lock, Platform, RawLock, WaitPolicy, mutex};
use loom::sync::Arc;
use loom::thread;

/// A lock with a bias.
pub(crate) trait Bias: RawLock + 'static {
    /// The inner lock.
    type Under: RawLock;

    /// A lock that gets its bias after `streak` acquisitions in a row.
    fn new(under: Self::Under, streak: u32) -> Self;
    fn visit(&self) -> Option<Self::Token>;
    /// Returns true if the thread with that token is inside by the bias.
    fn is_by_bias(token: &Self::Token) -> bool;
}

macro_rules! bias {
    ($name:ident) => {
        impl<L: RawLock + 'static> Bias for $name<L> {
            type Under = L;

            fn new(under: L, streak: u32) -> Self {
                $name::with_streak(under, WaitPolicy::PARK_AT_ONCE, streak)
            }
            fn visit(&self) -> Option<Self::Token> {
                self.try_visit()
            }
            fn is_by_bias(token: &Self::Token) -> bool {
                token.is_none()
            }
        }
    };
}
bias!(Biased);
bias!(CoreBiased);

/// A counter under a lock that its first holder, or that thread's core, gets as the bias owner.
pub(crate) type Sum<B> = Lock<B, u32>;

pub(crate) fn add<B: Bias>(sum: &Sum<B>, times: u32) {
    (0..times).for_each(|_| *sum.acquire() += 1);
}

/// Tries that often; returns how many tries succeeded.
fn try_to_add<L: RawLock>(sum: &Lock<L, u32>, times: u32) -> u32 {
    let try_once = || sum.try_acquire().map(|mut sum| *sum += 1).is_some();
    (0..times).map(|_| u32::from(try_once())).sum()
}

/// A thread on core `core`.
fn on_core<R: 'static>(core: usize, work: impl FnOnce() -> R + 'static) -> thread::JoinHandle<R> {
    thread::spawn(move || {
        move_to_core(core);
        work()
    })
}

/// This thread, on core 0, gets the bias and adds `own` more. Each of `others` is the core of another thread,
/// and the number of times that it adds.
pub(crate) fn owner_and_others<B: Bias>(
    make: fn() -> B,
    own: u32,
    others: &'static [(usize, u32)],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Sum::new(make(), 0));
        add(&sum, 1);
        let adder = |&(core, times)| {
            let sum = Arc::clone(&sum);
            on_core(core, move || add(&sum, times))
        };
        let threads: Vec<_> = others.iter().map(adder).collect();
        add(&sum, own);
        for thread in threads {
            thread.join().expect("adder");
        }
        assert!(!sum.has_waiters());
        assert_eq!(*sum.acquire(), 1 + own + others.iter().map(|(_, times)| times).sum::<u32>());
    }
}

/// This thread, on core 0, gets the bias; another, on core `core`, only tries.
pub(crate) fn owner_and_trier<L: RawLock + 'static>(
    make: fn() -> L,
    core: usize,
    own: u32,
    tries: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Lock::new(make(), 0));
        *sum.acquire() += 1;
        let other = Arc::clone(&sum);
        let other = on_core(core, move || try_to_add(&other, tries));
        (0..own).for_each(|_| *sum.acquire() += 1);
        let tried = other.join().expect("trier");
        assert_eq!(*sum.acquire(), 1 + own + tried);
        assert_eq!(try_to_add(&sum, 1), 1, "a free lock is not refused");
    }
}

/// One thread tries, which may leave the bias half revoked; another, on core `core`, acquires.
pub(crate) fn owner_trier_and_another<B: Bias>(
    make: fn() -> B,
    core: usize,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Sum::new(make(), 0));
        add(&sum, 1);
        let (trier, adder) = (Arc::clone(&sum), Arc::clone(&sum));
        let trier = on_core(1, move || try_to_add(&trier, 1));
        let adder = on_core(core, move || add(&adder, 1));
        add(&sum, 1);
        let tried = trier.join().expect("trier");
        adder.join().expect("adder");
        assert_eq!(*sum.acquire(), 3 + tried);
    }
}

/// A failed try is not reported as a waiter.
pub(crate) fn a_try_leaves_no_waiter<B: Bias>(make: fn() -> B) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let lock = Arc::new(make());
        passes_by_bias(&*lock);
        assert!(!lock.has_waiters());
        let token = lock.acquire();
        let other = Arc::clone(&lock);
        let other = on_core(1, move || other.try_acquire().is_some());
        let has_entered = other.join().expect("trier");
        assert!(!has_entered && !lock.has_waiters(), "a thread that only tried does not wait");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    }
}

/// A holder that tries again fails.
pub(crate) fn a_holder_tries_again<B: Bias>(make: fn() -> B) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Sum::new(make(), 0));
        let holder = on_core(1, {
            let sum = Arc::clone(&sum);
            move || {
                add(&sum, 1);
                let held = sum.acquire();
                assert!(sum.try_acquire().is_none(), "two guards");
                drop(held);
            }
        });
        holder.join().expect("holder");
        assert_eq!(*sum.acquire(), 1);
    }
}

/// A lock that is biased after `streak` acquisitions in a row; time passes with each reading of the clock.
pub(crate) fn timed<B: Bias<Under = mutex::Mutex<Clocked>>>(streak: u32) -> B {
    clocked::restart();
    B::new(mutex::Mutex::new(WaitPolicy::PARK_AT_ONCE), streak)
}

/// Tries are visits.
pub(crate) struct Visited<B>(pub(crate) B);

// SAFETY: the lock's own promises.
unsafe impl<B: Bias> RawLock for Visited<B> {
    type Platform = B::Platform;
    type Token = B::Token;

    fn acquire(&self) -> Self::Token {
        self.0.acquire()
    }
    fn try_acquire(&self) -> Option<Self::Token> {
        self.0.visit()
    }
    unsafe fn release(&self, token: Self::Token) {
        // SAFETY: the caller's promise.
        unsafe { self.0.release(token) };
    }
    fn has_waiters(&self) -> bool {
        self.0.has_waiters()
    }
}

/// Acquires and releases; returns whether the caller was inside by the bias.
pub(crate) fn passes_by_bias<B: Bias>(lock: &B) -> bool {
    let token = lock.acquire();
    let by_bias = B::is_by_bias(&token);
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    by_bias
}

/// The number of visits until one succeeds, of a thread on core 1.
fn visits<B: Bias>(lock: &Arc<B>) -> usize {
    let lock = Arc::clone(lock);
    let visitor = on_core(1, move || {
        let visits = (1..).find_map(|visit| Some((visit, lock.visit()?)));
        let (visits, token) = visits.expect("in the end");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        visits
    });
    visitor.join().expect("visitor")
}

/// A visitor leaves a young bias alone and interrupts no streak. This thread is inside by the bias from
/// acquisition number `first` on, if none comes between.
pub(crate) fn a_visitor_is_considerate<B: Bias<Under = mutex::Mutex<Clocked>>>(
    first: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let lock = Arc::new(timed::<B>(2));
        assert!(!passes_by_bias(&*lock));
        assert_eq!(visits(&lock), 1, "there is no bias yet");
        for number in 2..=first + 1 {
            assert_eq!(passes_by_bias(&*lock), number >= first, "acquisition {number}");
        }
        assert!(visits(&lock) > 1);
        assert!(!passes_by_bias(&*lock));
    }
}

/// A bias that is revoked young needs a longer streak to come back, and one that was worth it a shorter one.
/// `until` are the numbers of acquisitions until the thread that makes them is inside by the bias.
pub(crate) fn the_streak_adapts<B: Bias<Under = mutex::Mutex<Clocked>>>(
    until: [usize; 3],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let lock = Arc::new(timed::<B>(2));
        let passes_until_bias = || {
            let lock = Arc::clone(&lock);
            on_core(1, move || (1..).find(|_| passes_by_bias(&*lock)).expect("in the end"))
        };
        assert_eq!(passes_until_bias().join().expect("owner"), until[0]);
        assert!(!passes_by_bias(&*lock), "revoked young");
        assert_eq!(passes_until_bias().join().expect("owner"), until[1]);
        (0..4).for_each(|_| _ = Clocked::ticks());
        assert!(!passes_by_bias(&*lock), "revoked old");
        assert_eq!(passes_until_bias().join().expect("owner"), until[2]);
    }
}
