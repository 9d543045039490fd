//! Explores all interleavings of the operations of a few processes, on the sources that ship.
//!
//! A process is a future; each of its operations on an [`Rma`] is one step, which the explorer makes. A put
//! or an add may take effect at any time up to the next flush of its target: until then it stands among the
//! process's pending operations, and its effect is a step of its own. A wait is a step that is possible while
//! the word satisfies it, so waiting makes no states.
//!
//! **States.** The explorer runs a schedule (a list of steps) from the beginning, since a future cannot
//! be copied, and remembers the states that it has seen. A state is the memory, the pending operations,
//! and for each process where it is: its round, and what its operations have returned in this round. A
//! process is a function of that, so two schedules that lead to one state have the same continuations.
//! States are kept as 128-bit hashes.
//!
//! **Bypassing.** `bypass.rs` counts how many processes enter past one that waits; a state has these
//! counts, too, if a test asks for them.
//!
//! **Checks.** In every state no process writes while another one reads or writes, and some step is possible
//! until all processes have ended. At the end all words that a lock promises to leave empty are.

mod bypass;

pub(crate) use bypass::{Most, Places};

use bypass::Bypass;
use heddle_rma_locks::{Rank, Rma, Word};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::future::{Future, poll_fn};
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// An operation that a process is about to make.
enum Operation {
    Put(u64, Rank, Word),
    Get(Rank, Word),
    Add(u64, Rank, Word),
    FetchAdd(u64, Rank, Word),
    Swap(u64, Rank, Word),
    CompareAndSwap(u64, u64, Rank, Word),
    Flush(Rank),
    Wait(Rank, Word),
    /// Gives up if the word does not satisfy it when the step is made.
    WaitAWhile(Rank, Word),
}

/// The answer to a wait that was given up.
const GAVE_UP: u64 = u64::MAX;

/// An operation that has been made and may take effect at any time.
#[derive(Clone, Copy, Hash)]
struct Pending {
    is_put: bool,
    value: u64,
    target: Rank,
    word: Word,
}

/// How a process is in its critical section.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Presence {
    Outside,
    Reads,
    Writes,
}

struct World {
    /// The words of each process.
    memory: Vec<Vec<u64>>,
    pending: Vec<Vec<Pending>>,
    presence: Vec<Presence>,
    /// For each process: its round, and a hash of what its operations have returned in it.
    position: Vec<(u64, u64)>,
    /// Who has passed whom.
    bypass: Bypass,
    /// True if puts and adds take effect late.
    weak: bool,
    violation: Option<String>,
}

impl World {
    fn apply(&mut self, operation: Pending) {
        let word = &mut self.memory[operation.target][operation.word];
        *word = if operation.is_put { operation.value } else { word.wrapping_add(operation.value) };
    }

    fn returned(&mut self, p: Rank, value: u64) {
        let mut hasher = DefaultHasher::new();
        (self.position[p].1, value).hash(&mut hasher);
        self.position[p].1 = hasher.finish();
    }

    fn hash(&self) -> u128 {
        let half = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            (&self.memory, &self.pending, &self.presence, &self.position, &self.bypass).hash(&mut hasher);
            hasher.finish()
        };
        u128::from(half(1)) << 64 | u128::from(half(2))
    }
}

/// The operation for which a process waits, and its result.
struct Slot {
    asked: Option<Operation>,
    answer: Option<u64>,
    /// For a wait: whether the word satisfied it when the process was polled last.
    is_over: bool,
}

/// A process's view of the world.
#[derive(Clone)]
pub(crate) struct Process {
    rank: Rank,
    world: Rc<RefCell<World>>,
    slot: Rc<RefCell<Slot>>,
}

impl Process {
    async fn step(&self, operation: Operation) -> u64 {
        self.slot.borrow_mut().asked = Some(operation);
        poll_fn(|_| self.slot.borrow_mut().answer.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Says that the process begins a round, of which everything that follows depends on its number alone.
    pub(crate) fn begin_round(&self, round: u64) {
        self.world.borrow_mut().position[self.rank] = (round + 1, 0);
    }

    /// Says that nothing that follows in this round depends on what the operations before have returned.
    #[allow(dead_code, reason = "not every test that explores needs it")]
    pub(crate) fn forget(&self) {
        self.world.borrow_mut().position[self.rank].1 = 1;
    }

    /// Says that the process enters a critical section, is in it for a step, and leaves it.
    pub(crate) async fn visit(&self, presence: Presence) {
        {
            let mut world = self.world.borrow_mut();
            world.presence[self.rank] = presence;
            world.bypass.enters(self.rank, presence);
            let there = |wanted| world.presence.iter().filter(|presence| **presence == wanted).count();
            let (readers, writers) = (there(Presence::Reads), there(Presence::Writes));
            if writers > 1 || writers == 1 && readers > 0 {
                world.violation = Some(format!("{readers} readers and {writers} writers are inside"));
            }
        }
        // A step of the process inside, at which others may come.
        self.step(Operation::Flush(self.rank)).await;
        self.world.borrow_mut().presence[self.rank] = Presence::Outside;
    }
}

impl Rma for Process {
    fn rank(&self) -> Rank {
        self.rank
    }

    async fn put(&self, value: u64, target: Rank, word: Word) {
        self.step(Operation::Put(value, target, word)).await;
    }

    async fn get(&self, target: Rank, word: Word) -> u64 {
        self.step(Operation::Get(target, word)).await
    }

    async fn add(&self, operand: u64, target: Rank, word: Word) {
        self.step(Operation::Add(operand, target, word)).await;
    }

    async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
        self.step(Operation::FetchAdd(operand, target, word)).await
    }

    async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
        self.step(Operation::Swap(value, target, word)).await
    }

