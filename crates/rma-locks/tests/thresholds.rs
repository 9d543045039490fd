//! What each threshold of the paper decides: who gets the lock next. Processes go one step after the other,
//! so that the order is the same each time.

use heddle_rma_locks::{Fissile, FissileRw, Layout, QueueRw, Rank, Rma, RmaMcs, RmaRw, Word};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A test for `ci/faults.py`, which runs it with a fault in the source.
macro_rules! with_fault {
    ($name:ident, $check:expr) => {
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            $check;
        }
    };
}

/// How often a process looks at a word for which it waits a while.
const PATIENCE: u32 = 50;

/// What all processes see: the words of each, who got the lock, and whose words were added to.
#[derive(Debug, Default)]
struct Shared {
    words: Vec<Vec<u64>>,
    grants: Vec<Rank>,
    counted_at: Vec<Rank>,
    /// A look that ends a wait for a while is answered a step later, so that others may come in between.
    late: bool,
}

#[derive(Debug, Clone)]
struct Process {
    rank: Rank,
    shared: Rc<RefCell<Shared>>,
}

impl Process {
    fn change(&self, target: Rank, word: Word, change: impl FnOnce(u64) -> u64) -> u64 {
        let cell = &mut self.shared.borrow_mut().words[target][word];
        let before = *cell;
        *cell = change(before);
        before
    }

    fn value(&self, target: Rank, word: Word) -> u64 {
        self.shared.borrow().words[target][word]
    }

    fn is_granted(&self) {
        self.shared.borrow_mut().grants.push(self.rank);
    }
}

impl Rma for Process {
    fn rank(&self) -> Rank {
        self.rank
    }

    async fn put(&self, value: u64, target: Rank, word: Word) {
        self.change(target, word, |_| value);
    }

    async fn get(&self, target: Rank, word: Word) -> u64 {
        self.value(target, word)
    }

    async fn add(&self, operand: u64, target: Rank, word: Word) {
        self.change(target, word, |before| before.wrapping_add(operand));
    }

