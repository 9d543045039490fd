//! State that is reached only through its section.

use crate::choice::{Arbitration, Execution, Granularity, Model};
use crate::counters::{Row, Section};
use crate::lock::LockKind;
use crate::section::{Path, SectionLock, SectionToken};
use crate::service::{Call, Offload, Service, Turn};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::thread;
use heddle_sync::mcs::StrictMcs;
use heddle_sync::wait::try_again;
use heddle_sync::{
    Combining, DsmSynch, LockQueue, LockQueueMcs, LockQueueMutex, Mcs, Mutex, Native, WaitPolicy,
};
use std::fmt;

/// How the objects inside of a VNI are guarded: by a [`Sectioning`](crate::Sectioning) of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// By what guards the VNI.
    Whole,
    /// Each by a lock of its own; the VNI has none.
    Parted,
    /// The same, or by sections that nobody waits for.
    LockFree,
}

/// Makes what guards the states of a process's VNIs.
#[derive(Debug)]
pub struct Sections {
    model: Model,
    threads: bool,
    /// The one lock of `brief-global`.
    shared: Option<SectionLock>,
    /// The threads of `offload`.
    service: Option<Service>,
}

impl Sections {
    pub(crate) fn new(model: Model, threads: bool) -> Sections {
        let one_for_all = threads && model.granularity == Granularity::BriefGlobal;
        let shared = one_for_all.then(|| SectionLock::new(&model));
        Sections { model, threads, shared, service: None }
    }

    /// Has these threads serve the VNIs: under `offload`, where nobody else would.
    #[must_use]
    pub fn served_by(self, service: Option<Service>) -> Sections {
        Sections { service, ..self }
    }

    /// Puts state that all VNIs share behind a section of its own, which may be entered inside of a VNI's: a lock, except
    /// where the call section or the thread level keeps others out anyway.
    pub fn guard_shared<T: Send + 'static>(&self, section: Section, state: T) -> Guarded<T> {
        let locked = self.threads && self.model.granularity != Granularity::Global;
        let row = if locked { Row::of(section) } else { Row::without_section() };
        Guarded::locked(locked.then(|| SectionLock::new(&self.model)), row, state)
    }

    /// Puts the state of the VNI of that number behind its section.
    pub fn guard_vni<T: Send + 'static>(&self, number: usize, state: T) -> Guarded<T> {
        let row = self.row(number);
        if !self.threads {
            return Guarded::locked(None, row, state);
        }
        match self.model.granularity {
            Granularity::Global => Guarded::locked(None, row, state),
            Granularity::BriefGlobal => Guarded::locked(self.shared.clone(), row, state),
            Granularity::PerVni | Granularity::PerObject | Granularity::LockFree => match &self.service {
                Some(service) => Guarded::served(service, number, row, state),
                None => Guarded::by_execution(&self.model, row, state),
            },
        }
    }

    /// How the objects inside of a VNI are guarded.
    pub fn objects(&self) -> Objects {
        match self.model.granularity {
            Granularity::PerObject if self.threads => Objects::Parted,
            Granularity::LockFree if self.threads => Objects::LockFree,
            _ => Objects::Whole,
        }
    }

    /// How many operations of others a thread runs at most before it goes away.
    pub(crate) fn combining_limit(&self) -> u32 {
        self.model.combining_limit
    }

    /// The lock of a new section.
    pub(crate) fn lock(&self) -> SectionLock {
        SectionLock::new(&self.model)
    }

    /// Where the section of the VNI of that number is counted; if it has none but many, that of progress.
    pub fn row(&self, number: usize) -> Row {
        match self.model.granularity {
            Granularity::BriefGlobal if self.threads => Row::of(Section::Process),
            Granularity::PerVni if self.threads => Row::of(Section::Vni(number)),
            Granularity::PerObject | Granularity::LockFree if self.threads => Row::of(Section::Arrivals),
            Granularity::Global if self.threads => Row::within_call(),
            _ => Row::without_section(),
        }
    }
}

