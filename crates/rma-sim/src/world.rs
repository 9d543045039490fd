//! The state of a simulated machine: memory, operations on the way, and processes that wait.

use crate::network::{SimulatedNetwork, Time};
use crate::random::Random;
use heddle_rma_locks::{Rank, Word};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What an operation does to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Put(u64),
    Add(u64),
    Get,
    FetchAdd(u64),
    Swap(u64),
    CompareAndSwap {
        value: u64,
        expected: u64,
    },
    /// The first get of a wait, which may give up after the machine's patience.
    Wait {
        may_give_up: bool,
    },
}

/// An operation on the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) action: Action,
    pub(crate) origin: Rank,
    pub(crate) target: Rank,
    pub(crate) word: Word,
}

/// What happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// An operation reaches its target's interface or memory.
    Arrival(usize),
    /// An operation takes effect.
    Effect(usize),
    /// A put or an add of this process is known to be complete at that target.
    Completion(Rank, Rank),
    /// A process goes on.
    Resume(Rank),
    /// A process that waits looks at its word again, if this is still its wait with that number.
    Look(Rank, u64),
    /// A process stops waiting, if this is still its wait with that number.
    GiveUp(Rank, u64),
}

/// A wait that has not seen its word satisfied.
#[derive(Debug)]
struct Waiting {
    target: Rank,
    word: Word,
    /// Its place among the waiters for that word.
    index: usize,
    /// When it looked last.
    looked: Time,
    /// True if an event says when it looks again.
    is_scheduled: bool,
}

/// What a process and the machine tell each other.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// The result of the process's operation.
    pub(crate) answer: Option<u64>,
    /// For a wait: whether the word satisfied it when the process was polled last.
    pub(crate) is_over: bool,
    /// For a wait: it was given up.
    pub(crate) gave_up: bool,
    waiting: Option<Waiting>,
    /// The number of the current wait.
    wait: u64,
    /// The targets of puts and adds that are not known to be complete, one entry for each.
    incomplete: Vec<Rank>,
    /// The target for whose completion the process waits.
    flushing: Option<Rank>,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) network: SimulatedNetwork,
    pub(crate) now: Time,
    pub(crate) memory: Vec<Vec<u64>>,
    pub(crate) slots: Vec<Slot>,
    random: Random,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    /// The number of events so far: those of one time happen in the order in which they were made.
    made: u64,
    operations: Vec<Operation>,
    unused: Vec<usize>,
    /// When each node's interface, and each process's memory, is free again.
    interfaces: Vec<Time>,
    memories: Vec<Time>,
    /// The number of processes of other nodes that poll a word of each node.
    pollers: Vec<usize>,
    /// The processes that wait for a change of a word.
    waiters: HashMap<(Rank, Word), Vec<Rank>>,
}

impl World {
    pub(crate) fn new(network: SimulatedNetwork, memory: Vec<Vec<u64>>, seed: u64) -> World {
        let processes = memory.len();
        let nodes = network.node(processes - 1) + 1;
        World {
            network,
            now: 0,
            memory,
            slots: (0..processes).map(|_| Slot::default()).collect(),
            random: Random::new(seed, 0),
            events: BinaryHeap::new(),
            made: 0,
            operations: Vec::new(),
            unused: Vec::new(),
            interfaces: vec![0; nodes],
            memories: vec![0; processes],
            pollers: vec![0; nodes],
            waiters: HashMap::new(),
        }
    }

    /// Notes that an event happens at `time`.
    pub(crate) fn at(&mut self, time: Time, event: Event) {
        self.made += 1;
        self.events.push(Reverse((time, self.made, event)));
    }

