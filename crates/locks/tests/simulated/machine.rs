//! A machine in virtual time: a hardware thread for each thread, and one of them at a time goes on.
//!
//! Threads are the system's, but they take turns: a thread runs until it *spends* time (every
//! access of shared memory does), and then the thread whose clock is furthest behind goes on. Since
//! nothing else decides which thread runs, an execution depends on the seed alone, which makes
//! every span a little longer or not.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// From a wake-up until the woken thread runs.
const WAKE_UP_NS: u64 = 3_000;
/// Each span is longer by less than one eighth: the divisor.
const JITTER: u64 = 8;

/// How long the threads took.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Each thread's clock at its end, in nanoseconds.
    pub(crate) clocks_ns: Vec<u64>,
    /// Turns of all threads.
    pub(crate) turns: u64,
}

impl Report {
    /// When the last thread ended.
    pub(crate) fn end_ns(&self) -> u64 {
        self.clocks_ns.iter().copied().max().unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Running,
    /// On the word at that address.
    Asleep {
        word: usize,
        until_ns: Option<u64>,
    },
    Ended,
}

#[derive(Debug)]
struct Thread {
    clock_ns: u64,
    doing: Doing,
    /// Whether its last sleep was ended by its deadline.
    timed_out: bool,
}

#[derive(Debug)]
struct State {
    threads: Vec<Thread>,
    /// Whose turn it is.
    turn: usize,
    turns: u64,
    random: u64,
    /// Those asleep, in the order in which they fell asleep.
    asleep: Vec<usize>,
    /// The reason why no thread can go on.
    dead: Option<&'static str>,
}

/// One run of the machine.
#[derive(Debug)]
pub(crate) struct Machine {
    state: Mutex<State>,
    /// One for each thread: its turn has come.
    go_on: Vec<Condvar>,
}

thread_local! {
    /// The machine that this thread belongs to, and its number there.
    static CURRENT: RefCell<Option<(Arc<Machine>, usize)>> = const { RefCell::new(None) };
}

/// Runs `body(number)` on `threads` threads.
pub(crate) fn run(seed: u64, threads: usize, body: impl Fn(usize) + Sync) -> Report {
    let idle = || Thread { clock_ns: 0, doing: Doing::Running, timed_out: false };
    let state = State {
        threads: (0..threads).map(|_| idle()).collect(),
        turn: 0,
        turns: 0,
        random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        asleep: Vec::new(),
        dead: None,
    };
    let go_on = (0..threads).map(|_| Condvar::new()).collect();
    let machine = Arc::new(Machine { state: Mutex::new(state), go_on });
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let start = |number| {
            let (machine, body) = (Arc::clone(&machine), &body);
            scope.spawn(move || machine.one_thread(number, body))
        };
        let started: Vec<_> = (0..threads).map(start).collect();
        started.into_iter().map(|thread| thread.join()).collect()
    });
    if let Some(panic) = outcomes.into_iter().find_map(Result::err) {
        panic::resume_unwind(panic);
    }
    let state = machine.lock();
    Report { clocks_ns: state.threads.iter().map(|thread| thread.clock_ns).collect(), turns: state.turns }
}

impl Machine {
    /// The number of the calling thread, if it is a machine's.
    pub(crate) fn thread() -> Option<usize> {
        // A thread that is ending has left its machine.
        CURRENT.try_with(|current| current.borrow().as_ref().map(|(_, number)| *number)).ok().flatten()
    }

    /// Spends time, and lets threads that are behind go on. Outside of a machine time stands still.
    pub(crate) fn spend(ns: u64) {
        Self::with_current(|machine, me| machine.step(me, ns));
    }

    /// The calling thread's clock.
    pub(crate) fn now_ns() -> u64 {
        Self::with_current(|machine, me| machine.lock().threads[me].clock_ns).unwrap_or(0)
    }

    /// Sleeps on the word at `word` until a wake-up or for `timeout_ns`; false if the time ran out. It is the
    /// calling thread's turn, so the word cannot have changed since it was compared.
    pub(crate) fn sleep(word: usize, timeout_ns: Option<u64>) -> bool {
        let woken = Self::with_current(|machine, me| {
            let mut state = machine.lock();
            let until_ns = timeout_ns.map(|ns| state.threads[me].clock_ns.saturating_add(ns));
            state.threads[me].doing = Doing::Asleep { word, until_ns };
            state.asleep.push(me);
            let state = machine.pass_on(state, me);
            !state.threads[me].timed_out
        });
        woken.expect("only a machine's threads sleep")
    }

