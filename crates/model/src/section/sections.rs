//! The critical sections that guard the states of a process's VNIs.

use super::guarded::Guarded;
use super::lock::SectionLock;
use super::offload::OffloadServer;
use crate::choice::{Granularity, Model, ProgressEntry, ReferenceCounts, RequestPool, Requests};
use crate::counters::{Row, Section};

/// The guards of the objects inside of a VNI. Each value stands for the
/// [`Sectioning`](crate::Sectioning) of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// The critical section of the VNI guards all objects.
    Whole,
    /// A separate lock guards each object; the VNI has no lock.
    Parted,
    /// A separate lock guards each object, or a critical section that no thread waits
    /// for; the VNI has no lock.
    LockFree,
}

/// Makes the critical sections that guard the states of a process's VNIs.
#[derive(Debug)]
pub struct Sections {
    model: Model,
    threads: bool,
    /// The one lock of `brief-global`.
    shared: Option<SectionLock>,
    /// The threads of execution `offload`.
    server: Option<OffloadServer>,
}

impl Sections {
    pub(crate) fn new(model: Model, threads: bool) -> Sections {
        let one_for_all = threads && model.granularity == Granularity::BriefGlobal;
        let shared = one_for_all.then(|| SectionLock::new(&model, Row::of(Section::Process)));
        Sections { model, threads, shared, server: None }
    }

    /// Has the threads of `server` serve the VNIs, if there is a server.
    #[must_use]
    pub fn with_offload_server(self, server: Option<OffloadServer>) -> Sections {
        Sections { server, ..self }
    }

