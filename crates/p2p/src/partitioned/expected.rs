//! The offers that the receives of a communicator expect.
//!
//! Operations match in the order of their initialisations, those of freed requests included: a receive
//! that is freed before its offer has come keeps its turn, and the offer that comes for it is dropped. So
//! each source and tag has a queue of turns. Only the first turn has a receive for its offer, and only
//! while the request of some turn exists: turns of freed requests alone are a number, which goes with the
//! communicator.
//!
//! ```text
//!   turns     freed (2) │ receive │ freed (1) │ receive
//!             └ its receive is posted
//! ```
//!
//! A thread that wants an offer serves its queue, one thread at a time, without a lock while it calls the
//! rest of the crate.

use super::offer::Offer;
use crate::complete::{cancel, wait};
use crate::receive::irecv;
use crate::state::is_over;
use heddle_comm::error::Result;
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::domain::Domain;
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The source and the tag of an operation.
pub(super) type From = (i32, i32);

/// The queues of a communicator.
#[derive(Debug, Default)]
struct Expected {
    queues: Mutex<HashMap<From, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    turns: VecDeque<Turn>,
    /// How many of the turns are receives.
    receives: usize,
    /// The receive for the offer of the first turn.
    posted: Option<Posted>,
    /// A thread serves the queue.
    is_served: bool,
}

#[derive(Debug)]
enum Turn {
    Receive(Arc<Awaited>),
    /// That many receives, one after the other, whose requests are freed.
    Freed(u64),
}

/// The offer of a receive, once it has come, until it is taken.
type Awaited = Mutex<Option<Result<Offer>>>;

#[derive(Debug)]
struct Posted {
    request: usize,
    offer: Box<Offer>,
}

/// A receive's place in the order.
#[derive(Debug)]
pub(super) struct Place {
    domain: &'static Domain,
    pub(super) comm: KeptComm,
    from: From,
    expected: Arc<Expected>,
    awaited: Arc<Awaited>,
}

/// The next thing to do for a queue.
enum Step {
    Post,
    Look(Posted),
    Cancel(Posted),
}

impl Queue {
    /// Returns `None` if there is nothing to do.
    fn next_step(&mut self) -> Option<Step> {
        match (self.posted.take(), self.receives > 0) {
            (Some(posted), true) => Some(Step::Look(posted)),
            (Some(posted), false) => Some(Step::Cancel(posted)),
            (None, true) => Some(Step::Post),
            (None, false) => None,
        }
    }

    /// Gives an offer to the first turn. Returns true if that is a receive.
    fn give(&mut self, offer: Result<Offer>) -> bool {
        match self.turns.front_mut() {
            Some(Turn::Receive(awaited)) => {
                *lock(awaited) = Some(offer);
                self.receives -= 1;
                self.turns.pop_front();
                true
            }
            Some(Turn::Freed(number)) => {
                *number -= 1;
                if *number == 0 {
                    self.turns.pop_front();
                }
                let_go(offer);
                false
            }
            None => unreachable!("a receive was posted for the first turn"),
        }
    }

    fn find(&self, awaited: &Arc<Awaited>) -> Option<usize> {
        let is_it = |turn: &Turn| matches!(turn, Turn::Receive(other) if Arc::ptr_eq(other, awaited));
        self.turns.iter().position(is_it)
    }

    /// Notes that the request of a receive is freed. Freed turns beside each other are one.
    fn free(&mut self, index: usize) {
        self.receives -= 1;
        let mut number = 1;
        if let Some(Turn::Freed(after)) = self.turns.get(index + 1) {
            number += after;
            self.turns.remove(index + 1);
        }
        match index.checked_sub(1).and_then(|before| self.turns.get_mut(before)) {
            Some(Turn::Freed(before)) => {
                *before += number;
                self.turns.remove(index);
            }
            _ => self.turns[index] = Turn::Freed(number),
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Some(posted) = self.posted.take() {
            // The process ends MPI with this receive pending.
            std::mem::forget(posted.offer);
        }
    }
}

impl Expected {
    fn of(comm: &CommRef) -> Arc<Expected> {
        let queues = comm.offers.get_or_init(|| Arc::new(Expected::default()));
        let queues: Arc<dyn Any + Send + Sync> = queues.clone();
        queues.downcast().unwrap_or_else(|_| unreachable!("nothing else is kept there"))
    }

