//! GuardedState that threads reach only through its critical section.

use super::combined::Combined;
use super::lock::{BiasedLock, SectionLock, SectionToken};
use super::offload::{Offload, OffloadServer, OffloadTurn};
use crate::choice::{Execution, Model};
use crate::counters::Row;
use crate::path::Path;
use heddle_platform::cell::UnsafeCell;
use heddle_sync::Native;
use heddle_sync::wait::try_again;
use std::fmt;

/// GuardedState that threads reach only through its critical section.
///
/// The critical section is a lock, or combining, or nothing if the model or the thread level
/// keeps other threads out: below `MPI_THREAD_MULTIPLE` by the program's promise, under `global`
/// by the [`CallSection`](crate::CallSection).
pub struct Guarded<T: Send + 'static> {
    lock: Option<SectionLock>,
    row: Row,
    /// The number of times that a thread which finds the critical section taken yields and tries again
    /// before it posts an operation.
    post_tries: u32,
    shortcut: Shortcut,
    state: GuardedState<T>,
}

/// The reason for which the express path refuses a call. It has changed nothing then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The lock is not biased to the thread, or the call needs more than a few steps; an attempt at the lock
    /// may succeed.
    Busy,
    /// The call needs the general path.
    Unfit,
    /// The message is not on the VNI that its communicator names: it is spread over VNIs, or a self message
    /// that is sharded. An attempt on its own VNI may succeed.
    OnLane,
}

/// The condition under which a thread may enter with a few plain instructions.
#[derive(Debug)]
enum Shortcut {
    /// A thread always may: no other thread enters, and nothing is counted.
    Free,
    /// A thread may if this lock is biased to it.
    Bias(BiasedLock),
    Never,
    /// A thread may not, and shall not attempt to enter by the lock either: the express path makes no
    /// requests.
    Closed,
}

impl Shortcut {
    fn of(lock: Option<&SectionLock>, row: Row) -> Shortcut {
        match lock {
            None if row == Row::without_section() => Shortcut::Free,
            None => Shortcut::Never,
            Some(lock) => lock.biased().map_or(Shortcut::Never, Shortcut::Bias),
        }
    }
}

/// The effort that a thread makes to enter a critical section by the express path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// A few plain instructions and no call: it succeeds if no other thread ever enters, or if the lock
    /// is biased to the thread.
    Bias,
    /// An attempt at the lock: it succeeds if the lock is free.
    Lock,
    /// Both attempts, on the lane of a message that is spread over VNIs, or on the VNI of a sharded self
    /// message.
    Lane,
}

/// The state, and how threads reach it.
enum GuardedState<T: Send + 'static> {
    InPlace(UnsafeCell<T>),
    Combined(Box<Combined<T>>),
}

impl<T: Send + 'static> fmt::Debug for Guarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("locked", &self.lock.is_some()).finish_non_exhaustive()
    }
}