/// State that is reached only through its section.
///
/// The section is a lock, or combining, or nothing where the model or the thread level guarantees exclusion otherwise:
/// below `MPI_THREAD_MULTIPLE` by the program's promise, under `global` by the [`CallSection`](crate::CallSection).
pub struct Guarded<T: Send + 'static> {
    lock: Option<SectionLock>,
    row: Row,
    /// How many times a thread that finds it taken yields and tries again before it posts an operation.
    post_tries: u32,
    state: Home<T>,
}

/// Where the state lies.
enum Home<T: Send + 'static> {
    Here(UnsafeCell<T>),
    Combined(Box<Combined<T>>),
}

/// State on which whoever is there runs the operations of all.
enum Combined<T: Send + 'static> {
    CSync(DsmSynch<T>),
    LockQMutex(LockQueueMutex<T>),
    LockQMcs(LockQueue<Mcs, T>),
    LockQStrictMcs(LockQueueMcs<T>),
    /// Always run by a serving thread.
    Offload(Offload<T>),
}

/// Hands on to the combining that is used.
macro_rules! combined {
    ($self:ident, $combining:ident => $call:expr) => {
        match $self {
            Combined::CSync($combining) => $call,
            Combined::LockQMutex($combining) => $call,
            Combined::LockQMcs($combining) => $call,
            Combined::LockQStrictMcs($combining) => $call,
            Combined::Offload($combining) => $call,
        }
    };
}

impl<T: Send + 'static> fmt::Debug for Guarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("locked", &self.lock.is_some()).finish_non_exhaustive()
    }
}