    async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
        self.step(Operation::CompareAndSwap(value, expected, target, word)).await
    }

    async fn flush(&self, target: Rank) {
        self.step(Operation::Flush(target)).await;
    }

    async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        self.wait(Operation::Wait(target, word), target, word, is_over).await
    }

    async fn wait_a_while(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let answer = self.wait(Operation::WaitAWhile(target, word), target, word, is_over).await;
        (answer != GAVE_UP).then_some(answer)
    }
}

impl Process {
    async fn wait(
        &self,
        operation: Operation,
        target: Rank,
        word: Word,
        is_over: impl Fn(u64) -> bool,
    ) -> u64 {
        self.slot.borrow_mut().asked = Some(operation);
        // The explorer polls this whenever the memory has changed.
        poll_fn(|_| {
            let mut slot = self.slot.borrow_mut();
            if let Some(value) = slot.answer.take() {
                return Poll::Ready(value);
            }
            slot.is_over = is_over(self.world.borrow().memory[target][word]);
            Poll::Pending
        })
        .await
    }
}

/// A step: a process's next operation, or the effect of one of its pending ones.
#[derive(Clone, Copy)]
enum Step {
    Operation(Rank),
    Effect(Rank, usize),
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The processes to explore.
pub(crate) struct Explorer<'a> {
    /// The processes, and the words of each.
    pub(crate) processes: usize,
    pub(crate) words: usize,
    /// Makes the future of a process.
    pub(crate) task: &'a dyn Fn(Process) -> Task,
    /// Says what is wrong with the memory at the end.
    pub(crate) at_end: &'a dyn Fn(&[Vec<u64>]) -> Option<String>,
    /// True if puts and adds take effect late.
    pub(crate) weak: bool,
    /// Where bypassing shows; by default it is not followed.
    pub(crate) places: Places,
}

/// The result of an exploration.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) states: usize,
    /// By how many a process was passed.
    pub(crate) most: Most,
    /// The first failure, if there is one.
    pub(crate) failure: Option<String>,
}

struct Run {
    world: Rc<RefCell<World>>,
    views: Vec<Process>,
    tasks: Vec<Option<Task>>,
}

impl Run {
    fn new(explorer: &Explorer<'_>, most: &Rc<Cell<Most>>) -> Run {
        let n = explorer.processes;
        let world = Rc::new(RefCell::new(World {
            memory: vec![vec![0; explorer.words]; n],
            pending: vec![Vec::new(); n],
            presence: vec![Presence::Outside; n],
            position: vec![(0, 0); n],
            bypass: Bypass::new(explorer.places.clone(), n, Rc::clone(most)),
            weak: explorer.weak,
            violation: None,
        }));
        let views: Vec<Process> = (0..n)
            .map(|rank| Process {
                rank,
                world: Rc::clone(&world),
                slot: Rc::new(RefCell::new(Slot { asked: None, answer: None, is_over: false })),
            })
            .collect();
        let tasks = views.iter().map(|view| Some((explorer.task)(view.clone()))).collect();
        let mut run = Run { world, views, tasks };
        (0..n).for_each(|p| run.poll(p));
        run
    }

