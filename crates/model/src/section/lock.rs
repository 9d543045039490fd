//! The lock of a critical section, made by a model's arbitration and bias.

use crate::choice::{Arbitration, Bias, Model, ProgressEntry};
use crate::counters::{HandOver, Issuers, LockAndRow, Row, was_here_last};
use crate::path::Path;
use heddle_locks::kinds::{AnyLock, LockSettings};
use heddle_locks::{Biased, CoreBiased};
use heddle_platform::atomic::Ordering;
use heddle_platform::clock;
use heddle_sync::{PriorityLock, RawLock, WaitPolicy};
use std::sync::Arc;

/// A lock with a bias to a thread, as the shortcut holds it.
pub(super) type BiasedLock = Arc<LockAndRow<Biased<AnyLock, Row>>>;

/// The lock of a critical section. Copies stand for the same critical section.
#[derive(Clone, Debug)]
pub(crate) enum SectionLock {
    Biased(BiasedLock),
    CoreBiased(Arc<LockAndRow<CoreBiased<AnyLock, Row>>>),
    Plain(Arc<LockAndRow<AnyLock>>),
}

/// Says how a thread has acquired the lock; its release needs that. One byte, since every
/// operation keeps it while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionToken {
    /// The thread entered by the bias.
    BiasOwner,
    /// The thread has acquired the lock, or the inner lock of a biased one.
    Holder,
}

impl SectionToken {
    #[inline(always)]
    fn of_biased(token: Option<()>) -> SectionToken {
        if token.is_none() { SectionToken::BiasOwner } else { SectionToken::Holder }
    }
}

