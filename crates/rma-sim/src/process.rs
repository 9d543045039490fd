//! A process of a simulated machine: the operations of [`Rma`], and time.

use crate::network::Time;
use crate::world::{Action, Event, Operation, World};
use heddle_rma_locks::{Rank, Rma, Word};
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// A process.
#[derive(Debug, Clone)]
pub struct SimulatedProcess {
    rank: Rank,
    world: Rc<RefCell<World>>,
}

impl SimulatedProcess {
    pub(crate) fn new(rank: Rank, world: Rc<RefCell<World>>) -> SimulatedProcess {
        SimulatedProcess { rank, world }
    }

    /// The virtual time.
    pub fn time(&self) -> Time {
        self.world.borrow().now
    }

    /// Computes for `time`.
    pub async fn compute(&self, time: Time) {
        {
            let world = &mut *self.world.borrow_mut();
            world.at(world.now + time, Event::Resume(self.rank));
        }
        self.resumed().await;
    }

    /// Waits for the event that lets the process go on: the only one at which it is polled.
    async fn resumed(&self) {
        let mut is_first = true;
        poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    fn issue(&self, action: Action, target: Rank, word: Word) {
        let operation = Operation { action, origin: self.rank, target, word };
        self.world.borrow_mut().issue(operation);
    }

    /// Issues an operation that takes effect later, and goes on after its issue.
    async fn post(&self, action: Action, target: Rank, word: Word) {
        self.issue(action, target, word);
        self.resumed().await;
    }

    /// Makes an operation that returns a value.
    async fn fetch(&self, action: Action, target: Rank, word: Word) -> u64 {
        self.issue(action, target, word);
        poll_fn(|_| match self.world.borrow_mut().slots[self.rank].answer.take() {
            Some(value) => Poll::Ready(value),
            None => Poll::Pending,
        })
        .await
    }

    async fn wait(&self, action: Action, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        self.issue(action, target, word);
        // The machine polls this when the process looks at the word.
        poll_fn(|_| {
            let world = &mut *self.world.borrow_mut();
            let value = world.memory[target][word];
            let slot = &mut world.slots[self.rank];
            if let Some(value) = slot.answer.take() {
                return Poll::Ready(value);
            }
            slot.is_over = is_over(value);
            Poll::Pending
        })
        .await
    }
}

impl Rma for SimulatedProcess {
    fn rank(&self) -> Rank {
        self.rank
    }

    async fn put(&self, value: u64, target: Rank, word: Word) {
        self.post(Action::Put(value), target, word).await;
    }

    async fn get(&self, target: Rank, word: Word) -> u64 {
        self.fetch(Action::Get, target, word).await
    }

    async fn add(&self, operand: u64, target: Rank, word: Word) {
        self.post(Action::Add(operand), target, word).await;
    }

    async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
        self.fetch(Action::FetchAdd(operand), target, word).await
    }

    async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
        self.fetch(Action::Swap(value), target, word).await
    }

    async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
        self.fetch(Action::CompareAndSwap { value, expected }, target, word).await
    }

    async fn flush(&self, target: Rank) {
        let has_to_wait = self.world.borrow_mut().begin_flush(self.rank, target);
        if has_to_wait {
            self.resumed().await;
        }
    }

    async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        self.wait(Action::Wait { may_give_up: false }, target, word, is_over).await
    }

    async fn wait_a_while(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let value = self.wait(Action::Wait { may_give_up: true }, target, word, is_over).await;
        let gave_up = std::mem::take(&mut self.world.borrow_mut().slots[self.rank].gave_up);
        (!gave_up).then_some(value)
    }
}
