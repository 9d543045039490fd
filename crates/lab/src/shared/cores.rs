//! Cores, and the threads that wait for them: a queue for each core, time slices, and idle cores that take from busy ones.

use super::{NEVER, NONE, SharedLab, State};

/// A thread that is woken takes its core's place from one that has run for so long: 1 ms.
const WAKE_UP_PREEMPTION: u64 = 1_000_000_000;

impl SharedLab {
    /// The thread in `slot` can run from `at` on: it gets an idle core, or stands in the queue of one.
    pub fn make_ready(&mut self, slot: u32, at: u64) {
        let thread = &self.slots[slot as usize];
        self.outside -= u32::from(thread.state == State::Outside);
        let core = self.choose_core(slot);
        if self.cores[core as usize].running == NONE {
            let at = at.max(self.cores[core as usize].free_since);
            self.put_on(core, slot, at);
        } else {
            self.enqueue(core, slot, at);
            let core = &mut self.cores[core as usize];
            core.slice_end = core.slice_end.min(at + WAKE_UP_PREEMPTION);
        }
    }

    /// The thread in `slot` has left its core at `at`, to do `state`. The next in the queue gets the core.
    pub fn leave_core(&mut self, slot: u32, state: State, at: u64) {
        self.slots[slot as usize].state = state;
        self.clocks[slot as usize] = NEVER;
        self.outside += u32::from(state == State::Outside);
        let core = self.slots[slot as usize].core;
        self.cores[core as usize].running = NONE;
        self.cores[core as usize].free_since = at;
        self.fill(core, at);
    }

    /// Gives the core of the thread in `slot`, whose clock is `at`, to the next in its queue. False if there is none.
    pub fn give_way(&mut self, slot: u32, at: u64) -> bool {
        let core = self.slots[slot as usize].core;
        if self.cores[core as usize].first == NONE {
            return false;
        }
        self.enqueue(core, slot, at);
        self.cores[core as usize].running = NONE;
        self.fill(core, at);
        true
    }

    /// Until when the thread in `slot` keeps its core: for ever if nobody waits for it.
    #[must_use]
    pub fn slice_end(&self, slot: u32) -> u64 {
        let core = &self.cores[self.slots[slot as usize].core as usize];
        if core.first == NONE { NEVER } else { core.slice_end }
    }

    /// The thread in `slot`, whose clock is `at`, may run on `allowed` only. True if it had to leave its core.
    pub fn restrict(&mut self, slot: u32, allowed: [u64; super::CORES / 64], at: u64) -> bool {
        self.slots[slot as usize].allowed = allowed;
        let core = self.slots[slot as usize].core;
        if allows(&allowed, core) {
            return false;
        }
        self.leave_core(slot, State::Asleep, at);
        self.make_ready(slot, at + self.costs.switch);
        true
    }

    fn put_on(&mut self, core: u32, slot: u32, at: u64) {
        let slice = self.costs.slice;
        let thread = &mut self.slots[slot as usize];
        thread.state = State::Running;
        thread.core = core;
        self.clocks[slot as usize] = at;
        self.cores[core as usize].running = slot;
        self.cores[core as usize].slice_end = at + slice;
    }

    /// Gives the free `core` to the next in its queue, or to one that waits for another core.
    fn fill(&mut self, core: u32, at: u64) {
        let from = if self.cores[core as usize].first == NONE { self.longest_queue() } else { Some(core) };
        let Some(from) = from else { return };
        let first = self.cores[from as usize].first;
        if from != core && !allows(&self.slots[first as usize].allowed, core) {
            return;
        }
        self.dequeue(from);
        let at = at.max(self.slots[first as usize].since) + self.costs.switch;
        self.put_on(core, first, at);
    }

    fn longest_queue(&self) -> Option<u32> {
        let cores = 0..self.layout.cores;
        cores
            .rev()
            .filter(|core| self.cores[*core as usize].waiting > 0)
            .max_by_key(|core| self.cores[*core as usize].waiting)
    }

    fn enqueue(&mut self, core: u32, slot: u32, at: u64) {
        let thread = &mut self.slots[slot as usize];
        thread.state = State::Queued;
        thread.core = core;
        thread.since = at;
        thread.next = NONE;
        self.clocks[slot as usize] = NEVER;
        let queue = &mut self.cores[core as usize];
        let last = queue.last;
        queue.last = slot;
        queue.waiting += 1;
        if last == NONE {
            queue.first = slot;
        } else {
            self.slots[last as usize].next = slot;
        }
    }

    fn dequeue(&mut self, core: u32) {
        let queue = &mut self.cores[core as usize];
        let first = queue.first;
        queue.waiting -= 1;
        queue.first = self.slots[first as usize].next;
        if queue.first == NONE {
            queue.last = NONE;
        }
    }

    /// The core that the thread had last if it is idle, else the nearest idle one, else the one with the shortest queue.
    fn choose_core(&self, slot: u32) -> u32 {
        let thread = &self.slots[slot as usize];
        let last = thread.core;
        let place = |core: u32| {
            let is_busy = self.cores[core as usize].running != NONE;
            let distance = match core {
                _ if core == last => 0,
                _ if self.layout.cluster_of(core) == self.layout.cluster_of(last) => 1,
                _ if self.layout.socket_of(core) == self.layout.socket_of(last) => 2,
                _ => 3,
            };
            // Among equals, those behind the last one: threads that begin fill the machine in a row.
            let behind = (core + self.layout.cores - last) % self.layout.cores;
            (is_busy, self.cores[core as usize].waiting, distance, behind)
        };
        (0..self.layout.cores)
            .filter(|core| allows(&thread.allowed, *core))
            .min_by_key(|core| place(*core))
            .unwrap_or(last)
    }
}

fn allows(allowed: &[u64; super::CORES / 64], core: u32) -> bool {
    allowed[core as usize / 64] >> (core % 64) & 1 != 0
}
