//! Threads that come, sleep on a word, wait for something outside, and go.

use super::stats::Counts;
use super::{CORES, NEVER, NONE, Polls, SLOTS, SharedLab, Slot, State};

impl SharedLab {
    /// A slot for a new thread of `process`, near `core`, which begins at `at`. `None` when all are used.
    pub fn begin_thread(&mut self, process: u32, pid: i32, core: u32, at: u64) -> Option<u32> {
        let slot = (0..SLOTS as u32).find(|slot| self.slots[*slot as usize].state == State::Free)?;
        self.used = self.used.max(slot + 1);
        self.slots[slot as usize] = Slot {
            state: State::Asleep,
            core,
            process,
            pid,
            since: at,
            word: 0,
            bits: 0,
            next: NONE,
            allowed: [u64::MAX; CORES / 64],
            told: 0,
            counts: Counts::default(),
            polls: Polls::default(),
        };
        let at = at + self.jitter(slot);
        self.make_ready(slot, at);
        Some(slot)
    }

    /// Up to 2 us, by the seed.
    pub(crate) fn jitter(&self, slot: u32) -> u64 {
        let mixed = (self.seed ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) % 2_000_000
    }

    /// The thread in `slot` ends at `at`.
    pub fn end_thread(&mut self, slot: u32, at: u64) {
        let counts = self.slots[slot as usize].counts;
        self.total.add(&counts);
        self.now = self.now.max(at);
        self.leave_core(slot, State::Free, at);
    }

    /// All threads of the process `pid` are gone, whatever they did.
    pub fn end_process(&mut self, pid: i32) {
        for slot in 0..self.used {
            let thread = self.slots[slot as usize];
            if thread.pid != pid {
                continue;
            }
            if thread.state != State::Free {
                self.total.add(&thread.counts);
            }
            match thread.state {
                State::Free => {}
                State::Running => self.leave_core(slot, State::Free, self.now),
                State::Queued => self.take_from_queue(slot),
                State::Asleep | State::Outside => {
                    self.outside -= u32::from(thread.state == State::Outside);
                    self.clocks[slot as usize] = NEVER;
                }
            }
            self.slots[slot as usize].state = State::Free;
        }
    }

    /// The thread in `slot` sleeps from `at` on, until one wakes the `bits` of `word`, or until `deadline`.
    pub fn sleep(&mut self, slot: u32, word: u64, bits: u32, at: u64, deadline: u64) {
        self.leave_core(slot, State::Asleep, at);
        self.clocks[slot as usize] = deadline;
        let thread = &mut self.slots[slot as usize];
        thread.word = word;
        thread.bits = bits;
        thread.since = at;
    }

    /// The thread in `slot` waits from `at` on for something outside, or until `deadline`.
    pub fn wait_outside(&mut self, slot: u32, at: u64, deadline: u64) {
        if self.outside == 0 {
            self.asked = self.asked.max(at);
        }
        self.leave_core(slot, State::Outside, at);
        self.clocks[slot as usize] = deadline;
        self.slots[slot as usize].word = 0;
        self.slots[slot as usize].since = at;
    }

    /// Wakes up to `most` of those that sleep on `bits` of `word`, who came first first: how many, and the clock of who wakes.
    pub fn wake(&mut self, word: u64, bits: u32, most: u32, mut at: u64) -> (u32, u64) {
        let mut woken = 0;
        while woken < most {
            let sleeps = |slot: &u32| {
                let thread = &self.slots[*slot as usize];
                thread.state == State::Asleep && thread.word == word && thread.bits & bits != 0
            };
            let first = (0..self.used).filter(sleeps).min_by_key(|slot| self.slots[*slot as usize].since);
            let Some(first) = first else { break };
            let since = self.slots[first as usize].since;
            self.slots[first as usize].word = 0;
            self.make_ready(first, (at + self.costs.awake).max(since));
            at += self.costs.wake;
            woken += 1;
        }
        (woken, at)
    }

    fn take_from_queue(&mut self, slot: u32) {
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
}