    /// Runs a process up to its next operation.
    fn poll(&mut self, p: Rank) {
        let Some(task) = &mut self.tasks[p] else { return };
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            self.tasks[p] = None;
            self.world.borrow_mut().position[p] = (u64::MAX, 0);
        }
    }

    fn is_possible(&mut self, p: Rank) -> bool {
        let waits = matches!(self.views[p].slot.borrow().asked, Some(Operation::Wait(..)));
        if waits {
            self.poll(p);
        }
        let slot = self.views[p].slot.borrow();
        slot.asked.is_some() && (!waits || slot.is_over)
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for p in 0..self.views.len() {
            if self.is_possible(p) {
                steps.push(Step::Operation(p));
            }
        }
        let world = self.world.borrow();
        for (p, pending) in world.pending.iter().enumerate() {
            steps.extend((0..pending.len()).map(|index| Step::Effect(p, index)));
        }
        steps
    }

    fn make(&mut self, step: Step) {
        match step {
            Step::Effect(p, index) => {
                let mut world = self.world.borrow_mut();
                let operation = world.pending[p].remove(index);
                world.apply(operation);
            }
            Step::Operation(p) => {
                // Whether a wait is given up depends on the memory now.
                self.poll(p);
                let operation = self.views[p].slot.borrow_mut().asked.take().expect("a possible step");
                let answer = self.operate(p, operation);
                self.views[p].slot.borrow_mut().answer = Some(answer);
                self.poll(p);
            }
        }
    }

    fn operate(&self, p: Rank, operation: Operation) -> u64 {
        let world = &mut *self.world.borrow_mut();
        let answer = match operation {
            Operation::Put(value, target, word) | Operation::Add(value, target, word) => {
                let is_put = matches!(operation, Operation::Put(..));
                let pending = Pending { is_put, value, target, word };
                if world.weak {
                    world.pending[p].push(pending)
                } else {
                    world.apply(pending)
                }
                0
            }
            Operation::WaitAWhile(..) if !self.views[p].slot.borrow().is_over => GAVE_UP,
            Operation::Get(target, word)
            | Operation::Wait(target, word)
            | Operation::WaitAWhile(target, word) => world.memory[target][word],
            Operation::FetchAdd(operand, target, word) => {
                let value = &mut world.memory[target][word];
                std::mem::replace(value, value.wrapping_add(operand))
            }
            Operation::Swap(value, target, word) => std::mem::replace(&mut world.memory[target][word], value),
            Operation::CompareAndSwap(value, expected, target, word) => {
                let word = &mut world.memory[target][word];
                let before = *word;
                if before == expected {
                    *word = value;
                }
                before
            }
            Operation::Flush(target) => {
                let (now, later) =
                    std::mem::take(&mut world.pending[p]).into_iter().partition(|op| op.target == target);
                world.pending[p] = later;
                let now: Vec<Pending> = now;
                now.into_iter().for_each(|operation| world.apply(operation));
                0
            }
        };
        world.bypass.operated(p, &operation, answer);
        world.returned(p, answer);
        answer
    }
}

/// How long one exploration may take, if the caller of the tests says so.
fn limit() -> Option<Duration> {
    let seconds = std::env::var("HEDDLE_EXPLORE_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("HEDDLE_EXPLORE_SECONDS is a whole number")))
}

impl Explorer<'_> {
    /// Explores everything, or what can be had in `HEDDLE_EXPLORE_SECONDS`; then it says so. Bypassing is
    /// followed to the end, since tests demand that its bound is reached.
    pub(crate) fn explore(&self) -> Report {
        let since = Instant::now();
        let limit = limit().filter(|_| self.places == Places::default());
        let mut seen = HashSet::new();
        let most = Rc::new(Cell::new(Most::default()));
        let mut report = Report { states: 0, most: Most::default(), failure: None };
        let mut schedule: Vec<Step> = Vec::new();
        // For each step of the schedule: the other steps that are still to be made in its place.
        let mut left: Vec<Vec<Step>> = Vec::new();
        let mut run = Run::new(self, &most);
        loop {
            let mut next = Vec::new();
            if seen.insert(run.world.borrow().hash()) {
                report.states += 1;
                let looks = report.states.is_multiple_of(1024);
                if looks && limit.is_some_and(|limit| since.elapsed() > limit) {
                    println!("NOT ALL, the time was up:");
                    return report;
                }
                next = run.steps();
                let world = run.world.borrow();
                let is_over = run.tasks.iter().all(Option::is_none);
                report.failure = match &world.violation {
                    Some(violation) => Some(violation.clone()),
                    None if next.is_empty() && !is_over => Some(format!("stuck: {:?}", world.memory)),
                    None if next.is_empty() => (self.at_end)(&world.memory),
                    None => None,
                };
                if let Some(failure) = &mut report.failure {
                    let steps: Vec<String> = schedule
                        .iter()
                        .map(|step| match step {
                            Step::Operation(p) => format!("{p}"),
                            Step::Effect(p, index) => format!("{p}'{index}"),
                        })
                        .collect();
                    *failure = format!("{failure} after {}", steps.join(" "));
                    return report;
                }
            }
            // Forward if there is a new state behind, else back to the last step that
            // has others in its place.
            report.most = most.get();
            if let Some(step) = next.pop() {
                left.push(next);
                schedule.push(step);
                run.make(step);
                continue;
            }
            loop {
                let Some(others) = left.last_mut() else { return report };
                schedule.pop();
                if let Some(step) = others.pop() {
                    schedule.push(step);
                    break;
                }
                left.pop();
            }
            run = Run::new(self, &most);
            for step in &schedule {
                run.make(*step);
            }
        }
    }
}
