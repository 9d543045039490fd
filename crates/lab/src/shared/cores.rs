//! Cores, and the threads that wait for them: a queue for each core, time slices, and idle cores that take
//! from busy ones.

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

    /// Gives the core of the thread in `slot`, whose clock is `at`, to the next in its queue. False if there
    /// is none.
    pub fn give_way(&mut self, slot: u32, at: u64) -> bool {
        let core = self.slots[slot as usize].core;
        if self.cores[core as usize].first == NONE {
            return false;
        }
        self.enqueue(core, slot, at);
        self.cores[core as usize].running = NONE;
        self.fill(core, at);
        // A core that those who wait here may not use may be idle.
        let idle = self.choose_core(slot);
        if self.cores[idle as usize].running == NONE {
            self.take_from_queue(slot);
            let at = at.max(self.cores[idle as usize].free_since) + self.costs.switch;
            self.put_on(idle, slot, at);
        }
        true
    }

    /// Until when the thread in `slot` keeps its core: for ever if nobody waits for it.
    #[must_use]
    pub fn slice_end(&self, slot: u32) -> u64 {
        let core = &self.cores[self.slots[slot as usize].core as usize];
        if core.first == NONE { NEVER } else { core.slice_end }
    }

    /// The thread in `slot`, whose clock is `at`, may run on `allowed` only. True if it had to leave its
    /// core.
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
        let first = self.cores[core as usize].first;
        let next = if first == NONE { self.find_for(core) } else { Some(first) };
        let Some(next) = next else { return };
        self.take_from_queue(next);
        let at = at.max(self.slots[next as usize].since) + self.costs.switch;
        self.put_on(core, next, at);
    }

    /// Of those that wait for other cores and may run on `core`: the first in the longest queue.
    fn find_for(&self, core: u32) -> Option<u32> {
        let (mut found, mut longest) = (None, 0);
        for other in &self.cores[..self.layout.cores as usize] {
            if other.waiting > longest {
                let mut slot = other.first;
                while slot != NONE && !allows(&self.slots[slot as usize].allowed, core) {
                    slot = self.slots[slot as usize].next;
                }
                if slot != NONE {
                    (found, longest) = (Some(slot), other.waiting);
                }
            }
        }
        found
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

    /// The thread in `slot` waits for its core no more.
    pub(super) fn take_from_queue(&mut self, slot: u32) {
        let core = self.slots[slot as usize].core as usize;
        let after = self.slots[slot as usize].next;
        let mut before = NONE;
        let mut at = self.cores[core].first;
        while at != slot && at != NONE {
            before = at;
            at = self.slots[at as usize].next;
        }
        if before == NONE {
            self.cores[core].first = after;
        } else {
            self.slots[before as usize].next = after;
        }
        if self.cores[core].last == slot {
            self.cores[core].last = before;
        }
        self.cores[core].waiting -= 1;
    }

    /// The core that the thread had last if it is idle, else the nearest idle one, else the one with the
    /// shortest queue.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ByHand, COSTS, START, check_whole, cores, waiting_for};

    const MILLISECOND: u64 = 1_000_000_000;

    fn core_of(lab: &ByHand, slot: u32) -> u32 {
        lab.slots[slot as usize].core
    }

    #[test]
    fn threads_that_begin_fill_the_machine_from_their_core_on() {
        let mut lab = ByHand::new(2, 2, 2);
        let threads: Vec<u32> = (0..8).map(|_| lab.thread(2, START)).collect();
        let found: Vec<u32> = threads.iter().map(|slot| core_of(&lab, *slot)).collect();
        assert_eq!(found, [2, 3, 0, 1, 4, 5, 6, 7]);
        assert!(threads.iter().all(|slot| lab.clocks[*slot as usize] == START), "each runs at once");
        check_whole(&lab);
    }

    #[test]
    fn more_threads_than_cores_stand_in_the_shortest_queues() {
        let mut lab = ByHand::new(1, 1, 2);
        let [a, b, c, d, e] = [0; 5].map(|_| lab.thread(0, START));
        assert_eq!([lab.cores[0].running, lab.cores[1].running], [a, b]);
        assert_eq!(waiting_for(&lab, 0), [c, e]);
        assert_eq!(waiting_for(&lab, 1), [d]);
        check_whole(&lab);
    }

    #[test]
    fn a_thread_that_is_alone_keeps_its_core() {
        let mut lab = ByHand::new(1, 1, 1);
        let thread = lab.thread(0, START);
        assert_eq!(lab.slice_end(thread), NEVER);
        assert!(!lab.give_way(thread, START + 10 * COSTS.slice));
        assert_eq!(lab.cores[0].running, thread);
    }

    #[test]
    fn those_that_wait_come_in_turn_each_for_a_slice() {
        let mut lab = ByHand::new(1, 1, 1);
        let [a, b, c] = [0; 3].map(|_| lab.thread(0, START));
        let mut clock = START;
        for (from, to) in [(a, b), (b, c), (c, a), (a, b)] {
            clock += MILLISECOND / 10;
            assert!(lab.give_way(from, clock));
            check_whole(&lab);
            clock += COSTS.switch;
            assert_eq!(lab.cores[0].running, to);
            assert_eq!(lab.clocks[to as usize], clock);
            assert_eq!(lab.slice_end(to), clock + COSTS.slice);
        }
    }

    #[test]
    fn who_is_woken_has_the_core_after_a_millisecond() {
        let mut lab = ByHand::new(1, 1, 1);
        let woken = lab.thread(0, START);
        lab.sleep(woken, 1, 1, START, NEVER);
        let runs = lab.thread(0, START);
        assert_eq!(lab.slice_end(runs), NEVER);
        let at = START + MILLISECOND / 2;
        lab.make_ready(woken, at);
        assert_eq!(lab.slice_end(runs), at + MILLISECOND, "not after its slice of three");
        check_whole(&lab);
        assert!(lab.give_way(runs, at + MILLISECOND));
        assert_eq!(lab.clocks[woken as usize], at + MILLISECOND + COSTS.switch);
    }

    #[test]
    fn who_is_woken_does_not_prolong_a_slice() {
        let mut lab = ByHand::new(1, 1, 1);
        let [runs, woken, _] = [0; 3].map(|_| lab.thread(0, START));
        let end = lab.slice_end(runs);
        lab.leave_core(runs, State::Asleep, START);
        lab.make_ready(runs, START + COSTS.slice - 1);
        assert_eq!(lab.cores[0].running, woken);
        assert_eq!(lab.slice_end(woken), START + COSTS.switch + COSTS.slice);
        assert_eq!(end, START + MILLISECOND);
    }

    #[test]
    fn an_idle_core_takes_the_first_of_the_longest_queue() {
        let mut lab = ByHand::new(1, 1, 3);
        let threads = [0; 8].map(|_| lab.thread(0, START));
        let [_, b, _, d, e, _, _, _] = threads;
        assert_eq!(waiting_for(&lab, 1).len(), 2);
        lab.end_thread(b, START + 100);
        lab.end_thread(e, START + 200);
        let last = lab.cores[1].running;
        assert_eq!(waiting_for(&lab, 0), [d, threads[6]]);
        lab.end_thread(last, START + 300);
        assert_eq!(lab.cores[1].running, d);
        assert_eq!(lab.clocks[d as usize], START + 300 + COSTS.switch);
        assert_eq!(core_of(&lab, d), 1);
        check_whole(&lab);
    }

    #[test]
    fn a_thread_that_becomes_ready_later_begins_later() {
        let mut lab = ByHand::new(1, 1, 1);
        let a = lab.thread(0, START);
        let b = lab.thread(0, START + 700);
        lab.end_thread(a, START + 100);
        assert_eq!(lab.clocks[b as usize], START + 700 + COSTS.switch);
        lab.end_thread(b, START + 2_000);
        let c = lab.thread(0, START + 1_000);
        assert_eq!(lab.clocks[c as usize], START + 2_000, "the core was busy until then");
    }

    #[test]
    fn a_thread_goes_where_it_may_run() {
        let mut lab = ByHand::new(1, 1, 3);
        let a = lab.thread(0, START);
        assert!(!lab.restrict(a, cores([0, 2]), START), "it is there");
        assert!(lab.restrict(a, cores([1, 2]), START));
        assert_eq!((core_of(&lab, a), lab.clocks[a as usize]), (1, START + COSTS.switch));
        check_whole(&lab);
        let b = lab.thread(2, START);
        assert!(lab.restrict(b, cores([1]), START));
        assert_eq!(waiting_for(&lab, 1), [b], "it waits although cores are idle");
        let c = lab.thread(1, START);
        assert_eq!(core_of(&lab, c), 2);
        lab.end_thread(c, START);
        assert_eq!(lab.cores[2].running, NONE);
        check_whole(&lab);
        lab.end_thread(a, START + 500);
        assert_eq!(lab.cores[1].running, b);
        lab.sleep(b, 1, 1, START + 600, NEVER);
        lab.make_ready(b, START + 700);
        assert_eq!(core_of(&lab, b), 1);
    }

    #[test]
    fn who_leaves_for_another_core_makes_room_for_the_next() {
        let mut lab = ByHand::new(1, 1, 2);
        let [a, b, c] = [0; 3].map(|_| lab.thread(0, START));
        assert!(lab.restrict(a, cores([1]), START + 100));
        assert_eq!([lab.cores[0].running, lab.cores[1].running], [c, b]);
        assert_eq!(waiting_for(&lab, 1), [a]);
        check_whole(&lab);
    }

    #[test]
    fn an_idle_core_passes_over_those_that_may_not_run_there() {
        let mut lab = ByHand::new(1, 1, 2);
        let [a, b] = [0; 2].map(|_| lab.thread(0, START));
        let pinned = lab.thread(0, START);
        let [other, free] = [0; 2].map(|_| lab.thread(0, START));
        lab.slots[pinned as usize].allowed = cores([0]);
        assert_eq!(waiting_for(&lab, 0), [pinned, free]);
        lab.end_thread(b, START + 100);
        assert_eq!(lab.cores[1].running, other);
        lab.end_thread(other, START + 200);
        assert_eq!(lab.cores[1].running, free, "the first may not, the second may");
        assert_eq!(waiting_for(&lab, 0), [pinned]);
        check_whole(&lab);
        lab.end_thread(free, START + 300);
        assert_eq!(lab.cores[1].running, NONE);
        lab.end_thread(a, START + 400);
        assert_eq!(lab.cores[0].running, pinned);
        check_whole(&lab);
    }
    #[test]
    fn who_gives_way_to_one_that_may_not_leave_takes_an_idle_core() {
        let mut lab = ByHand::new(1, 1, 2);
        let [a, b] = [0; 2].map(|_| lab.thread(0, START));
        assert!(lab.restrict(b, cores([0]), START));
        assert!(lab.give_way(a, START + 1_000));
        assert_eq!([lab.cores[0].running, lab.cores[1].running], [b, a]);
        assert_eq!(lab.clocks[a as usize], START + 1_000 + COSTS.switch);
        check_whole(&lab);
    }
}