    /// Does what can be done for a queue, unless another thread does.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    fn serve(&self, domain: &Domain, comm: &CommRef, from: From) -> Result<()> {
        let mut queues = lock(&self.queues);
        let Some(queue) = queues.get_mut(&from).filter(|queue| !queue.is_served) else { return Ok(()) };
        queue.is_served = true;
        let mut result = Ok(());
        // A queue that is served stays.
        while let Some(step) = queues.entry(from).or_default().next_step() {
            drop(queues);
            let done = step.take(comm, from);
            queues = lock(&self.queues);
            let queue = queues.entry(from).or_default();
            match done {
                Ok(Taken::Offer(offer)) => {
                    if queue.give(offer) {
                        // A thread may sleep until its receive is over.
                        domain.fabric().wake(domain.rank());
                    }
                }
                Ok(Taken::Posted(posted)) => queue.posted = Some(posted),
                Ok(Taken::Cancelled) => {}
                Ok(Taken::Pending(posted)) => {
                    queue.posted = Some(posted);
                    if queue.receives > 0 {
                        break;
                    }
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let queue = queues.entry(from).or_default();
        queue.is_served = false;
        if queue.turns.is_empty() {
            queues.remove(&from);
        }
        result
    }
}

/// The outcome of a step.
enum Taken {
    Posted(Posted),
    Pending(Posted),
    Offer(Result<Offer>),
    Cancelled,
}

impl Step {
    fn take(self, comm: &CommRef, from: From) -> Result<Taken> {
        match self {
            Step::Post => {
                let mut offer = Box::<Offer>::default();
                // SAFETY: the offer is boxed, read after the receive, and leaked if that never ends.
                let place = unsafe { offer.buffer() };
                let request = irecv(comm, Plane::Partitioned, place, from.0, from.1)?;
                Ok(Taken::Posted(Posted { request, offer }))
            }
            Step::Look(posted) if !is_over(posted.request) => Ok(Taken::Pending(posted)),
            Step::Look(mut posted) => Ok(match wait(&mut posted.request) {
                Ok(outcome) => Taken::Offer(outcome.error.map_or(Ok(*posted.offer), Err)),
                Err(error) => Taken::Offer(Err(error)),
            }),
            Step::Cancel(mut posted) => {
                // A receive that has matched meanwhile completes as usual.
                Ok(match cancel(posted.request).and_then(|()| wait(&mut posted.request)) {
                    Ok(outcome) if outcome.cancelled => Taken::Cancelled,
                    Ok(outcome) => Taken::Offer(outcome.error.map_or(Ok(*posted.offer), Err)),
                    Err(error) => Taken::Offer(Err(error)),
                })
            }
        }
    }
}

impl Place {
    /// The place of a new receive, behind all others with its source and tag.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn new(domain: &'static Domain, comm: &CommRef, from: From) -> Result<Place> {
        let (expected, awaited) = (Expected::of(comm), Arc::<Awaited>::default());
        {
            let mut queues = lock(&expected.queues);
            let queue = queues.entry(from).or_default();
            queue.turns.push_back(Turn::Receive(awaited.clone()));
            queue.receives += 1;
        }
        let place = Place { domain, comm: comm.keep(), from, expected, awaited };
        match place.expected.serve(domain, &place.comm, from) {
            Ok(()) => Ok(place),
            Err(error) => {
                place.withdraw();
                Err(error)
            }
        }
    }

    /// The offer, once it has come: to one caller.
    ///
    /// # Errors
    /// The offer's, or `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn take_offer(&self) -> Result<Option<Offer>> {
        self.expected.serve(self.domain, &self.comm, self.from)?;
        lock(&self.awaited).take().transpose()
    }

    /// Leaves the order: this receive was not made.
    fn withdraw(&self) {
        let mut queues = lock(&self.expected.queues);
        let Some(queue) = queues.get_mut(&self.from) else { return };
        if let Some(index) = queue.find(&self.awaited) {
            queue.turns.remove(index);
            queue.receives -= 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        {
            let mut queues = lock(&self.expected.queues);
            if let Some(offer) = lock(&self.awaited).take() {
                let_go(offer);
            }
            let Some(queue) = queues.get_mut(&self.from) else { return };
            let Some(index) = queue.find(&self.awaited) else { return };
            queue.free(index);
        }
        // There is nobody to tell of an error.
        let _ = self.expected.serve(self.domain, &self.comm, self.from);
    }
}

fn let_go(offer: Result<Offer>) {
    if let Ok(offer) = offer {
        offer.let_go();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(queue: &Queue) -> Vec<u64> {
        let number = |turn: &Turn| match turn {
            Turn::Receive(_) => 0,
            Turn::Freed(number) => *number,
        };
        queue.turns.iter().map(number).collect()
    }

    fn of_receives(number: usize) -> (Queue, Vec<Arc<Awaited>>) {
        let receives: Vec<_> = std::iter::repeat_with(Arc::<Awaited>::default).take(number).collect();
        let turns = receives.iter().cloned().map(Turn::Receive).collect();
        (Queue { turns, receives: number, posted: None, is_served: false }, receives)
    }

    #[test]
    fn freed_turns_beside_each_other_are_one() {
        for order in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0]] {
            let (mut queue, receives) = of_receives(4);
            for which in order {
                let index = queue.find(&receives[which]);
                queue.free(index.expect("it was not freed yet"));
            }
            assert_eq!((numbers(&queue), queue.receives), (vec![3, 0], 1));
            assert_eq!((queue.find(&receives[0]), queue.find(&receives[3])), (None, Some(1)));
        }
    }

    #[test]
    fn offers_for_freed_turns_are_dropped() {
        let (mut queue, receives) = of_receives(3);
        queue.free(0);
        queue.free(1);
        assert_eq!(numbers(&queue), [2, 0]);
        assert_eq!([(); 3].map(|()| queue.give(Ok(Offer::default()))), [false, false, true]);
        assert!(queue.turns.is_empty() && lock(&receives[2]).is_some() && lock(&receives[1]).is_none());
    }

    #[test]
    fn a_receive_is_posted_only_while_somebody_wants_its_offer() {
        let (mut queue, _receives) = of_receives(2);
        queue.free(0);
        assert!(matches!(queue.next_step(), Some(Step::Post)));
        queue.posted = Some(Posted { request: 0, offer: Box::default() });
        assert!(matches!(queue.next_step(), Some(Step::Look(_))));
        queue.posted = Some(Posted { request: 0, offer: Box::default() });
        queue.free(1);
        assert!(matches!(queue.next_step(), Some(Step::Cancel(_))));
        assert!(queue.next_step().is_none());
    }
}