    /// Puts state that all VNIs share behind a separate critical section, which may be entered inside of a
    /// VNI's. It is a lock, unless the call section or the thread level keeps other threads out. Under
    /// `brief-global` it is the one critical section of the process.
    pub fn guard_shared<T: Send + 'static>(&self, section: Section, state: T) -> Guarded<T> {
        if let Some(lock) = &self.shared {
            return Guarded::in_process(lock.clone(), true, Row::of(Section::Process), state);
        }
        let locked = self.threads && self.model.granularity != Granularity::Global;
        let row = if locked { Row::of(section) } else { Row::without_section() };
        Guarded::locked(locked.then(|| SectionLock::new(&self.model, row)), row, state)
    }

    /// Puts the state of VNI number `number` behind its critical section.
    pub fn guard_vni<T: Send + 'static>(&self, number: usize, state: T) -> Guarded<T> {
        self.with_shortcut_by_model(self.guard_plainly(number, state))
    }

    /// Takes the shortcut away if each operation has a request.
    fn with_shortcut_by_model<T: Send + 'static>(&self, guarded: Guarded<T>) -> Guarded<T> {
        match self.model.requests {
            Requests::Needed => guarded,
            Requests::Always => guarded.without_shortcut(),
        }
    }

    /// Returns true if an operation that is complete at once needs no request.
    pub fn may_do_without_requests(&self) -> bool {
        self.model.requests == Requests::Needed
    }

    /// Puts a channel of a VNI behind a critical section of its own; but if that of the VNI
    /// [guards](Self::parts_channels) the channel, or other threads are kept out, behind none.
    pub(crate) fn guard_channel<T: Send + 'static>(&self, section: Section, channel: T) -> Guarded<T> {
        let locked = self.threads && self.parts_channels();
        let row = if locked { Row::of(section) } else { Row::without_section() };
        self.with_shortcut_by_model(Guarded::locked(locked.then(|| self.lock(row)), row, channel))
    }

    fn guard_plainly<T: Send + 'static>(&self, number: usize, state: T) -> Guarded<T> {
        let row = self.row(number);
        if !self.threads {
            return Guarded::locked(None, row, state);
        }
        match self.model.granularity {
            Granularity::Global => Guarded::locked(None, row, state),
            Granularity::BriefGlobal => match self.shared.clone() {
                Some(lock) if self.has_state_beside_vnis() => Guarded::in_process(lock, false, row, state),
                lock => Guarded::locked(lock, row, state),
            },
            Granularity::PerVni
            | Granularity::PerChannel
            | Granularity::PerObject
            | Granularity::LockFree => match &self.server {
                Some(server) => Guarded::offloaded(server, number, row, state),
                None => Guarded::by_execution(&self.model, row, state),
            },
        }
    }

    /// Returns true if threads that are inside for a VNI use state of [`guard_shared`](Self::guard_shared).
    fn has_state_beside_vnis(&self) -> bool {
        self.model.request_pool == RequestPool::Shared
            || self.model.reference_counts == ReferenceCounts::Locked
    }

    /// The way in which a waiting thread enters a critical section to make progress.
    pub fn progress_entry(&self) -> ProgressEntry {
        // Where there is nothing to wait for, a try always succeeds.
        let may_wait = self.threads && self.model.granularity != Granularity::Global;
        if may_wait { self.model.progress_entry } else { ProgressEntry::Try }
    }

    /// Says how the objects inside of a VNI are guarded.
    pub fn objects(&self) -> Objects {
        match self.model.granularity {
            Granularity::PerObject if self.threads => Objects::Parted,
            Granularity::LockFree if self.threads => Objects::LockFree,
            _ => Objects::Whole,
        }
    }

    /// Returns true if a thread may use a channel of a VNI without the VNI's critical section: the channel
    /// has one of its own, or other threads are kept out.
    pub fn parts_channels(&self) -> bool {
        !self.threads || self.model.granularity == Granularity::PerChannel
    }

    /// Returns true if a program's messages of one VNI may be spread over others: several threads send them,
    /// each through channels that have critical sections of their own.
    pub fn may_spread(&self) -> bool {
        self.threads && self.parts_channels()
    }

    /// The number of operations of others that a thread runs at most before it leaves.
    pub(crate) fn combining_limit(&self) -> u32 {
        self.model.combining_limit
    }

    /// The lock of a new critical section, which is counted in `row`.
    pub(crate) fn lock(&self, row: Row) -> SectionLock {
        SectionLock::new(&self.model, row)
    }

    /// The place where the entries into VNI number `number` are counted. If its objects have
    /// separate critical sections, that of the rings that are read is meant, because every
    /// poll for progress enters it.
    pub fn row(&self, number: usize) -> Row {
        match self.model.granularity {
            Granularity::BriefGlobal if self.threads => Row::of(Section::Process),
            Granularity::PerVni | Granularity::PerChannel if self.threads => Row::of(Section::Vni(number)),
            Granularity::PerObject | Granularity::LockFree if self.threads => Row::of(Section::Arrivals),
            Granularity::Global if self.threads => Row::within_call(),
            _ => Row::without_section(),
        }
    }
}

impl Model {
    /// The critical sections of a process's VNIs. `threads` is true if several threads may call at once.
    pub fn sections(&self, threads: bool) -> Sections {
        Sections::new(*self, threads)
    }