impl SectionLock {
    /// A free lock. Its hand-overs, and the changes of its bias, are counted in `row`.
    pub(crate) fn new(model: &Model, row: Row) -> SectionLock {
        // Where waiting threads wait for critical sections, the lock decides which thread comes first.
        let polls_stand_back = model.progress_entry == ProgressEntry::Try;
        fn with_row<L>(lock: L, row: Row, polls_stand_back: bool) -> Arc<LockAndRow<L>> {
            Arc::new(LockAndRow::new(lock, row, polls_stand_back))
        }
        let settings = lock_settings(model);
        let lock = match model.arbitration {
            Arbitration::One(kind) => AnyLock::new(kind, &settings),
            Arbitration::Priority(main, progress) => AnyLock::pair(main, progress, &settings),
        };
        match model.bias {
            Bias::None => SectionLock::Plain(with_row(lock, row, polls_stand_back)),
            Bias::Thread => {
                let lock = Biased::observed(lock, settings.policy, row);
                SectionLock::Biased(with_row(lock, row, polls_stand_back))
            }
            Bias::Core => {
                let lock = CoreBiased::observed(lock, settings.policy, row);
                SectionLock::CoreBiased(with_row(lock, row, polls_stand_back))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn has_waiters(&self) -> bool {
        match self {
            SectionLock::Biased(lock) => lock.has_waiters(),
            SectionLock::CoreBiased(lock) => lock.has_waiters(),
            SectionLock::Plain(lock) => lock.has_waiters(),
        }
    }

    /// The lock itself if it is biased to a thread.
    pub(super) fn biased(&self) -> Option<BiasedLock> {
        if let SectionLock::Biased(lock) = self { Some(Arc::clone(lock)) } else { None }
    }

    /// Enters the critical section, which may need waiting. The entry is counted in `row`.
    #[inline(always)]
    pub(crate) fn enter(&self, path: Path, row: Row) -> SectionToken {
        let acquisition = Acquisition { path, row };
        let token = match self {
            SectionLock::Biased(lock) => {
                let issuers = &*lock.issuers;
                SectionToken::of_biased(lock.acquire_by(move |inner| acquisition.run(inner, issuers)))
            }
            SectionLock::CoreBiased(lock) => {
                let issuers = &*lock.issuers;
                SectionToken::of_biased(lock.acquire_by(move |inner| acquisition.run(inner, issuers)))
            }
            SectionLock::Plain(lock) => enter_unbiased(lock, path, row),
        };
        row.entered(path);
        token
    }

    /// Enters if that needs no waiting. Both success and failure are counted in `row`.
    #[inline(always)]
    pub(crate) fn try_enter(&self, path: Path, row: Row) -> Option<SectionToken> {
        let token = self.try_enter_uncounted(path, row);
        if token.is_some() {
            row.entered(path);
        }
        token
    }

    /// Does the same as [`try_enter`](Self::try_enter), but counts only a failure.
    #[inline(always)]
    pub(crate) fn try_enter_uncounted(&self, path: Path, row: Row) -> Option<SectionToken> {
        let token = self.attempt(path);
        if token.is_none() {
            row.refused();
        }
        token
    }

    /// Does the same as [`try_enter`](Self::try_enter), but counts neither success nor failure.
    #[inline(always)]
    pub(crate) fn attempt(&self, path: Path) -> Option<SectionToken> {
        match self {
            SectionLock::Biased(lock) if lock.enter_as_owner() => Some(SectionToken::BiasOwner),
            SectionLock::CoreBiased(lock) if lock.enter_as_owner() => Some(SectionToken::BiasOwner),
            _ => self.attempt_unbiased(path),
        }
    }

    /// How often another thread than the last one was inside.
    pub(super) fn hand_overs(&self) -> u32 {
        let last = match self {
            SectionLock::Biased(lock) => lock.under().last_holder(),
            SectionLock::CoreBiased(lock) => lock.under().last_holder(),
            SectionLock::Plain(lock) => lock.last_holder(),
        };
        last.hand_overs.load(Ordering::Relaxed)
    }

    /// The threads from which polls may stand back.
    fn issuers(&self) -> &Issuers {
        match self {
            SectionLock::Biased(lock) => &lock.issuers,
            SectionLock::CoreBiased(lock) => &lock.issuers,
            SectionLock::Plain(lock) => &lock.issuers,
        }
    }

    /// Tries to enter when the bias does not suffice. It is cold, so that the callers keep their values in
    /// registers when the bias does suffice.
    #[cold]
    #[inline(never)]
    fn attempt_unbiased(&self, path: Path) -> Option<SectionToken> {
        if path == Path::Progress && self.issuers().come_first() {
            return None;
        }
        let attempt = |lock: &AnyLock| try_acquire(lock, path);
        match self {
            SectionLock::Biased(lock) => lock.try_acquire_by(attempt).map(SectionToken::of_biased),
            SectionLock::CoreBiased(lock) => lock.try_acquire_by(attempt).map(SectionToken::of_biased),
            SectionLock::Plain(lock) => attempt(lock).map(|()| SectionToken::Holder),
        }
    }

    /// Does the same as [`try_enter`](Self::try_enter) on the progress path, but revokes no young bias: for a
    /// thread that polls now and then.
    pub(crate) fn try_visit(&self, row: Row) -> Option<SectionToken> {
        if self.issuers().come_first() {
            row.refused();
            return None;
        }
        let visit = match self {
            SectionLock::Biased(lock) => lock.try_visit_by(AnyLock::try_acquire_low),
            SectionLock::CoreBiased(lock) => lock.try_visit_by(AnyLock::try_acquire_low),
            SectionLock::Plain(_) => return self.try_enter(Path::Progress, row),
        };
        let Some(token) = visit else {
            row.refused();
            return None;
        };
        row.entered(Path::Progress);
        Some(SectionToken::of_biased(token))
    }

    /// Enters, and waits for at most `patience_ns` if the lock lets its waiters give up. With
    /// other locks it only tries.
    pub(crate) fn enter_within(&self, path: Path, patience_ns: u64, row: Row) -> Option<SectionToken> {
        let SectionLock::Plain(lock) = self else { return self.try_enter(path, row) };
        let wait = || lock.acquire_until(clock::now_ns() + patience_ns);
        if row.contend(path, || try_acquire(lock, path).map(Some), wait).is_none() {
            row.refused();
            return None;
        }
        row.entered(path);
        Some(SectionToken::Holder)
    }

    /// Leaves the critical section.
    ///
    /// # Safety
    /// The calling thread is in the critical section by the entry that gave it `token`.
    #[inline(always)]
    pub(crate) unsafe fn leave(&self, token: SectionToken) {
        match (self, token) {
            // SAFETY: the caller is inside by this token, which is that of an entry by the bias.
            (SectionLock::Biased(lock), SectionToken::BiasOwner) => unsafe { lock.release(None) },
            // SAFETY: the caller is inside by this token, which is that of an entry by the bias.
            (SectionLock::CoreBiased(lock), SectionToken::BiasOwner) => unsafe { lock.release(None) },
            // SAFETY: the caller is inside by this token, which is not that of an entry by the bias.
            _ => unsafe { self.leave_unbiased() },
        }
    }

    /// Leaves when the thread has not entered by a bias. An entry by a bias is no hand-over, since its owner
    /// has been inside last since it got the bias. (Threads that enter by the bias of their core are not told
    /// apart.)
    ///
    /// # Safety
    /// The calling thread is in the critical section, and has not entered by a bias.
    #[inline(never)]
    unsafe fn leave_unbiased(&self) {
        match self {
            SectionLock::Biased(lock) if was_here_last(lock.under().last_holder()) => {
                // SAFETY: the caller is inside by the inner lock.
                unsafe { lock.release(Some(())) }
            }
            SectionLock::CoreBiased(lock) if was_here_last(lock.under().last_holder()) => {
                // SAFETY: the caller is inside by the inner lock.
                unsafe { lock.release(Some(())) }
            }
            SectionLock::Plain(lock) if was_here_last(lock.last_holder()) => {
                // SAFETY: the caller is inside by the lock.
                unsafe { lock.release(()) }
            }
            // SAFETY: the caller is inside otherwise than by the bias.
            _ => unsafe { self.leave_handed_over() },
        }
    }

    /// Counts that another thread was inside before, and leaves. It is apart, so that the usual way out keeps
    /// nothing on the stack.
    ///
    /// # Safety
    /// The calling thread is in the critical section, and has not entered by a bias.
    #[cold]
    #[inline(never)]
    unsafe fn leave_handed_over(&self) {
        let (last, row) = match self {
            SectionLock::Biased(lock) => (lock.under().last_holder(), lock.row),
            SectionLock::CoreBiased(lock) => (lock.under().last_holder(), lock.row),
            SectionLock::Plain(lock) => (lock.last_holder(), lock.row),
        };
        let noted = HandOver::note(last);
        // SAFETY: the caller is inside otherwise than by the bias.
        unsafe { self.leave_unbiased() };
        noted.count(row);
    }
}

#[inline(never)]
fn enter_unbiased(lock: &LockAndRow<AnyLock>, path: Path, row: Row) -> SectionToken {
    Acquisition { path, row }.run(lock, &lock.issuers);
    SectionToken::Holder
}

/// The settings of a model's locks.
pub(super) fn lock_settings(model: &Model) -> LockSettings {
    LockSettings {
        policy: WaitPolicy::DEFAULT,
        cohort_thresholds: model.cohort_thresholds,
        low_bound: model.low_bound,
    }
}

/// An acquisition that waits if it has to. It is one word, so that a closure with it and a pointer stays in
/// registers.
#[derive(Clone, Copy)]
struct Acquisition {
    row: Row,
    path: Path,
}

impl Acquisition {
    /// Acquires a lock in the class of the path, and counts and times the acquisition if it has to wait.
    #[inline(always)]
    fn run(self, lock: &AnyLock, issuers: &Issuers) {
        let Acquisition { row, path } = self;
        let wait = || match path {
            Path::Main => issuers.wait(|| lock.acquire()),
            Path::Progress => lock.acquire_low(),
        };
        row.contend(path, || try_acquire(lock, path), wait);
    }
}

/// Tries a lock in the class of the path.
#[inline(always)]
fn try_acquire(lock: &AnyLock, path: Path) -> Option<()> {
    match path {
        Path::Main => lock.try_acquire(),
        Path::Progress => lock.try_acquire_low(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_locks::biased::OwnerThread;
    use heddle_locks::core_biased::OwnerCore;
    use heddle_locks::kinds::LockName;
    use heddle_platform::atomic::{AtomicUsize, Ordering};
    use heddle_platform::{Native, background, core_claim};
    use std::any::type_name as type_name_of;

    /// The type of the lock that a model has, written as [`LockName::type_name`] writes it.
    fn type_name(lock: &SectionLock) -> String {
        match lock {
            SectionLock::Biased(lock) => biased::<OwnerThread<Native>>(lock.under()),
            SectionLock::CoreBiased(lock) => biased::<OwnerCore<Native>>(lock.under()),
            SectionLock::Plain(lock) => lock.type_name(),
        }
    }

    fn biased<O>(under: &AnyLock) -> String {
        format!("heddle_locks::bias::lock::BiasedLock<{}, {}>", type_name_of::<O>(), under.type_name())
    }

    /// A name of the catalogue means the same lock here as for C and for the benchmarks.
    #[test]
    fn a_model_can_have_every_lock_of_the_catalogue() {
        for lock in LockName::all() {
            let prefixes = [("core-biased-", Bias::Core), ("biased-", Bias::Thread), ("", Bias::None)];
            let (bias, name) = prefixes
                .into_iter()
                .find_map(|(prefix, bias)| Some((bias, lock.name().strip_prefix(prefix)?)))
                .expect("every name has the empty prefix");
            let arbitration = name.parse().expect("an arbitration");
            let model = Model { arbitration, bias, ..Model::default() };
            assert_eq!(
                type_name(&SectionLock::new(&model, Row::without_section())),
                lock.type_name(),
                "{}",
                lock.name()
            );
        }
    }

    /// A thread that is alone enters a pair of locks by its bias, too; another one enters by its path's
    /// class.
    #[test]
    fn a_pair_of_locks_can_have_a_bias() {
        if !heddle_platform::barrier::is_asymmetric() {
            return eprintln!("skipped: without membarrier no thread gets a bias");
        }
        let arbitration = "p-hmcs-mcs".parse().expect("an arbitration");
        let model = Model { arbitration, bias: Bias::Thread, ..Model::default() };
        let lock = SectionLock::new(&model, Row::without_section());
        let enter = |path| {
            let token = lock.enter(path, Row::without_section());
            // SAFETY: this thread entered above, which gave it this token.
            unsafe { lock.leave(token) };
            token
        };
        let owner = (0..1_000_000).any(|_| enter(Path::Main) == SectionToken::BiasOwner);
        assert!(owner, "a thread that is alone becomes the owner");
        for path in [Path::Main, Path::Progress] {
            let other = || std::thread::scope(|scope| scope.spawn(|| enter(path)).join().expect("it ends"));
            assert_eq!(other(), SectionToken::Holder, "{path:?}");
        }
    }

    /// The number of entries by the bias, of 1,000, when two threads of one core enter by turns.
    fn entries_by_bias(bias: Bias) -> usize {
        const TURNS: usize = 1_000;
        let core = background::allowed_cores()[0];
        let lock = SectionLock::new(&Model { bias, ..Model::default() }, Row::without_section());
        let turn = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|thread| {
                let (lock, turn) = (lock.clone(), Arc::clone(&turn));
                std::thread::spawn(move || {
                    background::bind(core).expect("an allowed core");
                    let mut by_bias = 0;
                    for mine in (thread..TURNS).step_by(2) {
                        while turn.load(Ordering::Acquire) != mine {
                            heddle_platform::thread::yield_now();
                        }
                        let token = lock.enter(Path::Main, Row::without_section());
                        by_bias += usize::from(token == SectionToken::BiasOwner);
                        // SAFETY: this thread entered above, which gave it this token.
                        unsafe { lock.leave(token) };
                        turn.store(mine + 1, Ordering::Release);
                    }
                    by_bias
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    }

    /// A bias to a thread is of no use to two threads of a core; a bias to their core serves both. A thread
    /// whose claim is interrupted goes through the inner lock, so not every entry is by the bias.
    #[test]
    fn two_threads_of_a_core_enter_by_the_bias_of_the_core() {
        assert_eq!(entries_by_bias(Bias::None), 0);
        assert_eq!(entries_by_bias(Bias::Thread), 0);
        if core_claim::is_supported() {
            let by_bias = entries_by_bias(Bias::Core);
            assert!(by_bias > 500, "{by_bias} of 1000");
        }
    }
}