// SAFETY: the state is touched by one thread at a time (see `Guarded`), so it must be Send, not Sync.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T: Send + 'static> Guarded<T> {
    fn locked(lock: Option<SectionLock>, row: Row, state: T) -> Guarded<T> {
        Guarded { lock, row, post_tries: 0, state: Home::Here(UnsafeCell::new(state)) }
    }

    fn by_execution(model: &Model, row: Row, state: T) -> Guarded<T> {
        let (limit, policy) = (model.combining_limit, WaitPolicy::DEFAULT);
        let combined = match (model.execution, model.arbitration) {
            // Without a thread that serves, the callers do.
            (Execution::Caller | Execution::Offload, _) => {
                return Guarded::locked(Some(SectionLock::new(model)), row, state);
            }
            (Execution::CSync, _) => Combined::CSync(DsmSynch::new(state, limit, policy)),
            (Execution::LockQ, Arbitration::One(LockKind::Mcs)) => {
                Combined::LockQMcs(LockQueue::new(Mcs::new(policy), state, limit, policy))
            }
            (Execution::LockQ, Arbitration::One(LockKind::StrictMcs)) => {
                Combined::LockQStrictMcs(LockQueue::new(StrictMcs::new(policy), state, limit, policy))
            }
            (Execution::LockQ, _) => {
                Combined::LockQMutex(LockQueue::new(Mutex::new(policy), state, limit, policy))
            }
        };
        let post_tries = if model.execution == Execution::LockQ { model.post_tries } else { 0 };
        Guarded { lock: None, row, post_tries, state: Home::Combined(Box::new(combined)) }
    }

    fn served(service: &Service, vni: usize, row: Row, state: T) -> Guarded<T> {
        let call = Call { service: service.clone(), thread: service.thread_of(vni) };
        let offload = Offload::with_doorbell(state, call, WaitPolicy::DEFAULT);
        let state = Home::Combined(Box::new(Combined::Offload(offload)));
        Guarded { lock: None, row, post_tries: 0, state }
    }

    /// As a serving thread: a turn at the state, unless another thread has one. `None` also if it is not served at all.
    pub fn take_turn(&self) -> Option<Turn<'_, T>> {
        Turn::take(self.offload()?, self.row)
    }

    /// Whether threads of their own run the operations.
    pub fn is_served(&self) -> bool {
        self.offload().is_some()
    }

    /// No operations will come any more; those that are posted will be run.
    pub fn close(&self) {
        if let Some(offload) = self.offload() {
            offload.close();
        }
    }

    /// Whether it was [closed](Self::close). A serving thread that first learns this and then finds nothing has run all.
    pub fn is_closed(&self) -> bool {
        self.offload().is_some_and(|offload| offload.is_closed())
    }

    fn offload(&self) -> Option<&Offload<T>> {
        match &self.state {
            Home::Combined(combined) => match &**combined {
                Combined::Offload(offload) => Some(offload),
                _ => None,
            },
            Home::Here(_) => None,
        }
    }

    /// Runs `operation` on the state. Operations must not enter a section themselves, and must not panic: the section
    /// would stay closed.
    #[inline(always)]
    pub fn with<R: Send>(&self, path: Path, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        match &self.state {
            Home::Here(_) => self.with_lock(path, operation),
            Home::Combined(combined) => combined.run(path, self.row, operation),
        }
    }

    /// As [`with`](Self::with), where no other thread than the caller runs the operation. That may enter other sections, if all who
    /// do so keep to one order.
    ///
    /// # Panics
    /// Where another one may.
    #[inline(always)]
    pub fn with_lock<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let Home::Here(state) = &self.state else { unreachable!("whoever is there runs it") };
        let held = self.lock.as_ref().map(|lock| (lock, lock.enter(path, self.row)));
        if held.is_none() {
            self.row.issued_without_section(path);
        }
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        unsafe { run_inside(state, held, operation) }
    }

    /// As [`with`](Self::with) on the main path, for an operation that creates, completes and frees nothing.
    #[inline]
    pub fn look<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let result = self.with(Path::Main, operation);
        self.row.only_looked();
        result
    }

    /// Runs `operation` on the state if nobody is in the section; never waits.
    #[inline(always)]
    pub fn try_with<R: Send>(&self, path: Path, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        let state = match &self.state {
            Home::Here(state) => state,
            Home::Combined(combined) => return combined.try_run(path, self.row, operation),
        };
        let held = match self.lock.as_ref() {
            Some(lock) => Some((lock, lock.try_enter(path, self.row)?)),
            None => None,
        };
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        Some(unsafe { run_inside(state, held, operation) })
    }

    /// Runs `operation` with `input` on the state if nobody is in the section, or within a few yields: who
    /// [posts](Self::post) has lines of memory carried to another core and back, which takes longer.
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

    /// As [`try_with`](Self::try_with) for progress, by a thread that looks in now and then at what others use.
    pub fn try_visit<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        let (Home::Here(state), Some(lock)) = (&self.state, self.lock.as_ref()) else {
            return self.try_with(Path::Progress, operation);
        };
        let token = lock.try_visit(self.row)?;
        // SAFETY: the section is held.
        Some(unsafe { run_inside(state, Some((lock, token)), operation) })
    }

    /// As [`try_with`](Self::try_with) for progress, for one of several looks in a row that are
    /// [counted](Self::count_looks) together: one by one they would be counted while an answer is waited for.
    #[inline(always)]
    pub fn try_look<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        let state = match &self.state {
            Home::Here(state) => state,
            Home::Combined(combined) => return combined.try_look(self.row, operation),
        };
        let held = match self.lock.as_ref() {
            Some(lock) => Some((lock, lock.try_enter_uncounted(Path::Progress, self.row)?)),
            None => None,
        };
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        Some(unsafe { run_inside(state, held, operation) })
    }

    /// Counts so many looks; with the last of them an operation was completed, or not.
    #[inline(always)]
    pub fn count_looks(&self, looks: u32, completed: bool) {
        self.row.looked(looks, completed);
    }

    /// As [`try_with`](Self::try_with), but waits for the section so long, where its lock lets a waiter give up.
    pub fn with_within<R: Send>(
        &self,
        path: Path,
        patience_ns: u64,
        operation: impl FnOnce(&mut T) -> R + Send,
    ) -> Option<R> {
        match (&self.state, self.lock.as_ref()) {
            (Home::Here(state), Some(lock)) if patience_ns != 0 => {
                let token = lock.enter_within(path, patience_ns, self.row)?;
                // SAFETY: the section is held.
                Some(unsafe { run_inside(state, Some((lock, token)), operation) })
            }
            _ => self.try_with(path, operation),
        }
    }

    /// Whether operations that nobody waits for may be [posted](Self::post).
    #[inline(always)]
    pub fn takes_posts(&self) -> bool {
        match &self.state {
            Home::Here(_) => false,
            Home::Combined(combined) => combined.takes_posts(),
        }
    }

    /// Has `operation` run, by this thread now or by another one soon. What a thread posts and runs is run in that order.
    #[inline(never)]
    pub fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        match &self.state {
            Home::Here(_) => self.with(Path::Main, operation),
            Home::Combined(combined) => combined.post(self.row, operation),
        }
    }
}