    /// Puts the state of a process's only VNI behind its critical section.
    pub fn guard_vni<T: Send + 'static>(&self, threads: bool, state: T) -> Guarded<T> {
        self.sections(threads).guard_vni(0, state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Bias;
    use crate::counters::left_out;
    use crate::counters::{Entry, by_place, place_here};
    use crate::path::Path;
    use crate::section::guarded::Attempt;

    /// Returns true if another thread can enter.
    fn lets_others_in(guarded: &Guarded<u32>) -> bool {
        let other = || guarded.try_with(Path::Main, |_| ()).is_some();
        std::thread::scope(|scope| scope.spawn(other).join().expect("it does not panic"))
    }

    /// Requests and references that have a critical section have that of the process, together or alone.
    #[test]
    fn pool_and_vnis_of_the_papers_brief_global_are_in_one_critical_section() {
        let model = Model::named("ijhpca2010-brief-global").expect("a model");
        let alone = [
            (RequestPool::Shared, ReferenceCounts::Atomic),
            (RequestPool::ThreadLocal, ReferenceCounts::Locked),
        ];
        let alone =
            alone.map(|(request_pool, reference_counts)| Model { request_pool, reference_counts, ..model });
        [&alone[..], &[model]].concat().into_iter().for_each(pool_and_vnis_are_in_one_critical_section);
    }

    fn pool_and_vnis_are_in_one_critical_section(model: Model) {
        let sections = model.sections(true);
        let (vni, pool) = (sections.guard_vni(0, 0), sections.guard_shared(Section::RequestPool, 0));
        vni.with_lock(Path::Main, |_| {
            assert!(pool.try_with(Path::Main, |taken| *taken += 1).is_some(), "{model}");
            assert!(
                !lets_others_in(&vni) && !lets_others_in(&pool),
                "the inner operation has left the critical section of the outer"
            );
        });
        assert!(lets_others_in(&vni) && lets_others_in(&pool));
        pool.with(Path::Main, |taken| {
            assert_eq!(*taken, 1);
            assert!(!lets_others_in(&vni));
        });
        assert!(lets_others_in(&vni));
    }

    /// A test that waits and gives up has found the critical section taken, and was refused; one that only
    /// tries was refused alone.
    #[test]
    fn a_test_waits_for_its_time_and_is_refused() {
        let waits = Model { bias: Bias::None, ..Model::default() };
        let process = Model::named("ijhpca2010-brief-global").expect("a model");
        for (model, waited) in [(waits, 1), (process, 1), (Model::default(), 0)] {
            let vni = model.sections(true).guard_vni(0, 0);
            let test = || {
                // The counts of this thread, which no other test changes.
                let counted = || {
                    let all = by_place()[place_here()];
                    (all.count(Entry::ContendedProgress), all.count(Entry::Refused))
                };
                let before = counted();
                assert_eq!(vni.with_within(Path::Progress, 1_000, |_| ()), None, "{model}");
                assert_eq!(counted(), (before.0 + waited, before.1 + 1), "{model}");
            };
            let inside = |_: &mut i32| std::thread::scope(|scope| scope.spawn(test).join().expect("it ends"));
            vni.with_lock(Path::Main, inside);
            assert_eq!(vni.with_within(Path::Progress, 1_000, |_| ()), Some(()), "{model}");
        }
    }

    /// While the thread inside holds the lock, another one comes to issue an operation. Once that waits, a
    /// poll is left out without a try of the lock. Where waiting threads wait for critical sections, none
    /// is.
    #[test]
    fn a_poll_stands_back_from_a_thread_that_waits_to_issue() {
        let stands_back = Model { bias: Bias::None, ..Model::default() };
        let waits = Model { progress_entry: ProgressEntry::Wait, ..stands_back };
        for (model, expected) in [(stands_back, 1), (waits, 0)] {
            let vni = model.sections(true).guard_vni(0, 0);
            let issues = || vni.with(Path::Main, |_| ());
            std::thread::scope(|scope| {
                vni.with_lock(Path::Main, |_| {
                    scope.spawn(issues);
                    while !vni.has_waiters() {
                        std::thread::yield_now();
                    }
                    let before = left_out();
                    assert_eq!(vni.try_poll(|_| ()), None, "{model}");
                    assert_eq!(left_out() - before, expected, "{model}");
                });
            });
            assert_eq!(vni.try_poll(|_| ()), Some(()), "{model}");
        }
    }

    #[test]
    fn a_visit_leaves_a_young_bias_alone() {
        if !heddle_platform::barrier::is_asymmetric() {
            return eprintln!("skipped: without membarrier no thread gets a bias");
        }
        let vni = Model::default().guard_vni(true, 0);
        let enters_by_bias = || vni.with_shortcut(Attempt::Bias, Path::Main, |_| Some(())).is_ok();
        let visit =
            || std::thread::scope(|scope| scope.spawn(|| vni.try_visit(|_| ())).join().expect("it ends"));
        // A bias is young for a millisecond, which this thread may spend without a core.
        let spared = (0..100).any(|_| {
            while !enters_by_bias() {
                vni.with(Path::Main, |_| ());
            }
            visit().is_none() && enters_by_bias()
        });
        assert!(spared);
    }
}
