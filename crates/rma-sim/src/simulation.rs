//! Runs processes on a simulated machine: discrete events in virtual time.

use crate::network::{SimulatedNetwork, Time};
use crate::process::SimulatedProcess;
use crate::world::{Event, World};
use heddle_rma_locks::Rank;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

/// No process can go on, but not all have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The processes that have not ended.
    pub processes: Vec<Rank>,
    /// When the last event happened.
    pub time: Time,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} processes wait for ever, the first of them {:?}",
            self.processes.len(),
            self.processes.first()
        )
    }
}

impl std::error::Error for Stuck {}

/// A machine and its processes.
pub struct Simulation<'a> {
    world: Rc<RefCell<World>>,
    tasks: Vec<Option<Pin<Box<dyn Future<Output = ()> + 'a>>>>,
}

impl std::fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("processes", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl<'a> Simulation<'a> {
    /// A machine whose process `p` has `memory[p]` words, all 0, and runs the future that `task`
    /// makes for it. The same arguments give the same run.
    ///
    /// # Panics
    /// If there are no processes.
    pub fn new<F: Future<Output = ()> + 'a>(
        network: SimulatedNetwork,
        words: impl Fn(Rank) -> usize,
        processes: usize,
        seed: u64,
        task: impl Fn(SimulatedProcess) -> F,
    ) -> Simulation<'a> {
        assert!(processes > 0, "a machine has a process");
        let memory = (0..processes).map(|p| vec![0; words(p)]).collect();
        let world = Rc::new(RefCell::new(World::new(network, memory, seed)));
        let tasks = (0..processes)
            .map(|rank| {
                world.borrow_mut().at(0, Event::Resume(rank));
                let task: Pin<Box<dyn Future<Output = ()> + 'a>> =
                    Box::pin(task(SimulatedProcess::new(rank, Rc::clone(&world))));
                Some(task)
            })
            .collect();
        Simulation { world, tasks }
    }

    /// Runs until all processes have ended; returns the time.
    ///
    /// # Errors
    /// If processes wait for ever.
    pub fn run(mut self) -> Result<Time, Stuck> {
        loop {
            let event = self.world.borrow_mut().next();
            match event {
                None => break,
                Some(Event::Arrival(index)) => self.world.borrow_mut().arrive(index),
                Some(Event::Effect(index)) => {
                    let waits = self.world.borrow_mut().take_effect(index);
                    if let Some(p) = waits {
                        self.look(p);
                    }
                }
                Some(Event::Completion(p, target)) => self.world.borrow_mut().complete(p, target),
                Some(Event::Resume(p)) => self.poll(p),
                Some(Event::Look(p, number)) => {
                    let waits = self.world.borrow().waits(p, number);
                    if waits {
                        self.look(p);
                    }
                }
                Some(Event::GiveUp(p, number)) => {
                    let mut world = self.world.borrow_mut();
                    if world.waits(p, number) {
                        world.give_up(p);
                    }
                }
            }
        }
        let left: Vec<Rank> = (0..self.tasks.len()).filter(|p| self.tasks[*p].is_some()).collect();
        let time = self.world.borrow().now;
        if left.is_empty() { Ok(time) } else { Err(Stuck { processes: left, time }) }
    }

    /// Runs a process up to its next operation.
    fn poll(&mut self, p: Rank) {
        let Some(task) = &mut self.tasks[p] else { return };
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            self.tasks[p] = None;
        }
    }

    /// Lets a process that waits look at its word.
    fn look(&mut self, p: Rank) {
        self.poll(p);
        self.world.borrow_mut().looked(p);
    }
}
