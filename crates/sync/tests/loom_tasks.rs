//! Tasks under the model checker: none is lost, one thread at a time has each, and after an event and a
//! round that had all tasks each of them has seen the event.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_sync::queues::tasks::{Advanced, Tasks};
use loom::sync::Arc;
use loom::thread;
use model::{Given, explore, with_fault};

/// Threads that each make an event visible, on which all tasks wait, and see to it that the tasks go on.
#[derive(Default)]
struct World {
    events: AtomicU32,
    tasks: Tasks<Task, Given>,
    over: AtomicU32,
}

/// A task that is over once it has seen a number of events.
struct Task {
    wanted: u32,
    seen: u32,
}

impl World {
    fn advance(&self, mut task: Task) -> Advanced<Task> {
        let seen = self.events.load(Ordering::Relaxed);
        if seen == task.wanted {
            self.over.fetch_add(1, Ordering::Relaxed);
            return Advanced::Over;
        }
        let came_further = seen != task.seen;
        task.seen = seen;
        if came_further { Advanced::CameFurther(task) } else { Advanced::Waits(task) }
    }

    /// Makes an event visible, and rounds until one had all tasks.
    fn cause(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
        while !self.tasks.is_empty() && self.tasks.round(|task| self.advance(task)).others {
            thread::yield_now();
        }
    }
}

fn tasks_see_the_events(threads: u32, tasks: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let world = Arc::new(World::default());
        (0..tasks).for_each(|_| world.tasks.add(Task { wanted: threads, seen: 0 }));
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let world = Arc::clone(&world);
                thread::spawn(move || world.cause())
            })
            .collect();
        world.cause();
        others.into_iter().for_each(|thread| thread.join().expect("it ends"));
        assert_eq!(world.over.load(Ordering::Relaxed), tasks, "a task has missed its event");
        assert!(world.tasks.is_empty());
    }
}

#[test]
fn each_task_sees_the_events() {
    explore(Some(4), tasks_see_the_events(2, 1));
    explore(Some(3), tasks_see_the_events(2, 2));
}

with_fault!(a_task_with_another_thread_that_is_overlooked_is_found, tasks_see_the_events(2, 1));