    /// Goes on to the next event and takes it out.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let Reverse((time, _, event)) = self.events.pop()?;
        self.now = time;
        Some(event)
    }

    /// Issues an operation now.
    pub(crate) fn issue(&mut self, operation: Operation) {
        let Operation { action, origin, target, .. } = operation;
        let index = self.unused.pop().unwrap_or(self.operations.len());
        if index == self.operations.len() {
            self.operations.push(operation);
        } else {
            self.operations[index] = operation;
        }
        let distance = *self.network.distance(origin, target);
        if matches!(action, Action::Put(_) | Action::Add(_)) {
            self.slots[origin].incomplete.push(target);
            self.at(self.now + distance.issue, Event::Resume(origin));
        }
        let event = if origin == target { Event::Effect(index) } else { Event::Arrival(index) };
        self.at(self.now + distance.one_way, event);
    }

    /// An operation has reached its target: it takes its turn.
    pub(crate) fn arrive(&mut self, index: usize) {
        let Operation { action, origin, target, .. } = self.operations[index];
        let node = self.network.node(target);
        let done = if self.network.node(origin) == node {
            let done = self.now.max(self.memories[target]) + self.network.line;
            self.memories[target] = done;
            done
        } else {
            let service = match action {
                Action::Put(_) | Action::Get | Action::Wait { .. } => self.network.interface,
                _ => self.network.interface_atomic,
            };
            let behind_polls = self.now + self.network.wait_behind_polls(self.pollers[node]);
            let done = behind_polls.max(self.interfaces[node]) + service;
            self.interfaces[node] = done;
            done
        };
        self.at(done, Event::Effect(index));
    }

    /// An operation takes effect. Returns the process of a wait, which has to say whether it is over.
    pub(crate) fn take_effect(&mut self, index: usize) -> Option<Rank> {
        let Operation { action, origin, target, word } = self.operations[index];
        self.unused.push(index);
        let before = self.memory[target][word];
        let after = match action {
            Action::Put(value) | Action::Swap(value) => value,
            Action::Add(operand) | Action::FetchAdd(operand) => before.wrapping_add(operand),
            Action::CompareAndSwap { value, expected } if before == expected => value,
            Action::CompareAndSwap { .. } | Action::Get | Action::Wait { .. } => before,
        };
        if after != before {
            self.memory[target][word] = after;
            self.changed(target, word);
        }
        let distance = *self.network.distance(origin, target);
        let total = match action {
            Action::Put(_) | Action::Add(_) => {
                let back = distance.put.saturating_sub(distance.one_way);
                self.at(self.now + back, Event::Completion(origin, target));
                return None;
            }
            Action::Get => distance.get,
            Action::Wait { may_give_up } => {
                let slot = &mut self.slots[origin];
                slot.wait += 1;
                let number = slot.wait;
                let waiters = self.waiters.entry((target, word)).or_default();
                let index = waiters.len();
                waiters.push(origin);
                slot.waiting = Some(Waiting { target, word, index, looked: self.now, is_scheduled: true });
                self.count_poller(origin, target, true);
                if may_give_up {
                    self.at(self.now + self.network.patience, Event::GiveUp(origin, number));
                }
                return Some(origin);
            }
            _ => distance.atomic,
        };
        self.slots[origin].answer = Some(before);
        self.at(self.now + total.saturating_sub(distance.one_way), Event::Resume(origin));
        None
    }

    /// A process begins or ends to poll a word of that target. Polls within a node load no interface.
    fn count_poller(&mut self, origin: Rank, target: Rank, begins: bool) {
        let node = self.network.node(target);
        if self.network.node(origin) != node {
            self.pollers[node] = if begins { self.pollers[node] + 1 } else { self.pollers[node] - 1 };
        }
    }

    /// A word has another value: those that wait for it will look.
    fn changed(&mut self, target: Rank, word: Word) {
        let Some(waiters) = self.waiters.remove(&(target, word)) else { return };
        let node = self.network.node(target);
        let mut near = 0;
        for &p in &waiters {
            let (number, looked) = match &self.slots[p] {
                Slot { waiting: Some(waiting), wait, .. } if !waiting.is_scheduled => (*wait, waiting.looked),
                _ => continue,
            };
            let time = if self.network.node(p) == node {
                // The line goes from one to the next.
                near += 1;
                self.now + near * self.network.line
            } else {
                let period = self.network.time_between_polls(self.pollers[node]);
                // Up to a tenth more or less, so that polls do not stay in step by chance.
                let period = period * 9 / 10 + self.random.below(period / 5 + 1);
                looked + (self.now - looked) / period * period + period
            };
            if let Some(waiting) = &mut self.slots[p].waiting {
                waiting.is_scheduled = true;
            }
            self.at(time, Event::Look(p, number));
        }
        self.waiters.insert((target, word), waiters);
    }

    /// True if the process still is in its wait with that number.
    pub(crate) fn waits(&self, p: Rank, number: u64) -> bool {
        self.slots[p].waiting.is_some() && self.slots[p].wait == number
    }

    /// A process that waits has looked at its word, and has said whether that ends its wait.
    pub(crate) fn looked(&mut self, p: Rank) {
        let now = self.now;
        let is_over = self.slots[p].is_over;
        let Some(waiting) = &mut self.slots[p].waiting else { return };
        waiting.looked = now;
        waiting.is_scheduled = false;
        if is_over {
            let (target, word) = (waiting.target, waiting.word);
            self.slots[p].answer = Some(self.memory[target][word]);
            let distance = self.network.distance(p, target);
            let back = if p == target { 0 } else { distance.get.saturating_sub(distance.one_way) };
            self.end_wait(p);
            self.at(now + back, Event::Resume(p));
        }
    }

    /// A process stops waiting.
    pub(crate) fn give_up(&mut self, p: Rank) {
        self.end_wait(p);
        let slot = &mut self.slots[p];
        (slot.answer, slot.gave_up) = (Some(0), true);
        self.at(self.now, Event::Resume(p));
    }

    fn end_wait(&mut self, p: Rank) {
        let Some(waiting) = self.slots[p].waiting.take() else { return };
        let place = (waiting.target, waiting.word);
        if let Some(waiters) = self.waiters.get_mut(&place) {
            waiters.swap_remove(waiting.index);
            // The last one has its place now.
            if let Some(moved) = waiters.get(waiting.index)
                && let Some(moved) = &mut self.slots[*moved].waiting
            {
                moved.index = waiting.index;
            }
        }
        self.count_poller(p, waiting.target, false);
    }

    /// Returns true if the process has to wait for the completion of its operations at that target.
    pub(crate) fn begin_flush(&mut self, p: Rank, target: Rank) -> bool {
        let slot = &mut self.slots[p];
        let has_to_wait = slot.incomplete.contains(&target);
        slot.flushing = has_to_wait.then_some(target);
        has_to_wait
    }

    /// A put or an add of process `p` at `target` is complete.
    pub(crate) fn complete(&mut self, p: Rank, target: Rank) {
        let now = self.now;
        let slot = &mut self.slots[p];
        if let Some(index) = slot.incomplete.iter().position(|rank| *rank == target) {
            slot.incomplete.swap_remove(index);
        }
        if slot.flushing == Some(target) && !slot.incomplete.contains(&target) {
            slot.flushing = None;
            self.at(now, Event::Resume(p));
        }
    }
}