// SAFETY: the state is touched by one thread at a time (see `Guarded`), so it must be Send, not Sync.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T: Send + 'static> Guarded<T> {
    pub(super) fn locked(lock: Option<SectionLock>, row: Row, state: T) -> Guarded<T> {
        let shortcut = Shortcut::of(lock.as_ref(), row);
        let state = GuardedState::InPlace(UnsafeCell::new(state));
        Guarded { lock, row, post_tries: 0, shortcut, state }
    }

    /// Has all operations take the general path.
    pub(super) fn without_shortcut(self) -> Guarded<T> {
        Guarded { shortcut: Shortcut::Closed, ..self }
    }

    pub(super) fn by_execution(model: &Model, row: Row, state: T) -> Guarded<T> {
        if matches!(model.execution, Execution::Caller | Execution::Offload) {
            // Without offload threads the callers run the operations.
            return Guarded::locked(Some(SectionLock::new(model, row)), row, state);
        }
        let post_tries = if model.execution == Execution::LockQ { model.post_tries } else { 0 };
        let state = GuardedState::Combined(Box::new(Combined::new(model, row, state)));
        Guarded { lock: None, row, post_tries, shortcut: Shortcut::Never, state }
    }

    pub(super) fn offloaded(server: &OffloadServer, vni: usize, row: Row, state: T) -> Guarded<T> {
        let state = GuardedState::Combined(Box::new(Combined::offloaded(server, vni, row, state)));
        Guarded { lock: None, row, post_tries: 0, shortcut: Shortcut::Never, state }
    }

    /// GuardedState in the one critical section of the process, which `lock` is. `nests` is true if a thread
    /// that is inside for other state may run operations on this one.
    pub(super) fn in_process(lock: SectionLock, nests: bool, row: Row, state: T) -> Guarded<T> {
        let state = GuardedState::Combined(Box::new(Combined::in_process(lock, nests, state)));
        Guarded { lock: None, row, post_tries: 0, shortcut: Shortcut::Never, state }
    }

    /// Takes a turn at the state, for an offload thread. Returns `None` if another thread has the turn, or if
    /// no offload thread serves the state.
    pub fn take_turn(&self) -> Option<OffloadTurn<'_, T>> {
        OffloadTurn::take(self.offload()?, self.row)
    }

    /// Does the same as [`take_turn`](Self::take_turn) for a waiting thread, if no thread has had a turn
    /// since there were `seen` [turns](Self::turns); otherwise updates `seen`.
    pub fn take_idle_turn(&self, seen: &mut u32) -> Option<OffloadTurn<'_, T>> {
        OffloadTurn::take_idle(self.offload()?, seen, self.row)
    }

    /// The number of turns so far; 0 if no offload thread serves the state.
    pub fn turns(&self) -> u32 {
        self.offload().map_or(0, Offload::turns)
    }

    /// How often another thread than the last one was inside; 0 if there is no lock.
    pub fn hand_overs(&self) -> u32 {
        self.lock.as_ref().map_or(0, SectionLock::hand_overs)
    }

    /// Returns true if a thread waits for the lock.
    #[cfg(test)]
    pub(crate) fn has_waiters(&self) -> bool {
        self.lock.as_ref().is_some_and(SectionLock::has_waiters)
    }

    /// Returns true if offload threads run the operations.
    pub fn is_offloaded(&self) -> bool {
        self.offload().is_some()
    }

    fn offload(&self) -> Option<&Offload<T>> {
        match &self.state {
            GuardedState::Combined(combined) => match &**combined {
                Combined::Offload(offload) => Some(offload),
                _ => None,
            },
            GuardedState::InPlace(_) => None,
        }
    }

    /// Runs `operation` on the state. The operation must not enter a critical section, and must not panic:
    /// this critical section would stay closed.
    #[inline(always)]
    pub fn with<R: Send>(&self, path: Path, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        match &self.state {
            GuardedState::InPlace(_) => self.with_lock(path, operation),
            GuardedState::Combined(combined) => combined.run(path, self.row, operation),
        }
    }

    /// Does the same as [`with`](Self::with), for state on which no other thread runs the caller's operation.
    /// The operation may enter other critical sections if all such operations keep to one order.
    ///
    /// # Panics
    /// If another thread may run the operation.
    #[inline(always)]
    pub fn with_lock<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let GuardedState::InPlace(state) = &self.state else { return self.with_one_lock(path, operation) };
        let held = self.lock.as_ref().map(|lock| (lock, lock.enter(path, self.row)));
        if held.is_none() {
            self.row.issued_without_section(path);
        }
        // SAFETY: the thread holds the critical section, or the model or the thread level
        // keeps other threads out.
        unsafe { run_inside(state, held, operation) }
    }

    #[cold]
    #[inline(never)]
    fn with_one_lock<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let GuardedState::Combined(combined) = &self.state else {
            unreachable!("the caller has found it combined")
        };
        let Some(lock) = combined.one_lock() else { unreachable!("another thread may run the operation") };
        lock.run(path, self.row, operation)
    }

    /// Runs `operation` on the state if `attempt` can enter. Otherwise does nothing. An operation that
    /// returns `None` has done nothing, and is not counted.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if the other attempt may enter; [`Refusal::Unfit`] if the operation was run and
    /// returned `None`, or if no attempt can enter.
    #[inline(always)]
    pub fn with_shortcut<R>(
        &self,
        attempt: Attempt,
        path: Path,
        operation: impl FnOnce(&mut T) -> Option<R>,
    ) -> Result<R, Refusal> {
        let GuardedState::InPlace(state) = &self.state else { return Err(Refusal::Unfit) };
        match (attempt, &self.shortcut, &self.lock) {
            (Attempt::Bias, Shortcut::Free, _) => {
                // SAFETY: below `MPI_THREAD_MULTIPLE` the program keeps other threads out.
                unsafe { run_inside(state, None, operation) }.ok_or(Refusal::Unfit)
            }
            (Attempt::Bias, Shortcut::Bias(lock), _) => {
                if !lock.enter_as_owner() {
                    return Err(Refusal::Busy);
                }
                // SAFETY: the thread holds the critical section.
                let result = unsafe { run_inside(state, None, operation) };
                // There are two branches, so that the compiler keeps nothing for a caller that
                // goes on after a failure.
                if result.is_some() {
                    // SAFETY: the thread has entered by the bias, by `enter_as_owner`.
                    unsafe { lock.leave_as_owner() };
                    self.row.entered(path);
                } else {
                    // SAFETY: the thread has entered by the bias, by `enter_as_owner`.
                    unsafe { lock.leave_as_owner() };
                }
                result.ok_or(Refusal::Unfit)
            }
            (Attempt::Bias, Shortcut::Never, Some(_)) => Err(Refusal::Busy),
            (Attempt::Lock, _, Some(lock)) => {
                let token = lock.attempt(path).ok_or(Refusal::Unfit)?;
                // SAFETY: the thread holds the critical section.
                let result = unsafe { run_inside(state, Some((lock, token)), operation) };
                if result.is_some() {
                    self.row.entered(path);
                }
                result.ok_or(Refusal::Unfit)
            }
            _ => Err(Refusal::Unfit),
        }
    }

    /// Does the same as [`with`](Self::with) on the main path, for an operation that creates, completes and
    /// frees nothing: it only polls.
    #[inline]
    pub fn poll<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let result = self.with(Path::Main, operation);
        self.row.only_polled();
        result
    }

    /// Runs `operation` on the state if no other thread is in the critical section; never waits.
    #[inline(always)]
    pub fn try_with<R: Send>(&self, path: Path, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        match &self.state {
            GuardedState::InPlace(_) => self.try_with_lock(path, operation),
            GuardedState::Combined(combined) => combined.try_run(path, self.row, operation),
        }
    }

    /// Does the same as [`try_with`](Self::try_with), for state on which no other thread runs the caller's
    /// operation.
    ///
    /// # Panics
    /// If another thread may run the operation.
    #[inline(always)]
    pub fn try_with_lock<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let GuardedState::InPlace(state) = &self.state else {
            unreachable!("another thread may run the operation")
        };
        let held = match self.lock.as_ref() {
            Some(lock) => Some((lock, lock.try_enter(path, self.row)?)),
            None => None,
        };
        // SAFETY: the thread holds the critical section, or the model or the thread level
        // keeps other threads out.
        Some(unsafe { run_inside(state, held, operation) })
    }

    /// Runs `operation` with `input` on the state if no other thread is in the critical section, or if it
    /// becomes free within a few yields. A [post](Self::post) would take longer, because it moves lines of
    /// memory to another core and back.
    ///
    /// # Errors
    ///
    /// Gives the input back if the operation was not run.
    #[inline(always)]
    pub fn run_soon<I: Send, R: Send>(
        &self,
        input: I,
        operation: impl FnOnce(&mut T, I) -> R + Send,
    ) -> Result<R, I> {
        let mut given = Some((input, operation));
        let mut once = |state: &mut T| given.take().map(|(input, operation)| operation(state, input));
        let mut result = self.try_with(Path::Main, &mut once);
        if result.is_none() {
            result = self.try_again(&mut once);
        }
        match (result.flatten(), given) {
            (Some(result), _) => Ok(result),
            (None, Some((input, _))) => Err(input),
            (None, None) => unreachable!("an operation that has run gives a result"),
        }
    }

    #[cold]
    fn try_again<R: Send>(&self, operation: &mut (impl FnMut(&mut T) -> R + Send)) -> Option<R> {
        try_again::<Native, _>(self.post_tries, || self.try_with(Path::Main, &mut *operation))
    }

    /// Does the same as [`try_with`](Self::try_with) on the progress path, for a thread that now and then
    /// polls what other threads use.
    pub fn try_visit<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        let (GuardedState::InPlace(state), Some(lock)) = (&self.state, self.lock.as_ref()) else {
            return self.try_with(Path::Progress, operation);
        };
        let token = lock.try_visit(self.row)?;
        // SAFETY: the thread holds the critical section.
        Some(unsafe { run_inside(state, Some((lock, token)), operation) })
    }

    /// Does the same as [`try_with`](Self::try_with) on the progress path, for one of several polls in a row
    /// that are [counted](Self::count_polls) together afterwards. Counting them one by one would take time
    /// while the thread waits for an answer.
    #[inline(always)]
    pub fn try_poll<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        let state = match &self.state {
            GuardedState::InPlace(state) => state,
            GuardedState::Combined(combined) => return combined.try_poll(self.row, operation),
        };
        let held = match self.lock.as_ref() {
            Some(lock) => Some((lock, lock.try_enter_uncounted(Path::Progress, self.row)?)),
            None => None,
        };
        // SAFETY: the thread holds the critical section, or the model or the thread level
        // keeps other threads out.
        Some(unsafe { run_inside(state, held, operation) })
    }

    /// Counts `polls` polls; `completed` is true if the last of them completed an operation.
    #[inline(always)]
    pub fn count_polls(&self, polls: u32, completed: bool) {
        self.row.polled(polls, completed);
    }

    /// Does the same as [`try_with`](Self::try_with), but waits for the critical section for up to
    /// `patience_ns` if its lock lets a waiter give up.
    pub fn with_within<R: Send>(
        &self,
        path: Path,
        patience_ns: u64,
        operation: impl FnOnce(&mut T) -> R + Send,
    ) -> Option<R> {
        match (&self.state, self.lock.as_ref()) {
            (GuardedState::InPlace(state), Some(lock)) if patience_ns != 0 => {
                let token = lock.enter_within(path, patience_ns, self.row)?;
                // SAFETY: the thread holds the critical section.
                Some(unsafe { run_inside(state, Some((lock, token)), operation) })
            }
            (GuardedState::Combined(combined), _) if patience_ns != 0 => match combined.one_lock() {
                Some(lock) => lock.run_within(path, patience_ns, self.row, operation),
                None => self.try_with(path, operation),
            },
            _ => self.try_with(path, operation),
        }
    }

    /// Returns true if a thread may [post](Self::post) operations without waiting for them.
    #[inline(always)]
    pub fn takes_posts(&self) -> bool {
        match &self.state {
            GuardedState::InPlace(_) => false,
            GuardedState::Combined(combined) => combined.takes_posts(),
        }
    }

    /// Has `operation` run, by this thread now or by another one soon. The operations that one thread posts
    /// and runs keep their order.
    #[inline(never)]
    pub fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        match &self.state {
            GuardedState::InPlace(_) => self.with(Path::Main, operation),
            GuardedState::Combined(combined) => combined.post(self.row, operation),
        }
    }
}

