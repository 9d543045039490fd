//! Tasks that many threads advance, each of them one thread at a time.
//!
//! A thread that has a moment to spare makes a [round](Tasks::round): it takes one task after the other out,
//! advances it outside of the lock, and puts it back unless it is over. So threads advance different tasks
//! at the same time, none waits for another's task, and a task may take locks of its own.
//!
//! **Before a thread sleeps.** A thread that has made an event visible, on which a task waits, and then makes
//! a round in which no task was [with another thread](TaskRound::others), knows that the task was advanced
//! after the event: it has had every task in its own hands. If a task was with another thread, it makes
//! another round later, and does not sleep until then.

use crate::{Lock, Mutex, RawLock};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering::Relaxed;
use heddle_platform::platform::AtomicInteger;
use std::collections::VecDeque;
use std::fmt;

/// The state of a task after a thread has advanced it.
#[derive(Debug)]
pub enum Advanced<T> {
    /// It waits for something.
    Waits(T),
    /// It waits for something, after it has come further.
    CameFurther(T),
    /// It is over.
    Over,
}

/// What a round has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRound {
    /// A task has come further.
    pub happened: bool,
    /// A task was with another thread when the round ended.
    pub others: bool,
}

impl TaskRound {
    /// A round without tasks.
    pub const QUIET: TaskRound = TaskRound { happened: false, others: false };
}

/// The tasks; see the [module](self).
pub struct Tasks<T, L: RawLock = Mutex> {
    /// The number of all tasks, those with a thread included.
    all: <L::Platform as Platform>::AtomicUsize,
    waiting: Lock<L, VecDeque<T>>,
}

impl<T, L: RawLock> fmt::Debug for Tasks<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

impl<T, L: RawLock + Default> Default for Tasks<T, L> {
    fn default() -> Self {
        Tasks { all: AtomicInteger::new(0), waiting: Lock::default() }
    }
}

impl<T, L: RawLock> Tasks<T, L> {
    /// Returns true if there is no task. A thread that has added one, or has learnt of one, sees it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.all.load(Relaxed) == 0
    }

    /// Adds a task.
    pub fn add(&self, task: T) {
        let mut waiting = self.waiting.acquire();
        self.all.fetch_add(1, Relaxed);
        waiting.push_back(task);
    }

    /// Passes each task that is with no other thread to `advance`, once.
    pub fn round(&self, mut advance: impl FnMut(T) -> Advanced<T>) -> TaskRound {
        let mut happened = false;
        let mut waiting = self.waiting.acquire();
        for _ in 0..waiting.len() {
            let Some(task) = waiting.pop_front() else { break };
            drop(waiting);
            let advanced = advance(task);
            waiting = self.waiting.acquire();
            match advanced {
                Advanced::Waits(task) => waiting.push_back(task),
                Advanced::CameFurther(task) => {
                    happened = true;
                    waiting.push_back(task);
                }
                Advanced::Over => {
                    happened = true;
                    self.all.fetch_sub(1, Relaxed);
                }
            }
        }
        TaskRound { happened, others: waiting.len() != self.all.load(Relaxed) }
    }
}