    /// Wakes up to `count` threads that sleep on the word at `word`, those that have slept longest first.
    pub(crate) fn wake(word: usize, count: u32) {
        Self::with_current(|machine, me| {
            let mut state = machine.lock();
            let now_ns = state.threads[me].clock_ns;
            let on_it = |state: &State, thread: usize| matches!(state.threads[thread].doing, Doing::Asleep { word: of, .. } if of == word);
            let woken: Vec<usize> =
                state.asleep.iter().copied().filter(|&t| on_it(&state, t)).take(count as usize).collect();
            for thread in woken {
                state.rise(thread, now_ns + WAKE_UP_NS, false);
            }
        });
    }

    fn with_current<R>(act: impl FnOnce(&Self, usize) -> R) -> Option<R> {
        let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()?;
        Some(act(&current.0, current.1))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread's failed assertion is passed on by run().
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn one_thread(self: Arc<Self>, number: usize, body: impl Fn(usize)) {
        CURRENT.with(|current| *current.borrow_mut() = Some((Arc::clone(&self), number)));
        drop(self.await_turn(self.lock(), number));
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| body(number)));
        CURRENT.with(|current| *current.borrow_mut() = None);
        let mut state = self.lock();
        state.threads[number].doing = Doing::Ended;
        if outcome.is_err() {
            state.dead.get_or_insert("another thread has failed");
        }
        if let Some(next) = state.choose() {
            state.turn = next;
        } else if state.threads.iter().any(|thread| thread.doing != Doing::Ended) {
            state.dead.get_or_insert("all threads sleep");
        }
        self.go_on.iter().for_each(Condvar::notify_one);
        drop(state);
        if let Err(panic) = outcome {
            panic::resume_unwind(panic);
        }
    }

    fn step(&self, me: usize, ns: u64) {
        let mut state = self.lock();
        let jitter = state.next_random() % (ns / JITTER + 1);
        state.threads[me].clock_ns += ns + jitter;
        drop(self.pass_on(state, me));
    }

    /// Lets the one furthest behind go on, and returns when it is the caller's turn again.
    fn pass_on<'a>(&'a self, mut state: MutexGuard<'a, State>, me: usize) -> MutexGuard<'a, State> {
        state.turns += 1;
        match state.choose() {
            Some(next) if next == me => return state,
            Some(next) => {
                state.turn = next;
                self.go_on[next].notify_one();
            }
            None => {
                state.dead.get_or_insert("all threads sleep");
                self.go_on.iter().for_each(Condvar::notify_one);
            }
        }
        self.await_turn(state, me)
    }

    fn await_turn<'a>(&'a self, mut state: MutexGuard<'a, State>, me: usize) -> MutexGuard<'a, State> {
        while state.turn != me && state.dead.is_none() {
            state = self.go_on[me].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(why) = state.dead {
            drop(state);
            // A second failure while the first unwinds would end the process.
            if !std::thread::panicking() {
                panic!("{why}");
            }
            return self.lock();
        }
        state
    }
}

impl State {
    /// Whose turn it is next: of all that run, or whose deadline comes, the one with the earliest time.
    fn choose(&mut self) -> Option<usize> {
        let time = |thread: &Thread| match thread.doing {
            Doing::Running => Some(thread.clock_ns),
            Doing::Asleep { until_ns, .. } => until_ns,
            Doing::Ended => None,
        };
        let times = self.threads.iter().enumerate().filter_map(|(n, thread)| Some((time(thread)?, n)));
        let (time_ns, next) = times.min()?;
        if self.threads[next].doing != Doing::Running {
            self.rise(next, time_ns, true);
        }
        Some(next)
    }

    fn rise(&mut self, thread: usize, at_ns: u64, timed_out: bool) {
        self.asleep.retain(|&other| other != thread);
        let risen = &mut self.threads[thread];
        let clock_ns = risen.clock_ns.max(at_ns);
        *risen = Thread { clock_ns, doing: Doing::Running, timed_out };
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}