/// Runs an operation, and leaves the critical section if the caller has entered one for it.
///
/// # Safety
/// The caller is in the critical section by that token, or no other thread touches the state
/// while the operation runs.
#[inline(always)]
unsafe fn run_inside<T, R>(
    state: &UnsafeCell<T>,
    held: Option<(&SectionLock, SectionToken)>,
    operation: impl FnOnce(&mut T) -> R,
) -> R {
    // SAFETY: the caller promises that no other thread touches the state, and that it entered by
    // this token if there is one.
    let result = operation(unsafe { &mut *state.get() });
    if let Some((lock, token)) = held {
        // SAFETY: the caller promises that no other thread touches the state, and that it entered by
        // this token if there is one.
        unsafe { lock.leave(token) };
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Bias;

    fn attempt(guarded: &Guarded<u32>, attempt: Attempt) -> Result<u32, Refusal> {
        guarded.with_shortcut(attempt, Path::Main, |state| {
            *state += 1;
            (*state < 100).then_some(*state)
        })
    }

    #[test]
    fn below_thread_multiple_the_first_attempt_enters() {
        let guarded = Model::default().guard_vni(false, 0);
        assert_eq!(attempt(&guarded, Attempt::Bias), Ok(1));
        assert_eq!(attempt(&guarded, Attempt::Lock), Err(Refusal::Unfit), "there is no lock");
    }

    #[test]
    fn where_the_bias_is_missing_the_lock_is_tried() {
        for bias in [Bias::Thread, Bias::None] {
            let guarded = Model { bias, ..Model::default() }.guard_vni(true, 0);
            assert_eq!(attempt(&guarded, Attempt::Bias), Err(Refusal::Busy), "{bias:?}");
            assert_eq!(attempt(&guarded, Attempt::Lock), Ok(1), "{bias:?}");
            guarded.with(Path::Main, |_| {
                let other =
                    || assert_eq!(attempt(&guarded, Attempt::Lock), Err(Refusal::Unfit), "{bias:?}: held");
                std::thread::scope(|scope| scope.spawn(other).join().expect("it is refused"));
            });
        }
    }

    #[test]
    fn an_operation_that_does_nothing_is_refused() {
        for threads in [false, true] {
            let guarded = Model::default().guard_vni(threads, 100);
            let last = if threads { Attempt::Lock } else { Attempt::Bias };
            assert_eq!(attempt(&guarded, last), Err(Refusal::Unfit));
        }
    }
}