/// Runs an operation, and leaves the section if the caller has entered one for it.
///
/// # Safety
/// The caller is in the section by that token, or nobody else touches the state meanwhile for another reason.
#[inline(always)]
unsafe fn run_inside<T, R>(
    state: &UnsafeCell<T>,
    held: Option<(&SectionLock, SectionToken)>,
    operation: impl FnOnce(&mut T) -> R,
) -> R {
    // SAFETY: the caller's promise.
    let result = operation(unsafe { &mut *state.get() });
    if let Some((lock, token)) = held {
        // SAFETY: the caller's promise.
        unsafe { lock.leave(token) };
    }
    result
}

impl<T: Send + 'static> Combined<T> {
    #[inline(never)]
    fn run<R: Send>(&self, path: Path, row: Row, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        row.entered(path);
        row.combine(|by_another| {
            let operation = counted(row, thread::current_id(), by_another, operation);
            match path {
                Path::Main => combined!(self, combining => combining.run(operation)),
                Path::Progress => combined!(self, combining => combining.run_here(operation)),
            }
        })
    }

    #[inline(never)]
    fn try_run<R: Send>(
        &self,
        path: Path,
        row: Row,
        operation: impl FnOnce(&mut T) -> R + Send,
    ) -> Option<R> {
        let result = self.try_look(row, operation);
        if result.is_some() {
            row.entered(path);
        }
        result
    }

    #[inline(never)]
    fn try_look<R: Send>(&self, row: Row, operation: impl FnOnce(&mut T) -> R + Send) -> Option<R> {
        if matches!(self, Combined::Offload(_)) {
            // Always its threads'.
            return None;
        }
        let result = combined!(self, combining => combining.try_run(operation).ok());
        if result.is_none() {
            row.refused();
        }
        result
    }

    fn post(&self, row: Row, operation: impl FnOnce(&mut T) + Send + 'static) {
        row.entered(Path::Main);
        let caller = thread::current_id();
        let operation = move |state: &mut T| counted(row, caller, &mut false, operation)(state);
        combined!(self, combining => combining.post(operation));
    }

    fn takes_posts(&self) -> bool {
        !matches!(self, Combined::CSync(_))
    }
}

/// An operation that is counted, and says so, if another thread than the caller runs it.
#[inline]
fn counted<T, R>(
    row: Row,
    caller: u64,
    by_another: &mut bool,
    operation: impl FnOnce(&mut T) -> R + Send,
) -> impl FnOnce(&mut T) -> R + Send {
    move |state| {
        if thread::current_id() != caller {
            *by_another = true;
            row.ran_for_another();
        }
        operation(state)
    }
}