    async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
        self.shared.borrow_mut().counted_at.push(target);
        self.change(target, word, |before| before.wrapping_add(operand))
    }

    async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
        self.change(target, word, |_| value)
    }

    async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
        self.change(target, word, |before| if before == expected { value } else { before })
    }

    async fn flush(&self, _: Rank) {}

    async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        poll_fn(|_| {
            let value = self.value(target, word);
            if is_over(value) { Poll::Ready(value) } else { Poll::Pending }
        })
        .await
    }

    async fn wait_a_while(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let mut looks = 0;
        let answer = poll_fn(|_| {
            let value = self.value(target, word);
            looks += 1;
            match is_over(value) {
                true => Poll::Ready(Some(value)),
                false if looks > PATIENCE => Poll::Ready(None),
                false => Poll::Pending,
            }
        })
        .await;
        if self.shared.borrow().late {
            pause().await;
        }
        answer
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Some processes, of which each goes until it waits.
struct Run {
    shared: Rc<RefCell<Shared>>,
    tasks: Vec<Task>,
}

impl Run {
    fn new(processes: usize, words: usize) -> Run {
        let words = vec![vec![0; words]; processes];
        Run { shared: Rc::new(RefCell::new(Shared { words, ..Shared::default() })), tasks: Vec::new() }
    }

    fn process(&self, rank: Rank) -> Process {
        Process { rank, shared: self.shared.clone() }
    }

    /// Adds a process, which goes until it waits.
    fn start(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(Box::pin(task));
        let last = self.tasks.len() - 1;
        self.step(last);
    }

    fn step(&mut self, task: usize) -> bool {
        self.tasks[task].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// All go on in turn, so many times.
    fn go(&mut self, times: u32) {
        for _ in 0..times {
            let mut task = 0;
            while task < self.tasks.len() {
                if self.step(task) {
                    drop(self.tasks.remove(task));
                } else {
                    task += 1;
                }
            }
        }
    }

    /// All go on until they have ended. Returns who got the lock, in order.
    fn end(mut self) -> Vec<Rank> {
        self.go(1000);
        assert!(self.tasks.is_empty(), "processes wait for ever");
        self.shared.take().grants
    }
}

/// Waits for one step of all.
async fn pause() {
    let mut is_over = false;
    poll_fn(|_| if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// A lock of which the test chooses the form.
#[derive(Debug, Clone)]
enum Lock {
    Mcs(RmaMcs),
    Rw(RmaRw),
    Fissile(Fissile),
    FissileRw(FissileRw),
    QueueRw(QueueRw),
}

const HOME: Rank = 0;

impl Lock {
    async fn write(self, process: Process) {
        match &self {
            Lock::Mcs(lock) => lock.acquire(&process).await,
            Lock::Rw(lock) => lock.acquire_write(&process).await,
            Lock::Fissile(lock) => lock.acquire(&process, HOME).await,
            Lock::FissileRw(lock) => lock.acquire_write(&process, HOME).await,
            Lock::QueueRw(lock) => lock.acquire_write(&process, HOME).await,
        }
        process.is_granted();
        pause().await;
        match &self {
            Lock::Mcs(lock) => lock.release(&process).await,
            Lock::Rw(lock) => lock.release_write(&process).await,
            Lock::Fissile(lock) => lock.release(&process, HOME).await,
            Lock::FissileRw(lock) => lock.release_write(&process, HOME).await,
            Lock::QueueRw(lock) => lock.release_write(&process, HOME).await,
        }
    }

    async fn read(self, process: Process, pauses: u32) {
        match &self {
            Lock::Rw(lock) => lock.acquire_read(&process).await,
            Lock::FissileRw(lock) => lock.acquire_read(&process).await,
            Lock::QueueRw(lock) => lock.acquire_read(&process, HOME).await,
            Lock::Mcs(_) | Lock::Fissile(_) => unreachable!("these have no readers"),
        }
        process.is_granted();
        for _ in 0..pauses {
            pause().await;
        }
        match &self {
            Lock::Rw(lock) => lock.release_read(&process).await,
            Lock::FissileRw(lock) => lock.release_read(&process).await,
            Lock::QueueRw(lock) => lock.release_read(&process, HOME).await,
            Lock::Mcs(_) | Lock::Fissile(_) => unreachable!("these have no readers"),
        }
    }
}

/// Three levels: an element of nine processes and one of three, and in them elements of three.
fn three_levels() -> Layout {
    let of_three = |p: usize| p / 3;
    let levels =
        [vec![0; 12], (0..12).map(|p| usize::from(p > 8)).collect(), (0..12).map(of_three).collect()];
    Layout::new(levels.into(), 12)
}

/// The order of twelve writers that have asked in the order of their ranks.
fn order_of_writers(lock: &Lock) -> Vec<Rank> {
    let mut run = Run::new(12, FissileRw::words(&three_levels()));
    for rank in 0..12 {
        run.start(lock.clone().write(run.process(rank)));
    }
    run.end()
}

fn check_localities() {
    // T_L,2 and T_L,3, and the order that they give.
    let cases = [
        ([9, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        // Two elements of three in a row, then the other large element.
        ([1, 9], [0, 1, 2, 3, 4, 5, 9, 10, 11, 6, 7, 8]),
        // Two processes in a row, then the next element of three.
        ([9, 1], [0, 1, 3, 4, 6, 7, 2, 5, 8, 9, 10, 11]),
    ];
    for (locality, order) in cases {
        let (layout, locality) = (three_levels(), locality.to_vec());
        let locks = [
            Lock::Mcs(RmaMcs::new(layout.clone(), locality.clone())),
            Lock::Rw(RmaRw::new(layout.clone(), locality.clone(), 99)),
            Lock::Fissile(Fissile::new(layout.clone(), locality.clone(), 0)),
            Lock::FissileRw(FissileRw::new(layout, locality.clone(), 99, 0)),
        ];
        for lock in locks {
            assert_eq!(order_of_writers(&lock), order, "T_L {locality:?}, {lock:?}");
        }
    }
}

fn check_writers() {
    for (writers, order) in [(1, [0, 4, 1, 2, 3]), (2, [0, 1, 4, 2, 3]), (9, [0, 1, 2, 3, 4])] {
        let layout = Layout::flat(5, 5);
        let locks = [
            Lock::Rw(RmaRw::new(layout.clone(), vec![], writers)),
            Lock::FissileRw(FissileRw::new(layout.clone(), vec![], writers, 0)),
        ];
        for lock in locks {
            let mut run = Run::new(5, FissileRw::words(&layout));
            for rank in 0..4 {
                run.start(lock.clone().write(run.process(rank)));
            }
            run.start(lock.clone().read(run.process(4), 1));
            assert_eq!(run.end(), order, "T_L,1 {writers}, {lock:?}");
        }
    }
}

fn check_counters() {
    for (distance, counter, counters) in [(1, 3, &[0, 1, 2, 3][..]), (2, 2, &[0, 2]), (4, 0, &[0])] {
        let layout = Layout::flat(4, distance);
        let lock = Lock::Rw(RmaRw::new(layout.clone(), vec![], 1));
        let mut run = Run::new(4, layout.words());
        run.start(lock.clone().read(run.process(3), 0));
        assert_eq!(run.shared.borrow().counted_at, [counter], "T_DC {distance}");
        run.shared.borrow_mut().counted_at.clear();
        run.start(lock.write(run.process(1)));
        assert_eq!(run.shared.borrow().counted_at, counters, "T_DC {distance}");
    }
}

/// Writer 0 lets the readers in, of which 2 has asked before, writer 1 waits, and reader 3 asks `later`.
fn order_with_a_late_reader(lock: &Lock, later: u32) -> Vec<Rank> {
    let mut run = Run::new(4, FissileRw::words(&Layout::flat(4, 4)));
    run.start(lock.clone().write(run.process(0)));
    run.start(lock.clone().write(run.process(1)));
    if matches!(lock, Lock::Rw(_)) {
        run.start(lock.clone().read(run.process(2), 30));
    }
    run.go(later);
    run.start(lock.clone().read(run.process(3), 1));
    run.end()
}

fn check_readers() {
    let lock = |readers| Lock::Rw(RmaRw::new(Layout::flat(4, 4), vec![], 1).with_readers(readers));
    for readers in [0, 1] {
        assert_eq!(order_with_a_late_reader(&lock(readers), 10), [0, 2, 1, 3], "T_R {readers}");
    }
    assert_eq!(order_with_a_late_reader(&lock(2), 10), [0, 2, 3, 1]);
    assert_eq!(order_with_a_late_reader(&lock(2), 2 * PATIENCE), [0, 2, 1, 3]);
}

fn check_readers_of_a_head() {
    let lock =
        |readers| Lock::FissileRw(FissileRw::new(Layout::flat(4, 4), vec![], 1, 9).with_readers(readers));
    assert_eq!(order_with_a_late_reader(&lock(0), 2), [0, 1, 3]);
    assert_eq!(order_with_a_late_reader(&lock(1), 2), [0, 3, 1]);
    assert_eq!(order_with_a_late_reader(&lock(1), 2 * PATIENCE), [0, 1, 3]);
}

/// How often process 0, which comes again and again, has the lock before process 1, which waits as the first.
fn entries_past_the_first(lock: &Lock, reads: bool) -> usize {
    let mut run = Run::new(2, FissileRw::words(&Layout::flat(2, 2)));
    run.shared.borrow_mut().late = true;
    let (comes_again, process) = (lock.clone(), run.process(0));
    run.start(async move {
        for _ in 0..50 {
            comes_again.clone().write(process.clone()).await;
            pause().await;
        }
    });
    let (lock, process) = (lock.clone(), run.process(1));
    run.start(async move { if reads { lock.read(process, 1).await } else { lock.write(process).await } });
    run.end().iter().position(|rank| *rank == 1).expect("it gets the lock")
}

#[test]
fn so_many_attempts_of_the_first_fail_before_nobody_else_may_enter() {
    for attempts in [1, 4] {
        let layout = || Layout::flat(2, 2);
        let queue_rw = Lock::QueueRw(QueueRw::new(2, attempts));
        let fissile = Lock::Fissile(Fissile::new(layout(), vec![], 99).with_attempts(attempts));
        let fissile_rw = Lock::FissileRw(FissileRw::new(layout(), vec![], 1, 99).with_attempts(attempts));
        // With the entry before it waits; the head of the word's queue looks once more.
        let cases = [
            (&queue_rw, false, 1),
            (&queue_rw, true, 1),
            (&fissile, false, 2),
            (&fissile_rw, false, 2),
            (&fissile_rw, true, 1),
        ];
        for (lock, reads, others) in cases {
            let entries = entries_past_the_first(lock, reads);
            assert_eq!(entries, attempts as usize + others, "{lock:?}, reads: {reads}");
        }
    }
}

#[test]
fn so_many_processes_pass_those_that_wait() {
    for bypasses in [1, 4] {
        let layout = || Layout::flat(2, 2);
        let fissile = Lock::Fissile(Fissile::new(layout(), vec![], bypasses).with_attempts(99));
        let fissile_rw = Lock::FissileRw(FissileRw::new(layout(), vec![], 1, bypasses).with_attempts(99));
        for lock in [&fissile, &fissile_rw] {
            // With the entry before it waits.
            assert_eq!(entries_past_the_first(lock, false), bypasses as usize + 1, "{lock:?}");
        }
    }
}

#[test]
fn the_locality_of_each_level_bounds_the_passings_there() {
    check_localities();
}

#[test]
fn readers_have_their_turn_after_so_many_writers() {
    check_writers();
}

#[test]
fn so_many_processes_share_a_counter() {
    check_counters();
}

#[test]
fn a_writer_waits_for_so_many_readers_for_a_while() {
    check_readers();
}

#[test]
fn a_head_waits_for_so_many_readers_for_a_while() {
    check_readers_of_a_head();
}

with_fault!(a_locality_without_bound_is_found, check_localities());
with_fault!(a_locality_of_another_level_is_found, check_localities());
with_fault!(writers_without_bound_are_found, check_writers());
with_fault!(a_counter_for_all_is_found, check_counters());
with_fault!(a_writer_that_waits_for_no_reader_is_found, check_readers());
with_fault!(a_head_that_waits_for_no_reader_is_found, check_readers_of_a_head());
